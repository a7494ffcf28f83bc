#include "audit/small_runs.h"

#include <algorithm>

#include "audit/small_instances.h"
#include "sql/server/innodb_fragment.h"

namespace isoscope::audit {

namespace {

constexpr std::size_t kRunsOfCast = 300;
constexpr std::size_t kMaxOfRun = 2000;
constexpr std::uint64_t kRunSeed = 1;

using Callees = std::vector<sql::FunctionId>;

// All sets of so many functions, with repetition.
void add_callees(std::size_t size, IdRange<sql::FunctionId> functions, Callees& begun,
                 std::vector<Callees>& groups) {
  if (begun.size() == size) {
    groups.push_back(begun);
    return;
  }
  for (const sql::FunctionId f : functions) {
    if (!begun.empty() && f < begun.back()) continue;
    begun.push_back(f);
    add_callees(size, functions, begun, groups);
    begun.pop_back();
  }
}

// A schedule that ends as no serial order does; nothing if there is none, or none was found.
std::optional<std::vector<sql::server::Choice>> weak_schedule(const SmallRun& run,
                                                              const Budget& budget) {
  std::size_t histories = 0;
  sql::server::ScheduleOptions options{.budget = budget, .wants_outcomes = true};
  options.on_history = [&](const sql::server::State&, const std::vector<sql::server::Choice>&,
                           bool) { return ++histories < kMaxOfRun; };
  const auto all = sql::server::explore(*run.machine, {}, options);
  if (all.fault) return std::nullopt;
  // The whole of the calls first: one that the server has ended explains less.
  for (const bool with_aborts : {false, true}) {
    for (const sql::server::RunOutcome& outcome : all.outcomes) {
      if (outcome.is_serial == false && outcome.end.has_server_abort() == with_aborts)
        return outcome.schedule;
    }
  }
  return std::nullopt;
}

class SmallSearch {
 public:
  SmallSearch(const Problem& problem, Budget& budget)
      : problem_(problem), budget_(budget), instances_(problem.app, {}, kRunSeed) {}

  std::optional<SmallAnomaly> run(const Callees& group, std::size_t& num_runs) {
    for (std::size_t i = 0; i < kRunsOfCast && !budget_.expired_now(); ++i) {
      std::vector<ScenarioCall> calls;
      for (const sql::FunctionId f : group) calls.push_back(instances_.call(f));
      ++num_runs;
      if (auto found = look_at(group, instances_.rows(), std::move(calls)))
        return made_small(*std::move(found));
    }
    return std::nullopt;
  }

 private:
  std::optional<SmallAnomaly> look_at(const Callees& group, std::vector<sql::InitialRow> rows,
                                      std::vector<ScenarioCall> calls) {
    auto run = make_small_run(problem_, std::move(rows), std::move(calls), budget_);
    if (!run) return std::nullopt;
    auto schedule = weak_schedule(*run, budget_);
    if (!schedule) return std::nullopt;
    return SmallAnomaly{group, *std::move(run), *std::move(schedule)};
  }

  // Without calls and rows that it does not need.
  SmallAnomaly made_small(SmallAnomaly found) {
    for (std::size_t i = found.run.calls.size(); i-- > 0 && found.run.calls.size() > 2;) {
      Callees fewer = found.functions;
      std::vector<ScenarioCall> calls = found.run.calls;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto smaller = look_at(fewer, found.run.rows, std::move(calls)))
        found = *std::move(smaller);
    }
    for (std::size_t i = found.run.rows.size(); i-- > 0 && !budget_.expired_now();) {
      std::vector<sql::InitialRow> fewer = found.run.rows;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto smaller = look_at(found.functions, std::move(fewer), found.run.calls))
        found = *std::move(smaller);
    }
    return found;
  }

  const Problem& problem_;
  Budget& budget_;
  SmallInstances instances_;
};

}  // namespace

std::vector<Refused> remove_refused_by_innodb(sql::Application& app) {
  std::vector<Refused> refused;
  std::vector<sql::Function> kept;
  std::vector<sql::Note> notes;
  for (sql::Function& function : app.functions) {
    sql::Application alone = app;
    alone.functions = {function};
    const std::vector<sql::Value> arguments(function.num_parameters);
    const sql::SessionCall call{.function = {0}, .arguments = arguments};
    alone.sessions = {sql::SqlSession{.name = "T1", .calls = {call}}};
    const auto program = sql::SqlProgram::create(std::move(alone));
    auto checked = program ? sql::server::check_innodb(**program)
                           : Result<std::vector<sql::Note>>(program.error());
    if (!checked) {
      refused.push_back({function.name, checked.error()});
      continue;
    }
    std::ranges::move(*checked, std::back_inserter(notes));
    kept.push_back(std::move(function));
  }
  app.functions = std::move(kept);
  std::ranges::move(notes, std::back_inserter(app.notes));
  return refused;
}

SmallRunsReport search_small_runs(const Problem& problem, const SmallRunsOptions& options,
                                  Budget& budget) {
  SmallRunsReport report{.anomalies = {}, .max_calls = options.max_calls};
  SmallSearch search(problem, budget);
  for (std::size_t size = 2; size <= options.max_calls; ++size) {
    std::vector<Callees> groups;
    Callees begun;
    add_callees(size, problem.app.function_ids(), begun, groups);
    for (const Callees& group : groups) {
      if (budget.expired_now()) break;
      // Calls that go wrong already do so beside others.
      const bool is_known = std::ranges::any_of(report.anomalies, [&](const SmallAnomaly& found) {
        return std::ranges::includes(group, found.functions);
      });
      if (is_known) continue;
      auto found = search.run(group, report.runs);
      if (!found) continue;
      report.anomalies.push_back(*std::move(found));
      if (!options.all) return report;
    }
  }
  report.is_complete = !budget.expired_now();
  return report;
}

}  // namespace isoscope::audit
