// docs/programs.md tells the truth: its programs parse and run, its errors are those that appear.
#include <gtest/gtest.h>

#include "program/run_of.h"
#include "support/input.h"

namespace isoscope {
namespace {

struct Fenced {
  std::string kind;  // the word after the opening fence
  std::string text;
  std::uint32_t line = 0;
};

std::vector<Fenced> fenced_blocks_of(std::string_view page) {
  std::vector<Fenced> blocks;
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

TEST(ProgramsPage, TellsTheTruth) {
  const auto page = read_whole(ISOSCOPE_SOURCE_DIR "/docs/programs.md");
  ASSERT_TRUE(page.ok()) << render(page.error());
  const auto blocks = fenced_blocks_of(*page);
  int programs_shown = 0;
  int errors_shown = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    SCOPED_TRACE("block at line " + std::to_string(blocks[i].line));
    if (blocks[i].kind == "txn") {
      const SerialRun run = run_serially(program_of(blocks[i].text));
      EXPECT_FALSE(run.fault);
      EXPECT_FALSE(run.failed);
      ++programs_shown;
    } else if (blocks[i].kind == "wrong") {
      const auto program = parse_program(blocks[i].text);
      ASSERT_FALSE(program.ok());
      ASSERT_LT(i + 1, blocks.size());
      EXPECT_EQ(render(program.error().in("my.txn")) + "\n", blocks[i + 1].text);
      ++errors_shown;
    }
  }
  EXPECT_GE(programs_shown, 3);
  EXPECT_GE(errors_shown, 2);
}

}  // namespace
}  // namespace isoscope
