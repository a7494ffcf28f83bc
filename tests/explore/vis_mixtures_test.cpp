// Mixtures over vis, ar, where a transaction sees the causes of what it sees only if those in
// between do so too: other histories than over co.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "explore/explore.h"
#include "explore/naive.h"
#include "program/program.h"
#include "support/random_program.h"
#include "support/read_from_map.h"

namespace isoscope::explore {
namespace {

using Map = std::vector<CallId>;

TEST(VisMixtures, HaveExactlyTheHistoriesThatBruteForceAllows) {
  const LevelSet& levels = LevelSet::built_in();
  const std::vector<std::string> own = {"ra@vis", "cc@vis", "psi", "si@vis"};
  int num_compared = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed * 48271);
    const std::string text =
        random_program(rng, {.sessions = 3, .max_calls = 4, .max_statements = 4, .levels = own});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Naive naive(*program, 20'000);
    if (!naive.is_complete()) continue;
    ++num_compared;
    const Level& base = **levels.find(own[seed % own.size()]);
    std::set<Map> allowed;
    for (const auto& [map, run] : naive.runs()) {
      const History h = to_history(*program, run);
      const auto assignment = assign_levels(h, base, levels);
      ASSERT_TRUE(assignment.ok());
      if (BruteForce(h).decide(*assignment)) allowed.insert(map);
    }
    const auto plan = make_plan(*program, base, levels, Algorithm::Best, {});
    ASSERT_TRUE(plan.ok());
    std::set<Map> found;
    (void)explore(*program, *plan, {.on_history = [&](const store::Recording& run) {
      found.insert(read_from_map(run));
    }});
    ASSERT_EQ(found, allowed);
  }
  EXPECT_GT(num_compared, 300);
}

TEST(VisMixtures, AreRefusedBesideLevelsThatExistOverCoOnly) {
  const LevelSet& levels = LevelSet::built_in();
  const auto program =
      parse_program("session a { @psi { v := read(x) } }\nsession b { { write(x, 1) } }\n");
  ASSERT_TRUE(program.ok());
  const auto plan = make_plan(*program, **levels.find("rc"), levels, Algorithm::Best, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().what, testing::HasSubstr("rc"));
}

}  // namespace
}  // namespace isoscope::explore
