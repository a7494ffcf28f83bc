#pragma once
// Fewer chains for the same transactions: a greedy cover of the known graph by paths.
//
// Clocks cost a number per point and chain, and sessions are chains only because they are known
// before anything else is. What saturation forces orders most transactions of most sessions, so
// that a few long chains hold them: whoever follows the last of a chain continues it.
//
//     sessions  s1: T1   s2: T2   s3: T3   s4: T4        chains  T1 -> T3 -> T4
//     known     T1 -> T3, T2 -> T4, T3 -> T4                     T2
//
// Cost  O(edges).
#include <vector>

#include "check/strong/known_graph.h"

namespace isoscope::strong {

// Chains of all transactions on chains, each of which is known to reach the next, from commit to
// start where a transaction has both. Requires: graph.sort() succeeded, and no edge was added.
std::vector<std::vector<TxnId>> cover_by_chains(const KnownGraph& graph);

}  // namespace isoscope::strong
