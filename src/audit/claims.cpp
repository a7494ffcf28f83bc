#include "audit/claims.h"

#include <algorithm>

#include "audit/server_levels.h"
#include "audit/small_instances.h"

namespace isoscope::audit {

namespace {

using sql::server::Choice;
using sql::server::Machine;
using sql::server::PgLevel;
using sql::server::ServerKind;
using sql::server::State;

// Instances of each claim, over all groups of functions; and schedules of one instance.
constexpr std::size_t kMaxInstances = 2000;
constexpr std::size_t kMaxOfGroup = 400;
constexpr std::size_t kMaxHistories = 2000;
constexpr std::uint64_t kSeed = 1;

using Group = std::vector<sql::FunctionId>;

class Trial {
 public:
  Trial(const Problem& problem, const sql::RowAssertion& claim, Budget& budget)
      : problem_(problem), claim_{claim}, budget_(budget), instances_(problem.app, claim_, kSeed) {}

  ClaimResult run(const std::vector<Group>& groups) {
    const std::size_t num_instances = std::min(kMaxInstances, groups.size() * kMaxOfGroup);
    for (std::size_t i = 0; i < num_instances; ++i) {
      if (budget_.expired_now()) break;
      const Group& group = groups[i % groups.size()];
      std::vector<ScenarioCall> calls;
      for (const sql::FunctionId f : group) calls.push_back(instances_.call(f));
      ClaimResult result = look_at(instances_.rows(), std::move(calls));
      num_runs_ += result.runs;
      if (result.outcome != ClaimOutcome::Kept) return made_small(std::move(result));
    }
    return {};
  }
  std::size_t num_runs() const { return num_runs_; }

 private:
  const sql::RowAssertion& claim() const { return claim_.front(); }
  bool holds(const SmallRun& run, const State& state) const {
    return ask(*run.machine, state, claim()).holds;
  }

  // The sessions one after the other; the steps until the claim is broken, or nothing if it is not.
  std::optional<std::vector<Choice>> broken_serially(const SmallRun& run,
                                                     const std::vector<ProgramSession>& order) {
    State state = run.machine->start();
    std::vector<Choice> schedule;
    for (const ProgramSession session : order) {
      while (!run.machine->is_done(state, session)) {
        if (budget_.expired()) return std::nullopt;
        schedule.push_back({.session = session});
        run.machine->take(state, schedule.back());
      }
      const bool is_asked = claim().is_invariant || session == order.back();
      if (is_asked && !holds(run, state)) return schedule;
    }
    return std::nullopt;
  }

  ClaimResult look_at(std::vector<sql::InitialRow> rows, std::vector<ScenarioCall> calls) {
    ClaimResult result;
    auto run = make_small_run(problem_, std::move(rows), std::move(calls), budget_);
    // What does not hold at the start is not the fault of the calls.
    if (!run || !holds(*run, run->machine->start())) return result;
    std::vector<ProgramSession> order;
    for (const ProgramSession session : run->machine->outline().sessions.ids())
      order.push_back(session);
    do {
      if (auto schedule = broken_serially(*run, order)) {
        if (run->calls.size() == 1) {
          result.outcome = ClaimOutcome::BrokenByCall;
          result.runs = 1;
          result.schedule = *std::move(schedule);
          take(result, *std::move(run));
        }
        return result;
      }
    } while (std::ranges::next_permutation(order).found);
    if (run->calls.size() == 1) {
      result.runs = 1;
      return result;
    }
    std::size_t histories = 0;
    sql::server::ScheduleOptions options{
        .budget = budget_, .stop_at_violation = true, .max_violations = 1};
    options.on_history = [&](const State&, const std::vector<Choice>&, bool) {
      return ++histories < kMaxHistories;
    };
    auto all = explore(*run->machine, claim_, options);
    if (all.fault || all.violations.empty()) {
      const bool is_whole = !all.fault && histories < kMaxHistories && !budget_.expired();
      result.runs = is_whole ? 1 : 0;
      return result;
    }
    result.runs = 1;
    result.outcome = ClaimOutcome::Broken;
    result.schedule = std::move(all.violations.front().schedule);
    take(result, *std::move(run));
    return result;
  }

  // Runs the schedule once more, for the rows that break the claim.
  void take(ClaimResult& result, SmallRun run) {
    State state = run.machine->start();
    for (const Choice& choice : result.schedule) run.machine->take(state, choice);
    result.broken = {0, ask(*run.machine, state, claim()), result.schedule.size()};
    result.run = std::move(run);
  }

