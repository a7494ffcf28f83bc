// docs/levels.md tells the truth: its levels load, its errors are those that appear.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/levels.h"
#include "support/doc_blocks.h"
#include "support/paths.h"

namespace isoscope {
namespace {

TEST(LevelsPage, TellsTheTruth) {
  const auto page = read_whole(source_dir() + "/docs/levels.md");
  ASSERT_TRUE(page.ok()) << render(page.error());
  const auto blocks = doc_blocks(*page);
  int levels_shown = 0;
  int errors_shown = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    LevelSet levels = LevelSet::built_in();
    if (blocks[i].kind == "level") {
      const auto added = levels.add(blocks[i].text, "docs/levels.md");
      EXPECT_TRUE(added.ok()) << "block at line " << blocks[i].line << "\n"
                              << render(added.error());
      ++levels_shown;
    } else if (blocks[i].kind == "wrong") {
      const auto added = levels.add(blocks[i].text, "my.level");
      ASSERT_FALSE(added.ok()) << "block at line " << blocks[i].line;
      ASSERT_LT(i + 1, blocks.size());
      EXPECT_EQ(render(added.error()) + "\n", blocks[i + 1].text);
      ++errors_shown;
    }
  }
  EXPECT_GE(levels_shown, 2);
  EXPECT_GE(errors_shown, 5);
}

TEST(LevelsPage, NamesEveryBuiltInLevel) {
  const auto page = read_whole(source_dir() + "/docs/levels.md");
  ASSERT_TRUE(page.ok()) << render(page.error());
  for (const auto& level : LevelSet::built_in().all())
    EXPECT_NE(page->find("`" + level->name + "`"), std::string::npos) << level->name;
}

}  // namespace
}  // namespace isoscope
