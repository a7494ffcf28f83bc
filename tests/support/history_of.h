#pragma once
// A history in one line of a test: history_of("s1: [w(x,1)]  s2: [r(x,1)]").
#include <cstdio>
#include <string_view>

#include "formats/hist.h"
#include "support/assert.h"

namespace isoscope {

// Reads the text of a .hist file. A text that is no history ends the test program with the error.
inline History history_of(std::string_view hist_text) {
  auto h = read_hist(hist_text);
  if (!h) {
    std::fprintf(stderr, "%s\n", render(h.error().quoting(hist_text)).c_str());
    ISO_ASSERT(h.ok());
  }
  return std::move(*h);
}

}  // namespace isoscope
