#pragma once
// What a step of a session touches, so that steps which commute are known: taken in either order
// they come to the same state, and one order is enough (sleep sets).
//
//   a statement        reads and writes tables, of a `.txn` program keys; rows of an SQL table
//                      that are written show in the order of its scans, so its writers do not
//                      commute
//   the first one of   fixes who is visible from then on: it does not commute with a commit
//   a kept snapshot
//   a commit           shows what was written, and lets go of what was locked
//
// A step that waits, wakes a session, fails, or catches a failure commutes with nothing; neither
// does any step at SERIALIZABLE, where a commit looks at all transactions.
#include <vector>

#include "sql/server/machine.h"

namespace isoscope::sql::server {

struct StepEffect {
  bool is_alone = false;  // commutes with nothing
  bool keeps_snapshot = false;
  bool commits = false;
  std::vector<RowId> touched = {};  // kWholeTable for all rows of a table
  std::vector<RowId> changed = {};  // written, locked, shown or let go of
};
inline constexpr std::uint32_t kWholeTable = 0xffffffff;

// Of the step that led from one state to the other.
StepEffect effect_of(const Machine& machine, const State& before, const State& after,
                     const Choice& choice, const StepDone& done);

// Do two steps of different sessions commute? Both were possible in the same state.
bool commute(const StepEffect& a, const StepEffect& b);

}  // namespace isoscope::sql::server
