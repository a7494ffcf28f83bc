#pragma once
// A change of a text.
#include <cstddef>
#include <string>

namespace isoscope::record {

// Replaces `removed` bytes of a text at `at`.
struct Splice {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted = {};
};

}  // namespace isoscope::record
