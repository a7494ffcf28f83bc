// The engine of points and grounding, which knows no rules, must say the same of every history.
#include <gtest/gtest.h>

#include "check/ground/ground.h"
#include "check/points/points.h"
#include "random_statements.h"
#include "spec/evaluate.h"
#include "spec/levels.h"

namespace isoscope {
namespace {

TEST(Points, AgreeWithGrounding) {
  const std::uint64_t number = cases(150);
  for (std::uint64_t seed = 0; seed < number; ++seed) {
    Rng rng(seed + 2'000'000);
    const std::string text = random_statements(rng, {.max_txns = 7, .max_reading = 14});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const History h = jsonl_of(text);
    for (const auto& level : LevelSet::built_in().all()) {
      if (level->framework != Framework::CoSnap) continue;
      const Assignment levels{.base = level.get(), .own = {}};
      Budget budget;
      const Verdict points = check_points(h, levels, budget);
      const Verdict ground = check_ground(h, levels, budget);
      EXPECT_EQ(points.outcome, ground.outcome) << level->full_name();
      for (const Verdict* verdict : {&points, &ground}) {
        if (!verdict->witness) continue;
        const auto failure = evaluate(levels, {h, *verdict->witness});
        EXPECT_FALSE(failure.has_value()) << level->full_name() << ": " << describe(*failure, h);
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace isoscope
