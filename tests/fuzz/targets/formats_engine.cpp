// Odd histories made from choices: each format keeps one as it is, or refuses it; and what it keeps
// is checked alike.
#include "check/check.h"
#include "formats/round_trip.h"
#include "formats/wild_history.h"
#include "target.h"

namespace isoscope {
namespace {

Outcome at_cc(const History& h) {
  Budget budget;
  return check(h, **LevelSet::built_in().find("cc"), budget, {}).verdict.outcome;
}

}  // namespace

bool fuzz(FuzzInput input) {
  Choices choices(input);
  const WildShape shape{.plain = choices.chance(0.2), .lists = choices.chance(0.3)};
  const auto h = WildHistory(choices, shape).make();
  if (!h) return false;
  for (const Format format : writable()) {
    if (!survives(*h, format) || h->num_txns() == 1) continue;
    const auto again = parse_history(write(*h, format).text, format);
    EXPECT_EQ(at_cc(*again), at_cc(*h)) << name_of(format);
  }
  return true;
}

}  // namespace isoscope
