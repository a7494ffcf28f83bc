#pragma once
// At most so many of some literals, by assumption: for the fewest changed reads.
//
// A sequential counter [Sinz-CP'05], one direction only, as wide as it is asked for.
#include <optional>
#include <span>
#include <vector>

#include "sat/solver.h"

namespace isoscope::predict {

class Fewest {
 public:
  Fewest(std::span<const Lit> counted, SatSolver& solver, Budget& budget)
      : counted_(counted.begin(), counted.end()), solver_(solver), budget_(budget) {}

  // What to assume; nothing without a limit, or once the budget has expired. The view is valid
  // until the next call.
  std::span<const Lit> at_most(std::optional<std::size_t> count);

 private:
  void widen(std::size_t count);

  std::vector<Lit> counted_;
  SatSolver& solver_;
  Budget& budget_;
  // columns_[j][i]: at least j+1 of the first i+1 are true.
  std::vector<std::vector<Lit>> columns_;
  std::vector<Lit> assumed_;
};

}  // namespace isoscope::predict
