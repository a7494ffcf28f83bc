#pragma once
// What a transaction will do from a read on, whatever it reads: is it sure to commit, and which
// keys is it sure to write?
//
// The code is followed with an interval for each register. What will be read may be any small
// number; where a branch depends on it, both ways are followed. A way that aborts, or on which an
// operation might overflow, or one that is long, makes the answer uncertain.
//
//     a := read(x)              commits, and writes x and y
//     b := read(y)
//     if (a < 5) { write(z, 1) }
//     write(x, a + 1); write(y, b - a)
//
// Cost  At most a thousand instructions.
#include <cstdint>
#include <span>
#include <vector>

#include "program/interpreter.h"

namespace isoscope {

// Numbers up to this one are small, and their negatives.
inline constexpr std::int64_t kLargestSmall = std::int64_t{1} << 31;
inline bool is_small_number(std::int64_t value) {
  return value >= -kLargestSmall && value <= kLargestSmall;
}

struct Outlook {
  bool commits = false;                 // surely
  std::vector<ProgramKey> writes = {};  // surely; sorted. Empty if it does not surely commit
};

// `state` is that of the interpreter (code.h) at a read that has not been answered. Right as long
// as all values that it will read are small.
Outlook outlook_of(const Code& code, std::span<const std::int64_t> state, KeyFinder& finder);

}  // namespace isoscope
