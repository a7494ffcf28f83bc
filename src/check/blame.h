#pragma once
// Which axiom of a built-in level does a violation break?
#include <string>

#include "history/history.h"
#include "spec/level.h"
#include "support/budget.h"
#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

// `weakest` is the weakest logic known to fail. Of a level with two axioms the second adds to what
// the first forbids, so the first is to blame if it alone forbids the cycle, or admits no order of
// the core. EXT, the framework's own demand on reads, where the level has no axiom.
std::string blamed_axiom(const History& h, const Level& level, Logic logic, Logic weakest,
                         const Violation& violation, Budget& budget);

}  // namespace isoscope
