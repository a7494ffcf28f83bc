#pragma once
// The strongest of the built-in levels that a history satisfies.
//
// Of the levels that have engines, the question whether one implies another is answered here once;
// the strict form of a level implies the level, and keeps its implications.
#include <vector>

#include "spec/level.h"
#include "verdict/logic.h"

namespace isoscope {

// Does every history that satisfies `a` satisfy `b`?
bool implies(Logic a, Logic b);
// The same of levels; false also where it is not known.
bool implies(const Level& a, const Level& b);

// The built-in levels with engines, from the weakest up: rc ra cc pc ua psi si ser, and with
// `real_time` their strict forms, but for those that are grounded.
std::vector<const Level*> levels_with_engines(bool real_time);

// Those of `levels` that no other one of them implies, in their order.
std::vector<const Level*> strongest_of(const std::vector<const Level*>& levels);

}  // namespace isoscope
