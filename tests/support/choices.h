#pragma once
// Where the choices of a maker of random things come from: from a seed, or from the bytes of a
// fuzzer.
//
// Each choice takes one byte, so that a fuzzer that changes a byte changes one choice and keeps the
// others. When the bytes are used up, a fixed seed goes on: every input makes something.
#include <cstdint>
#include <span>

#include "support/rng.h"

namespace isoscope {

class Choices {
 public:
  // Implicit: who makes random things by seeds goes on writing RandomProgram(17). The choices are
  // those of Rng(seed).
  Choices(std::uint64_t seed) : rng_(seed) {}
  explicit Choices(std::span<const std::uint8_t> bytes) : rng_(0), bytes_(bytes) {}

  std::uint64_t next() { return bytes_.empty() ? rng_.next() : take_byte() << 56; }
  // In [0, bound). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return bytes_.empty() ? rng_.below(bound) : take_byte() * bound >> 8;
  }
  double uniform() {
    return bytes_.empty() ? rng_.uniform() : static_cast<double>(take_byte()) / 256;
  }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t take_byte() {
    const std::uint64_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  Rng rng_;
  std::span<const std::uint8_t> bytes_;
};

}  // namespace isoscope
