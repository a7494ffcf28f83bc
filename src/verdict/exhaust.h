#pragma once
// Tries every version order of a small history: the last resort of confirm().
#include <optional>

#include "history/history.h"
#include "support/budget.h"
#include "verdict/logic.h"

namespace isoscope {

// Is there, for every key, an order of its writers with which no cycle of so, wr, ww and rw is
// forbidden? Nothing if there are too many combinations to try, or no time. Literal: each choice
// becomes relations, each rule of verdict/logic.h a closure.
// Requires: logic is one of pc, ua, psi, si, ser; no faults.
std::optional<bool> some_version_order_works(const History& h, Logic logic, Budget& budget);

}  // namespace isoscope
