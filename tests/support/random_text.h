#pragma once
// What makers of random programs have in common: choices among a few texts.
#include <initializer_list>
#include <string>

#include "support/choices.h"

namespace isoscope {

class RandomText {
 protected:
  explicit RandomText(Choices choices) : rng_(choices) {}

  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  std::string pick(std::initializer_list<std::string> choices) {
    return choices.begin()[rng_.below(choices.size())];
  }

  Choices rng_;
};

}  // namespace isoscope
