// Two levels made from choices, or one and a built-in level: synth finds a history that separates
// them if and only if one is among all histories of the scope.
#include "check/ground/random_level.h"
#include "support/choices.h"
#include "synth/comparison.h"
#include "target.h"

namespace isoscope {
namespace {

const Level* random_level(LevelSet& levels, Choices& choices, int number) {
  const Framework framework = choices.chance(0.6) ? Framework::Co : Framework::VisAr;
  std::string text = RandomLevel(choices, framework).text();
  text.replace(text.find("random"), 6, "random" + std::to_string(number));
  const auto added = levels.add(text, "random.level");
  EXPECT_TRUE(added.ok()) << render(added.error()) << text;
  return levels.all().back().get();
}

}  // namespace

bool fuzz(FuzzInput input) {
  Choices choices(input);
  const bool generic = choices.chance(0.3);
  const Scope scopes[] = {{.txns = 2, .keys = 1},
                          {.txns = 2, .keys = 1, .values = 2, .empty_txns = true},
                          {.txns = 2, .keys = 1, .blind_writes = false}};
  const Scope scope = scopes[choices.below(3)];
  const Levels built_in = abstract_levels();
  const Level* known = built_in[choices.below(built_in.size())];
  LevelSet levels = LevelSet::built_in();
  Levels two = {random_level(levels, choices, 1)};
  two.push_back(choices.chance(0.5) ? known : random_level(levels, choices, 2));
  compare_with_brute_force(scope, generic, two);
  return true;
}

}  // namespace isoscope
