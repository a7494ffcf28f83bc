#pragma once
// A first guess at the open choices: run the transactions one after another.
//
// Takes the points in an order that the known graph allows, and avoids what makes cycles where it
// can: a commit waits while a version that it would overwrite has readers to come, and at si a
// start waits while a writer of a key that it will write is under way. When everybody waits, the
// first in line goes on nevertheless. The guess answers each choice by the order of the commits.
//
// A store that was right made such an order once, and few choices are open after saturation, so
// that a guess leaves little or nothing for the solver to repair.
//
// Cost  Linear in the known arcs, plus the times somebody waits.
#include <cstdint>
#include <vector>

#include "check/strong/residue.h"

namespace isoscope::strong {

struct Guess {
  Answers answers;
  std::vector<std::uint32_t> sequence;  // choices, by the time when both had committed
};

// Requires: residue.known().graph is sorted.
Guess make_guess(const Residue& residue);

}  // namespace isoscope::strong
