#pragma once
// The fenced blocks of a page, so that tests can hold the page to what it says. Commands with what
// they print are checked by scripts/fill-page.py.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/input.h"

namespace isoscope {

struct DocBlock {
  std::string kind;  // the word after the opening fence
  std::string text;
  std::uint32_t line = 0;
};

inline std::vector<DocBlock> doc_blocks(std::string_view page) {
  std::vector<DocBlock> blocks;
  bool inside = false;
  LineReader lines = LineReader::over(page);
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({std::string(line.substr(3)), "", lines.line_number()});
    } else if (inside) {
      blocks.back().text += line;
      blocks.back().text += '\n';
    }
  }
  return blocks;
}

}  // namespace isoscope
