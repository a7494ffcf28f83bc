#include "audit/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/server_levels.h"

namespace isoscope::audit {

namespace {

// With something that the model leaves out, nothing is proved.
bool leaves_out(const Problem& problem) { return !left_out(problem).empty(); }

bool is_proved(const Problem& problem, const AuditOptions& options, Budget& budget) {
  if (leaves_out(problem)) return false;
  OpenWorld open(problem, budget);
  return prove_serializable(problem, open, {.progress = options.progress}, budget).holds;
}

void choose_levels(const Problem& problem, const std::vector<const Level*>& levels,
                   const AuditOptions& options, Budget& budget, Advice& advice) {
  Problem trial = problem;
  trial.levels = {levels.back(),
                  std::vector<const Level*>(problem.app.functions.size(), levels.back())};
  const auto proves = [&] {
    ++advice.proofs;
    return is_proved(trial, options, budget);
  };
  const bool is_enough = proves();
  for (const Level*& own : trial.levels.own) {
    for (const Level* level : levels) {
      if (!is_enough || level == levels.back() || budget.expired_now()) break;
      own = level;
      if (proves()) break;
      own = levels.back();
    }
  }
  if (is_enough) advice.levels = ById<sql::FunctionId, const Level*>(trial.levels.own);
  advice.has_all_levels = !budget.expired_now();
}

}  // namespace

Advice advise(const Problem& problem, const std::vector<const Level*>& levels, bool has_anomaly,
              const AuditOptions& options, Budget& budget,
              const std::vector<sql::FunctionId>& in_anomaly) {
  Advice advice;
  choose_levels(problem, levels, options, budget, advice);
  if (has_anomaly) {
    std::vector<Candidate> candidates = repairs_of(problem, in_anomaly, budget);
    AuditOptions again = options;
    again.prove = true;
    again.all = false;
    again.path.reset();
    for (Candidate& candidate : candidates) {
      if (budget.expired_now()) break;
      // The dearest only where nothing else helps.
      if (candidate.repair.kind == RepairKind::Materialize &&
          !(advice.repairs.empty() && advice.unsure.empty()))
        break;
      const Problem repaired{candidate.app, problem.levels, problem.conflicts, problem.serial,
                             problem.rows_at_start};
      ++advice.repairs_tried;
      const AuditReport report = audit(repaired, again, budget);
      if (report.outcome == AuditOutcome::Anomaly) continue;
      // On a server, a cycle that is not ruled out may happen, though we have no run of it.
      const bool is_enough =
          report.outcome == AuditOutcome::Serializable ||
          (is_on_server(problem.levels) ? report.search.is_proof() : report.search.is_complete());
      const bool is_unsure = leaves_out(repaired);
      if (!is_enough || is_unsure) ++advice.repairs_undecided;
      if (!is_enough) continue;
      candidate.repair.is_proved = report.proof && report.proof->holds;
      (is_unsure ? advice.unsure : advice.repairs).push_back(std::move(candidate.repair));
    }
  }
  advice.is_complete = !budget.expired_now();
  if (!advice.is_complete) advice.limit = limit_reached() + " was reached";
  return advice;
}

}  // namespace isoscope::audit
