#pragma once
// The fenced blocks of a page, and the commands in them with what they print, so that tests can
// hold the page to what it says.
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

// A line "$ isoscope ..." of a block, and the lines up to the next one or the end of the block.
struct DocCommand {
  std::string arguments;
  std::string shown;
};

inline std::vector<DocCommand> doc_commands(std::string_view page) {
  constexpr std::string_view kPrompt = "$ isoscope ";
  std::vector<DocCommand> commands;
  for (const DocBlock& block : doc_blocks(page)) {
    bool has_command = false;
    LineReader lines = LineReader::over(block.text);
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with(kPrompt)) {
        commands.push_back({std::string(line.substr(kPrompt.size())), ""});
        has_command = true;
      } else if (has_command) {
        commands.back().shown += line;
        commands.back().shown += '\n';
      }
    }
  }
  return commands;
}

}  // namespace isoscope
