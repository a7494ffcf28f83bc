#pragma once
// What a fuzz target is: one function; the rest is in main.cpp.
#include <cstdint>
#include <span>
#include <string_view>

namespace isoscope {

using FuzzInput = std::span<const std::uint8_t>;

// Uses the input and stops the process if something is wrong. Returns whether the input got past
// the reader (of texts), or was compared with the oracle (of what is made from choices).
bool fuzz(FuzzInput input);

inline std::string_view as_text(FuzzInput input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace isoscope
