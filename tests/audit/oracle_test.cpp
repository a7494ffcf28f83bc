// The audit against plain execution: random applications, and thousands of random runs of them.
//
// A run that no serial order explains, at a level, contradicts a proof for that level, and a
// bounded search that found nothing up to as many instances.
#include <gtest/gtest.h>

#include <numeric>

#include "audit_of.h"
#include "check/check.h"
#include "random_app.h"
#include "sql/random_sql.h"

namespace isoscope::audit {
namespace {

class RandomRuns {
 public:
  RandomRuns(const Problem& problem, std::uint64_t seed) : problem_(problem), rng_(seed) {}

  // One to `max_prefix` calls that prepare, two to `max_calls` that run as they like.
  Scenario next(std::size_t max_prefix, std::size_t max_calls) {
    Scenario scenario;
    scenario.prefix = rng_.below(max_prefix + 1);
    const std::size_t n = scenario.prefix + 2 + rng_.below(max_calls - 1);
    add_rows(scenario);
    for (std::size_t i = 0; i < n; ++i) {
      const auto f = static_cast<std::uint32_t>(rng_.below(problem_.app.functions.size()));
      ScenarioCall call{f, {}};
      for (std::uint32_t p = 0; p < problem_.app.functions[f].num_parameters; ++p)
        call.arguments.push_back(small());
      scenario.calls.push_back(std::move(call));
    }
    scenario.ar.resize(n);
    std::iota(scenario.ar.begin(), scenario.ar.end(), std::size_t{0});
    scenario.sees.assign(n, std::vector<bool>(n, false));
    // Half of the runs are snapshots of a prefix of ar, as the stronger levels need them.
    const bool snapshots = rng_.chance(0.5);
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t first_unseen = rng_.below(j + 1);
      for (std::size_t i = 0; i < j; ++i) {
        const bool is_prefix = i < scenario.prefix || j < scenario.prefix;
        scenario.sees[j][i] = is_prefix || (snapshots ? i < first_unseen : rng_.chance(0.4));
      }
    }
    return scenario;
  }

 private:
  sql::Value small() { return sql::Value(static_cast<std::int64_t>(rng_.below(3))); }

  void add_rows(Scenario& scenario) {
    const sql::Changes changes(problem_.app);
    for (std::uint32_t t = 0; t < problem_.app.tables.size(); ++t) {
      const sql::Table& table = problem_.app.tables[t];
      if (changes.has_inserts(sql::TableId{t})) continue;
      std::set<sql::RowKey> keys;
      for (int i = 0; i < 4; ++i) {
        sql::InitialRow row{sql::TableId{t}, {}, {}};
        for (std::size_t c = 0; c < table.columns.size(); ++c) row.values.push_back(small());
        sql::RowKey key;
        for (const std::uint32_t column : table.primary_key) key.push_back(row.values[column]);
        if (keys.insert(key).second) scenario.rows.push_back(std::move(row));
      }
    }
  }

  const Problem& problem_;
  Rng rng_;
};

struct Tally {
  std::size_t proved = 0;
  std::size_t none = 0;
  std::size_t anomalies = 0;
  std::size_t unknown = 0;
};

// The run as a history is not serializable, says the checker, which knows nothing of SQL.
void expect_unserializable(const Problem& problem, const Scenario& scenario, const Replay& run) {
  const auto history = to_history(problem, scenario, run.traces, true);
  ASSERT_TRUE(history.has_value());
  Checker checker(*history->history);
  Budget budget;
  const Assignment ser{.base = *LevelSet::built_in().find("ser", Framework::Co)};
  EXPECT_EQ(checker.check(ser, budget).verdict.outcome, Outcome::Violated);
}

void compare(const std::string& text, const std::string& level, std::uint64_t seed, int num_runs,
             Tally& tally) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " at " + level + "\n" + text);
  constexpr std::size_t kBound = 3;
  const sql::Application app = app_of(text);
  Problem problem{app, {level_of(level), {}}};
  if (!check_problem(problem)) return;
  Budget budget = Budget::seconds(20);
  const AuditReport report = audit(problem, {.max_length = kBound, .prove = true}, budget);
  if (budget.expired_now()) {
    ++tally.unknown;
    return;
  }
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    EXPECT_FALSE(anomaly.replay.cycle.empty());
    expect_unserializable(problem, anomaly.scenario, anomaly.replay);
  }
  switch (report.outcome) {
    case AuditOutcome::Serializable:
      ++tally.proved;
      break;
    case AuditOutcome::Anomaly:
      ++tally.anomalies;
      return;
    default:
      // Neither a proof nor an anomaly: up to the bound there is none, if the search got so far.
      if (!report.search.is_complete()) {
        ++tally.unknown;
        return;
      }
      ++tally.none;
  }
  RandomRuns runs(problem, seed);
  for (int i = 0; i < num_runs; ++i) {
    const bool is_proved = report.outcome == AuditOutcome::Serializable;
    const Scenario scenario = runs.next(2, is_proved ? 4 : kBound);
    const Replay run = replay(problem, scenario);
    if (run.label == Label::Spurious) continue;
    std::string calls;
    for (const std::size_t call : scenario.ar) {
      calls += "\n  " + print(app, scenario.calls[call]) + " sees";
      for (std::size_t other = 0; other < scenario.calls.size(); ++other) {
        if (scenario.sees[call][other]) calls += " " + std::to_string(other);
      }
    }
    for (const sql::InitialRow& row : scenario.rows) calls += "\n  " + print(app, row);
    EXPECT_FALSE(run.cycle.empty()) << calls;
    FAIL() << name_of(report.outcome) << ", but " << name_of(run.label) << " with prefix "
           << scenario.prefix << calls;
  }
}

// Two tests, so that they run side by side.
void compare_small(std::uint64_t first, std::uint64_t last) {
  const std::vector<std::string> levels = {"ec", "cc", "pc", "ua", "psi", "si", "ser"};
  Tally tally;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    compare(RandomApp(seed).text(), levels[seed % levels.size()], seed, 300, tally);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(tally.proved, 30U);
  EXPECT_GT(tally.anomalies, 10U);
  EXPECT_LT(tally.unknown, 6U);
}

TEST(AuditOracle, AgreesWithRunsOfSmallApplications) { compare_small(1, 90); }
TEST(AuditOracle, AgreesWithRunsOfMoreSmallApplications) { compare_small(91, 180); }

TEST(AuditOracle, AgreesWithRunsOfWiderPrograms) {
  const std::vector<std::string> levels = {"ua", "psi", "si", "ser"};
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    compare(sql::RandomSql(seed).program(), levels[seed % levels.size()], seed, 200, tally);
    if (HasFailure()) return;
  }
  EXPECT_GT(tally.anomalies, 8U);
  EXPECT_LT(tally.unknown, 20U);
}

}  // namespace
}  // namespace isoscope::audit
