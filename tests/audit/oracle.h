#pragma once
// The audit against plain execution: random runs of an application, held against what the audit
// says of it.
//
// A run that no serial order explains, at a level, contradicts a proof for that level, and a
// bounded search that found nothing up to as many instances.
#include <gtest/gtest.h>

#include "audit_of.h"
#include "check/check.h"
#include "random_runs.h"

namespace isoscope::audit {

// The run as a history is not serializable, says the checker, which knows nothing of SQL.
inline void expect_unserializable(const Problem& problem, const Scenario& scenario,
                                  const Replay& run) {
  const auto history = to_history(problem, scenario, run.traces, true);
  ASSERT_TRUE(history.has_value());
  Checker checker(*history->history);
  Budget budget;
  const Assignment ser{.base = *LevelSet::built_in().find("ser", Framework::Co)};
  EXPECT_EQ(checker.check(ser, budget).verdict.outcome, Outcome::Violated)
      << name_of(run.label) << ": " << run.why << describe_run(problem.app, scenario);
}

struct OracleOptions {
  std::size_t bound = 3;  // instances in a cycle
  int num_runs = 300;
  double seconds = 20;
  bool only_proofs = false;  // hold only proofs against runs
  // Anomalies as histories, too. A history cannot say that the end comes last: a write that nobody
  // sees and that is overwritten may follow it, so this is for programs that have none.
  bool with_histories = true;
};

inline void compare(const Problem& problem, std::uint64_t seed, const OracleOptions& options,
                    Tally& tally) {
  if (!check_problem(problem)) return;
  Budget budget = Budget::seconds(options.seconds);
  const AuditReport report = audit(problem, {.max_length = options.bound, .prove = true}, budget);
  if (budget.expired_now()) {
    ++tally.unknown;
    return;
  }
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    EXPECT_FALSE(anomaly.replay.cycle.empty()) << describe_run(problem.app, anomaly.scenario);
    if (options.with_histories) expect_unserializable(problem, anomaly.scenario, anomaly.replay);
  }
  const bool is_proved = report.outcome == AuditOutcome::Serializable;
  switch (report.outcome) {
    case AuditOutcome::Serializable: ++tally.proved; break;
    case AuditOutcome::Anomaly: ++tally.anomalies; return;
    default:
      // Neither a proof nor an anomaly: up to the bound there is none, if the search got so far.
      if (!report.search.is_complete()) {
        ++tally.unknown;
        return;
      }
      ++tally.none;
      if (options.only_proofs) return;
  }
  RandomRuns runs(problem, seed);
  for (int i = 0; i < options.num_runs; ++i) {
    const Scenario scenario = runs.next(2, is_proved ? 4 : options.bound);
    Budget unlimited;
    const Replay run = *replay(problem, scenario, unlimited);
    if (run.label == Label::Spurious || run.label == Label::Undecided) continue;
    const std::string calls = describe_run(problem.app, scenario);
    EXPECT_FALSE(run.cycle.empty()) << calls;
    FAIL() << name_of(report.outcome) << ", but " << name_of(run.label) << " (" << run.why
           << ") with prefix " << scenario.prefix << calls;
  }
}

}  // namespace isoscope::audit
