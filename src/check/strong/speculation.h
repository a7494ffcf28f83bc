#pragma once
// Answers the open choices one by one, each time following what the answer implies.
//
// In the order of a guess, which runs through the history as time did, every choice that is still
// open gets the guessed answer, or the other if that closes a cycle. If both do, an answer before
// was wrong; then all are taken back and the choice that failed is made first. After some such
// restarts the search is left to others.
//
// On histories of correct stores one pass succeeds as a rule, however many choices are open: what
// an answer implies is all that is needed to answer the next.
//
// Cost  As propagation: a choice takes time according to the points that it touches.
#include <cstdint>

#include "check/strong/guess.h"
#include "check/strong/residue.h"
#include "support/budget.h"

namespace isoscope::strong {

enum class Speculated : std::uint8_t { Found, Refuted, GaveUp };

struct Speculation {
  Speculated result = Speculated::GaveUp;
  Answers answers;  // if found; else as far as the last pass went, completed by the guess
  std::uint32_t restarts = 0;
};

// Refuted if both answers to a choice close a cycle before any other choice is made.
// Requires: the knowledge is saturated, Propagation::fits.
Speculation speculate(const Residue& residue, const Guess& guess, Budget& budget);

}  // namespace isoscope::strong
