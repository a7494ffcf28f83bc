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
//
// Cheapest first:
//
//   atomic    SELECT c INTO v; …; UPDATE SET c = v + e becomes UPDATE SET c = c + e
//   lock      a SELECT becomes SELECT … FOR UPDATE; where other tables refer to the rows, FOR NO
//   KEY
//             UPDATE, which does not keep others from referring to them
//   unique    a table gets a UNIQUE constraint on columns that some function looks for before it
//             inserts
#include <string>
#include <vector>

#include "audit/audit.h"

namespace isoscope::audit {

enum class RepairKind : std::uint8_t { Lock, Unique, Atomic };
std::string_view name_of(RepairKind kind);

struct Repair {
  RepairKind kind = RepairKind::Lock;
  std::string function = {};  // empty for a constraint
  Place place = {};
  std::string before = {};  // the statement as it is; empty if there is none
  std::string what = {};    // "SELECT bal … FOR UPDATE", "UNIQUE (email) on account"
  bool is_proved = false;   // else: no anomaly up to the bound
};

struct Advice {
  // By function; empty if even the strongest levels could not be proved. Each is proved, but if the
  // time was over while they were chosen, a weaker one might do.
  std::vector<const Level*> levels;
  bool has_all_levels = true;  // false: the time was over before all were tried
  std::size_t proofs = 0;      // tried
  std::vector<Repair> repairs;
  std::size_t repairs_tried = 0;
  std::size_t repairs_undecided = 0;  // of those tried: neither an anomaly nor all cycles looked at
  bool is_complete = true;            // false: the budget was over
  std::string limit;                  // then: what ended it
};

// `levels` from the weakest to the strongest. Repairs are sought for problem.levels if `anomaly`.
Advice advise(const Problem& problem, const std::vector<const Level*>& levels, bool has_anomaly,
              const AuditOptions& options, Budget& budget);

}  // namespace isoscope::audit
