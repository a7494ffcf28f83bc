#pragma once
// Advice: how little isolation is enough, and what would make a weak level safe.
//
// Levels. All functions begin at the strongest of the given levels. Then each in turn gets the
// weakest with which everything can still be proved serializable, the others staying where they
// are. The result is minimal: no single function can be lowered further (with these proofs).
//
// Repairs. Each change that might help is made to a copy of the application, and the audit runs
// again: only changes after which no anomaly is found are suggested, with a proof where there is
// one.
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/repairs.h"

namespace isoscope::audit {

struct Advice {
  // Empty if even the strongest levels could not be proved. Each is proved, but if the
  // time was over while they were chosen, a weaker one might do.
  ById<sql::FunctionId, const Level*> levels;
  bool has_all_levels = true;  // false: the time was over before all were tried
  std::size_t proofs = 0;      // tried
  std::vector<Repair> repairs;
  // After which the model has no anomaly either, though it leaves something of the program out.
  std::vector<Repair> unsure;
  std::size_t repairs_tried = 0;
  std::size_t repairs_undecided = 0;  // of those tried: neither an anomaly nor all cycles looked at
  bool is_complete = true;            // false: the budget was over
  std::string limit;                  // then: what ended it
};

// `levels` from the weakest to the strongest. Repairs are sought for problem.levels if there is an
// anomaly; `in_anomaly` are its functions, where they are known.
Advice advise(const Problem& problem, const std::vector<const Level*>& levels, bool has_anomaly,
              const AuditOptions& options, Budget& budget,
              const std::vector<sql::FunctionId>& in_anomaly = {});

}  // namespace isoscope::audit
