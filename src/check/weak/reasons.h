#pragma once
// Why does one transaction commit before another? Answered for the edges of a cycle, from the
// history alone, in the words of verdict/verdict.h.
#include <vector>

#include "check/weak/forced.h"
#include "verdict/verdict.h"

namespace isoscope {

// The edges of that cycle whose reasons are shortest, counting the steps by which readers see what
// forces an order. In a cycle each transaction comes before the next, the last before the first.
// Facts are preferred to forced edges, and of several reasons for an edge a shortest is taken.
// Requires: there is a cycle, and each of its edges is in so or wr, in a known version order, or
// forced; so and wr have no cycle if one is forced.
//
// Cost  One look at every event; for a forced edge at cc also a breadth-first search backwards
//       through so and wr, no further than the shortest reasons so far.
std::vector<Edge> explain_one_of(const WeakFacts& facts,
                                 const std::vector<std::vector<TxnId>>& cycles);

}  // namespace isoscope