  // Without rows that it does not need.
  ClaimResult made_small(ClaimResult result) {
    if (!result.run) return result;
    for (std::size_t i = result.run->rows.size(); i-- > 0;) {
      if (budget_.expired_now()) break;
      std::vector<sql::InitialRow> fewer = result.run->rows;
      const sql::InitialRow removed = fewer[i];
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_referred_to(fewer, removed)) continue;
      ClaimResult smaller = look_at(std::move(fewer), result.run->calls);
      if (smaller.outcome == result.outcome) result = std::move(smaller);
    }
    return result;
  }

  bool is_referred_to(const std::vector<sql::InitialRow>& rows,
                      const sql::InitialRow& target) const {
    return std::ranges::any_of(rows, [&](const sql::InitialRow& row) {
      const auto& keys = problem_.app.table(row.table).foreign_keys;
      return std::ranges::any_of(keys, [&](const sql::ForeignKey& key) {
        if (key.target != target.table) return false;
        for (std::size_t c = 0; c < key.columns.size(); ++c) {
          if (row.values[key.columns[c]] != target.values[key.target_columns[c]]) return false;
        }
        return true;
      });
    });
  }

  const Problem& problem_;
  std::vector<sql::RowAssertion> claim_;
  Budget& budget_;
  SmallInstances instances_;
  std::size_t num_runs_ = 0;
};

std::vector<Group> single_calls(const Problem& problem) {
  std::vector<Group> groups;
  for (const sql::FunctionId f : problem.app.function_ids()) groups.push_back({f});
  return groups;
}

// Those of known anomalies, then all pairs; none where every execution is serializable.
std::vector<Group> calls_together(const Problem& problem, const AuditReport& known) {
  std::vector<Group> groups;
  if (known.outcome == AuditOutcome::Serializable) return groups;
  const auto add = [&](Group group) {
    std::ranges::sort(group);
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(std::move(group));
  };
  constexpr std::size_t kMostCalls = 3;
  for (const FoundAnomaly& anomaly : known.search.anomalies) {
    if (anomaly.functions.size() <= kMostCalls) add(anomaly.functions);
  }
  for (const sql::FunctionId f : problem.app.function_ids()) {
    for (const sql::FunctionId g : problem.app.function_ids()) {
      if (f <= g) add({f, g});
    }
  }
  return groups;
}

PgLevel level_on_server(const Level& level) {
  if (&level == &pg_read_committed() || &level == &mysql_read_committed())
    return PgLevel::ReadCommitted;
  return &level == &pg_serializable() ? PgLevel::Serializable : PgLevel::RepeatableRead;
}

}  // namespace

std::optional<SmallRun> make_small_run(const Problem& problem, std::vector<sql::InitialRow> rows,
                                       std::vector<ScenarioCall> calls, const Budget& budget) {
  SmallRun run{std::move(rows), std::move(calls), {}, {}};
  sql::Application app = problem.app;
  app.initial_rows = run.rows;
  app.sessions.clear();
  std::vector<PgLevel> levels;
  for (const ScenarioCall& call : run.calls) {
    app.sessions.push_back({"T" + std::to_string(app.sessions.size() + 1),
                            {{.function = call.function, .arguments = call.arguments}}});
    levels.push_back(level_on_server(problem.levels.of(call.function)));
  }
  auto program = sql::SqlProgram::create(std::move(app));
  if (!program) return std::nullopt;
  run.program = *std::move(program);
  run.machine = std::make_unique<Machine>(
      *run.program, std::move(levels), budget, false,
      is_on_mariadb(problem.levels) ? ServerKind::MariaDb : ServerKind::Postgres);
  return run;
}

bool ClaimsReport::has_broken() const {
  return std::ranges::any_of(
      claims, [](const ClaimResult& claim) { return claim.outcome == ClaimOutcome::Broken; });
}

ClaimsReport try_claims(const Problem& problem, const std::vector<sql::RowAssertion>& claims,
                        const AuditReport& known, Budget& budget) {
  ClaimsReport report;
  const std::vector<Group> alone = single_calls(problem);
  const std::vector<Group> together = calls_together(problem, known);
  for (const sql::RowAssertion& claim : claims) {
    Trial trial(problem, claim, budget);
    ClaimResult result = trial.run(alone);
    if (result.outcome == ClaimOutcome::Kept) result = trial.run(together);
    result.runs = trial.num_runs();
    if (result.outcome == ClaimOutcome::Kept && result.runs == 0)
      result.outcome = ClaimOutcome::Untried;
    report.runs += result.runs;
    report.claims.push_back(std::move(result));
  }
  report.is_complete = !budget.expired_now();
  return report;
}

}  // namespace isoscope::audit
