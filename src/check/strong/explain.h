#pragma once
// Why the known graph is contradictory: a shortest cycle, each edge with its reason.
//
// Of listed edges, the cycle that is easiest to explain; but if all that is known has a shorter one
// (shortest.h), that.
//
// Reasons are found anew, not kept: an edge of round i follows from edges of earlier rounds, so a
// search among those finds a path that forces it, and the edges of that path are explained in the
// same way. Rounds go down, so this ends.
#include <vector>

#include "check/strong/knowledge.h"
#include "check/strong/strong.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope::strong {

struct Explanation {
  // A cycle that the level forbids. Empty if its reasons are too long to be told, or if the budget
  // expires before any is found.
  std::vector<Edge> cycle;
  bool is_shortest = false;  // has no cycle of known edges fewer? False if a limit came first.
};

// Requires: saturate() answered Cycle.
Explanation explain_cycle(const Knowledge& known, Budget& budget);

// A few transactions that admit no order by themselves, where no single cycle tells the story.
//
// Leaves out runs of transactions, long ones first, as long as the rest is still violated; a part
// that is violated means a violated whole (history/restrict.h). What is left is a core from which
// no single transaction can be taken, unless time runs out before: then it is just small.
//
// Cost  Some O(core × log n) checks of ever smaller histories.

// Requires: h is violated at the level.
std::vector<TxnId> shrink_to_core(const History& h, StrongLevel level, Budget& budget);

}  // namespace isoscope::strong
