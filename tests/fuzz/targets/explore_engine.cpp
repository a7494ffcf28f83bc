// Small programs made from choices: every algorithm of explore finds exactly the histories that
// brute force allows, at one level or at a mixture.
#include "explore/comparison.h"
#include "support/choices.h"
#include "support/random_program.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  using namespace explore;
  constexpr std::size_t kFewRuns = 2'000;
  const char* names[] = {"rc", "ra", "cc", "pc", "psi", "si", "ser", "ua"};
  const std::vector<std::string> own[] = {
      {}, {}, {"rc", "ra", "cc"}, {"rc", "ra", "cc", "pc", "si", "ser"}};
  Choices choices(input);
  const std::vector<std::string>& mixture = own[choices.below(4)];
  const std::string name =
      mixture.empty() ? names[choices.below(8)] : mixture[choices.below(mixture.size())];
  const std::string text = random_program(
      choices, {.sessions = 3, .max_calls = 4, .max_statements = 3, .levels = mixture});
  SCOPED_TRACE(name + "\n" + text);
  const auto program = parse_program(text);
  EXPECT_TRUE(program.ok());
  const Naive naive(*program, kFewRuns);
  if (!naive.is_complete()) return false;
  const Level& base = level(name);
  const std::set<Map> allowed = expected(*program, naive, base);
  if (mixture.empty()) {
    expect_exactly(*program, base, allowed);
    return true;
  }
  const Found found = explored(*program, base, Algorithm::Best);
  EXPECT_EQ(found.maps, allowed);
  EXPECT_FALSE(found.has_duplicates);
  return true;
}

}  // namespace isoscope
