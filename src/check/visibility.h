#pragma once
// The (vis, ar) witness that a commit order stands for, for the levels that exist over both.
#include "history/execution.h"
#include "verdict/logic.h"

namespace isoscope {

// ar is the commit order, vis the least visibility that the level allows with it: so ∪ wr for ra,
// its closure for cc, prefixes for pc and si, all for ser. Left out (no vis) for histories whose
// quadratic vis is too large to read. A witness that is (vis, ar) already is returned as it is.
Witness as_visibility(const History& h, Logic logic, const Witness& witness);

}  // namespace isoscope
