// Levels made from choices: printed and read back, and decided on small histories by the grounded
// engine as by brute force.
#include "check/ground/comparison.h"
#include "check/ground/random_level.h"
#include "spec/print.h"
#include "support/choices.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  Choices choices(input);
  const Framework framework = choices.chance(0.6) ? Framework::Co : Framework::VisAr;
  const std::uint64_t style = choices.below(2);
  const RandomShape shape{.max_txns = framework == Framework::Co ? 4 : 3, .aborted = 0.1};
  const SmallHistory small = random_small(choices, shape);
  LevelSet levels;
  const std::string text = RandomLevel(choices, framework).text();
  const auto added = levels.add(text, "random.level");
  EXPECT_TRUE(added.ok()) << render(added.error()) << text;
  const Level& level = *levels.all().front();
  LevelSet printed;
  EXPECT_TRUE(printed.add(print(level), "printed").ok()) << print(level);
  EXPECT_EQ(print(*printed.all().front()), print(level));
  const auto levels_of = [&](const History&) { return Assignment{&level, {}}; };
  EXPECT_TRUE(agrees(small, 0, levels_of, kStyles[style])) << text;
  return true;
}

}  // namespace isoscope
