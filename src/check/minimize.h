#pragma once
// The smallest part of a history that still violates a level.
//
// Delta debugging: starting from the transactions that the violation names, leave out halves,
// then quarters, …, then single transactions, then single events, as long as what remains is
// still violated. The result is minimal in the sense that nothing more can be left out. A history
// whose reads are all excusable stays one: no read loses its writer.
//
// Cost  Checks of histories of the size of the explanation, not of the input.
#include "check/check.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope {

struct Minimized {
  History part;
  bool is_minimal = true;  // false if the budget expired: the smallest part found so far
};

// Requires: `violation` is what `level` has against `h`.
Minimized minimize(const History& h, const Level& level, const LevelSet& levels,
                   const Violation& violation, Budget& budget, const Progress& progress = {});

}  // namespace isoscope
