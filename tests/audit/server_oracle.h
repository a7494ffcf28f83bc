#pragma once
// What audit says of a server's levels, held against what explore executes at them: every schedule
// of a few calls. A run whose committed calls no serial order explains contradicts a proof, and a
// bounded search that found nothing up to as many calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "audit/server_levels.h"
#include "audit_of.h"
#include "random_runs.h"
#include "sql/server/schedules.h"

namespace isoscope::audit {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline sql::server::PgLevel pg_level(const Level& level) {
  if (&level == &pg_read_committed()) return sql::server::PgLevel::ReadCommitted;
  return &level == &pg_serializable() ? sql::server::PgLevel::Serializable
                                      : sql::server::PgLevel::RepeatableRead;
}

// Levels of the server for each function: the same for all, or a mixture.
inline Levels random_pg_levels(std::size_t num_functions, Rng& rng) {
  const Level* all[] = {&pg_read_committed(), &pg_repeatable_read(), &pg_serializable()};
  Levels levels{all[rng.below(3)], {}};
  if (!rng.chance(0.35)) return levels;
  for (std::size_t f = 0; f < num_functions; ++f) levels.own.push_back(all[rng.below(3)]);
  return levels;
}

inline std::string names_of(const Levels& levels, std::size_t num_functions) {
  std::string text;
  for (std::uint32_t f = 0; f < num_functions; ++f)
    text += " " + levels.of(sql::FunctionId{f}).name;
  return text;
}

// The calls of a scenario as sessions of a program, each of its own.
class ServerProgram {
 public:
  ServerProgram(const Problem& problem, std::vector<sql::InitialRow> rows,
                const std::vector<ScenarioCall>& calls, const Budget& budget, bool late_wakeups) {
    sql::Application app = problem.app;
    app.initial_rows = std::move(rows);
    app.sessions.clear();
    std::vector<sql::server::PgLevel> levels;
    for (const ScenarioCall& call : calls) {
      app.sessions.push_back({"s" + std::to_string(app.sessions.size()),
                              {{.function = call.function, .arguments = call.arguments}}});
      levels.push_back(pg_level(problem.levels.of(call.function)));
    }
    auto made = sql::SqlProgram::create(std::move(app));
    if (!made) ADD_FAILURE() << render(made.error());
    program_ = *std::move(made);
    machine_ =
        std::make_unique<sql::server::Machine>(*program_, std::move(levels), budget, late_wakeups);
  }

  const sql::server::Machine& machine() const { return *machine_; }

  // The sessions one after the other.
  sql::server::State run(const std::vector<ProgramSession>& order) const {
    sql::server::State state = machine_->start();
    for (const ProgramSession session : order) {
      while (!machine_->is_done(state, session)) machine_->take(state, {.session = session});
    }
    return state;
  }

  std::vector<sql::InitialRow> rows(const sql::server::State& state) const {
    std::vector<sql::InitialRow> rows;
    for (std::uint32_t t = 0; t < program_->app().tables.size(); ++t) {
      for (auto& values : machine_->committed_rows(state, sql::TableId{t}))
        rows.push_back({sql::TableId{t}, sql::TableRow(std::move(values)), {}});
    }
    return rows;
  }

