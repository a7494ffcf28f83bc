#pragma once
// Short cycles of a relation, to be forbidden one by one.
#include <cstddef>
#include <vector>

#include "graph/bit_matrix.h"

namespace isoscope {

// For each element on a cycle a shortest cycle through it, without repetition, shortest first and
// at most `limit`; empty if and only if the relation is acyclic. A cycle lists its elements, each
// related to the next and the last to the first. Once the budget expires, those found so far.
// Cost  A breadth-first search on bit rows from each element: O(n^3 / 64).
std::vector<std::vector<std::size_t>> short_cycles(const BitMatrix& r, std::size_t limit,
                                                   Budget& budget);

}  // namespace isoscope
