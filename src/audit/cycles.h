#pragma once
// Cycles of functions: which functions could follow each other around a cycle of dependencies.
//
// A cycle may begin anywhere, so only the smallest rotation of each is listed.
#include <cstdint>
#include <functional>
#include <vector>

namespace isoscope::audit {

using FunctionCycle = std::vector<std::uint32_t>;

// All cycles of `length` functions out of `functions`, each as its smallest rotation, in which
// every step is one that `may_follow` allows.
std::vector<FunctionCycle> list_cycles(
    const std::vector<std::uint32_t>& functions, std::size_t length,
    const std::function<bool(std::uint32_t, std::uint32_t)>& may_follow);

}  // namespace isoscope::audit
