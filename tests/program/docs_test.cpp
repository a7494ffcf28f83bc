// docs/programs.md tells the truth: its programs parse and run, its errors are those that appear.
#include <gtest/gtest.h>

#include "program/run_of.h"
#include "support/doc_blocks.h"
#include "support/paths.h"

namespace isoscope {
namespace {

TEST(ProgramsPage, TellsTheTruth) {
  const auto page = read_whole(source_dir() + "/docs/programs.md");
  ASSERT_TRUE(page.ok()) << render(page.error());
  const auto blocks = doc_blocks(*page);
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
