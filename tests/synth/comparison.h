#pragma once
// The search against all histories of a small scope, drawn without a solver.
#include "synth/brute_force_histories.h"
#include "synth/level_profiles.h"

namespace isoscope {

inline void compare_with_brute_force(const Scope& scope, bool generic,
                                     const Levels& levels = abstract_levels()) {
  Profiles profiles(levels);
  for_each_history(scope, [&](const DrawnHistory& drawn) { profiles.add(build(drawn)); });
  expect_same(profiles.separated(), scope, generic);
}

}  // namespace isoscope
