#pragma once
// Why does one transaction commit before another? Answered for the edges of one cycle, from the
// history alone, in the words of verdict/verdict.h.
#include <vector>

#include "check/weak/forced.h"
#include "verdict/verdict.h"

namespace isoscope {

// The edges of a cycle, each from one transaction to the next, the last to the first. Facts are
// preferred to forced edges, and of several reasons for one the shortest is taken.
// Requires: each of them is in so or wr, in a known version order, or forced.
//
// Cost  One look at every event; for a forced edge at cc also a breadth-first search backwards
//       through so and wr.
std::vector<Edge> explain_edges(const WeakFacts& facts, const std::vector<TxnId>& cycle);

}  // namespace isoscope
