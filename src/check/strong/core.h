#pragma once
// A few transactions that admit no order by themselves, where no single cycle tells the story.
//
// Leaves out runs of transactions, long ones first, as long as the rest is still violated; a part
// that is violated means a violated whole (history/restrict.h). What is left is a core from which
// no single transaction can be taken, unless time runs out before: then it is just small.
//
// Cost  Some O(core × log n) checks of ever smaller histories.
#include <vector>

#include "check/strong/strong.h"
#include "support/budget.h"

namespace isoscope::strong {

// Requires: h is violated at the level.
std::vector<TxnId> shrink_to_core(const History& h, StrongLevel level, Budget& budget);

}  // namespace isoscope::strong
