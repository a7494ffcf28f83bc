#pragma once
// How a violation is told: with plain edges, and the axiom that it breaks.
#include <string>
#include <vector>

#include "history/history.h"
#include "spec/level.h"
#include "support/budget.h"
#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

// Which axiom of a built-in level is broken. `weakest` is the weakest logic known to fail. Of a
// level with two axioms the second adds to what the first forbids, so the first is to blame if it
// alone forbids the cycle, or admits no order of the core. EXT, the framework's own demand on
// reads, where the level has no axiom.
std::string blamed_axiom(const History& h, const Level& level, Logic logic, Logic weakest,
                         const Violation& violation, Budget& budget);

// The plainest violation of all: two transactions read one version of a key, and both overwrite it,
// a cycle t -rw-> u -rw-> t on one key, which ser forbids. Empty if there is no such pair; else the
// pair that is complete first in the order of the file. Saturation may run into some longer cycle
// first, and a reader of reports should not have to see through that. O(events) time and memory.
std::vector<Edge> find_lost_update(const History& h);

// A version-order edge that follows from a single edge is replaced by that, as long as the logic
// still forbids the cycle, which gets no longer: "T1 -ww-> T2 -ww-> T1, because each missed the
// other" becomes "T1 -ww-> T2 -rw-> T1". Facts stay; the cycle visits no transaction twice.
std::vector<Edge> simplify(Logic logic, std::vector<Edge> cycle);

}  // namespace isoscope
