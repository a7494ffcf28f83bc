#pragma once
// Cycles of functions: which functions could follow each other around a cycle of dependencies.
//
// A cycle may begin anywhere: it is written as the smallest of its rotations.
#include <cstdint>
#include <functional>
#include <vector>

#include "sql/application.h"

namespace isoscope::audit {

using FunctionCycle = std::vector<sql::FunctionId>;

// How many cycles of `length` functions there are in which every step is one that `may_follow`
// allows, without looking at them one by one: closed walks up to rotation, by Burnside's lemma
// (1/k) sum over d | k of phi(d) trace(A^(k/d)). The largest number that there is if they are more.
std::size_t count_cycles(const std::vector<sql::FunctionId>& functions, std::size_t length,
                         const std::function<bool(sql::FunctionId, sql::FunctionId)>& may_follow);

}  // namespace isoscope::audit