 private:
  std::unique_ptr<sql::SqlProgram> program_;
  std::unique_ptr<sql::server::Machine> machine_;
};

// How a run ends, of the calls that commit.
struct CommittedEnd {
  std::vector<ProgramSession> sessions;  // each has one call
  std::string text;
};

inline CommittedEnd committed_end(const sql::server::RunEnd& end) {
  CommittedEnd result;
  for (const CallId c : end.calls.ids()) {
    if (!end.calls[c].is_committed) continue;
    result.sessions.push_back({c.index});
    result.text += fmt::format("call {}:", c.index);
    for (const sql::Value& value : end.calls[c].locals) result.text += " " + sql::print(value);
    result.text += "\n";
  }
  for (const auto& table : end.rows) {
    for (const auto& row : table) {
      for (const sql::Value& value : row) result.text += " " + sql::print(value);
      result.text += ";";
    }
    result.text += "\n";
  }
  return result;
}

// Every schedule of the calls of one scenario.
class AllSchedules {
 public:
  AllSchedules(const Problem& problem, const Scenario& scenario, bool late_wakeups)
      : budget_(Budget::seconds(2)) {
    const std::vector<ScenarioCall> first(
        scenario.calls.begin(),
        scenario.calls.begin() + static_cast<std::ptrdiff_t>(scenario.prefix));
    const std::vector<ScenarioCall> calls(
        scenario.calls.begin() + static_cast<std::ptrdiff_t>(scenario.prefix),
        scenario.calls.end());
    std::vector<sql::InitialRow> rows = scenario.rows;
    if (!first.empty()) {
      const ServerProgram preparing(problem, rows, first, budget_, false);
      std::vector<ProgramSession> order;
      for (const ProgramSession session : preparing.machine().outline().sessions.ids())
        order.push_back(session);
      rows = preparing.rows(preparing.run(order));
    }
    program_.emplace(problem, std::move(rows), calls, budget_, late_wakeups);
  }

  // A run that no serial order of its committed calls explains, for people; empty if there is none.
  std::string unserializable() {
    std::string found;
    sql::server::ScheduleOptions options{.budget = budget_};
    options.on_history = [&](const sql::server::State& state,
                             const std::vector<sql::server::Choice>& schedule, bool) {
      const CommittedEnd end = committed_end(end_of(program_->machine(), state));
      if (serial_ends(end.sessions).contains(end.text)) return true;
      found = "turns";
      for (const sql::server::Choice& choice : schedule)
        found += fmt::format(" {}{}", choice.session.index, choice.is_victim ? "!" : "");
      found += "\n" + end.text;
      return false;
    };
    const sql::server::Schedules all = explore(program_->machine(), {}, options);
    num_histories += all.histories;
    return found;
  }
  std::uint64_t num_histories = 0;

 private:
  const std::set<std::string>& serial_ends(const std::vector<ProgramSession>& sessions) {
    const auto [at, is_new] = ends_.try_emplace(sessions);
    if (!is_new) return at->second;
    std::vector<ProgramSession> order = sessions;
    do {
      const CommittedEnd end = committed_end(end_of(program_->machine(), program_->run(order)));
      if (end.sessions.size() == sessions.size()) at->second.insert(end.text);
    } while (std::ranges::next_permutation(order).found);
    return at->second;
  }

  Budget budget_;
  std::optional<ServerProgram> program_;
  std::map<std::vector<ProgramSession>, std::set<std::string>> ends_;
};

struct ServerOracleOptions {
  std::size_t bound = 3;
  int num_runs = 25;
  double seconds = 5;
};

// Audits, and tries to break a good verdict.
inline void hold_against_schedules(const Problem& problem, std::uint64_t seed,
                                   const ServerOracleOptions& options, Tally& tally) {
  if (!check_problem(problem)) return;
  Rng rng(seed);
  Budget budget = Budget::seconds(options.seconds);
  const AuditReport report =
      audit(problem, {.max_length = options.bound, .prove = rng.chance(0.8)}, budget);
  switch (report.outcome) {
    case AuditOutcome::Serializable: ++tally.proved; break;
    case AuditOutcome::None: ++tally.none; break;
    case AuditOutcome::Anomaly: ++tally.anomalies; return;
    case AuditOutcome::Unknown: ++tally.unknown; return;
  }
  RandomRuns runs(problem, seed);
  for (int i = 0; i < options.num_runs; ++i) {
    const Scenario scenario = runs.next(2, options.bound);
    AllSchedules all(problem, scenario, rng.chance(0.3));
    const std::string broken = all.unserializable();
    ASSERT_EQ(broken, "") << name_of(report.outcome) << ", but with prefix " << scenario.prefix
                          << describe_run(problem.app, scenario);
  }
}

}  // namespace isoscope::audit
