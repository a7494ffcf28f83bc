// The table of docs/levels.md that relates levels over co, snap to the others is what compare says.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "spec/levels.h"
#include "support/input.h"
#include "support/paths.h"
#include "synth/compare.h"

namespace isoscope {
namespace {

std::string answer_to(const Level& a, const Level& b, StatementShape shape) {
  CompareOptions options{.max_txns = 3};
  options.scope.statements = shape;
  Budget budget = Budget::seconds(120);
  const auto decided = decide_implication(a, b, options, budget);
  if (!decided) return render(decided.error());
  std::string word(name_of(decided->outcome));
  if (decided->outcome == ImplicationOutcome::Proved && decided->proof->without_numbers)
    word += "¹";
  if (decided->separation && !decided->separation->is_rechecked) word += ", not rechecked";
  return word;
}

TEST(Documentation, HasTheRelationsOfSnapshotsAsCompareSaysThem) {
  const auto page = read_whole(source_dir() + "/docs/levels.md");
  ASSERT_TRUE(page);
  const std::regex row(R"(\| `([^`]+)` ⇒ `([^`]+)` \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|)");
  std::istringstream lines(*page);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    ++rows;
    const Level& a = **LevelSet::built_in().find(cells[1].str());
    const Level& b = **LevelSet::built_in().find(cells[2].str());
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(answer_to(a, b, static_cast<StatementShape>(i)),
                cells[static_cast<std::size_t>(3 + i)])
          << line << ", column " << i + 1;
  }
  EXPECT_EQ(rows, 21);
}

}  // namespace
}  // namespace isoscope
