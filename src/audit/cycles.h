#pragma once
// Cycles of functions: which functions could follow each other around a cycle of dependencies.
//
// A cycle may begin anywhere, so only the smallest rotation of each is visited.
#include <cstdint>
#include <functional>
#include <vector>

#include "support/budget.h"

namespace isoscope::audit {

using FunctionCycle = std::vector<std::uint32_t>;

// Calls `visit` for each cycle of `length` functions out of `functions`, as its smallest rotation,
// in which every step is one that `may_follow` allows. Ends early if `visit` returns false or the
// budget is over; then returns false, too: there may be further cycles.
bool visit_cycles(const std::vector<std::uint32_t>& functions, std::size_t length,
                  const std::function<bool(std::uint32_t, std::uint32_t)>& may_follow,
                  const std::function<bool(const FunctionCycle&)>& visit, Budget& budget);

}  // namespace isoscope::audit
