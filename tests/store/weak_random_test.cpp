// Weak runs of random programs satisfy their level: by check, and by trying every witness.
#include <gtest/gtest.h>

#include "check/check.h"
#include "spec/brute_force.h"
#include "store/store_of.h"
#include "support/random_program.h"

namespace isoscope::store {
namespace {

struct Case {
  std::string name;
  std::string level;
  std::vector<std::string> own;  // levels that single transactions may have
  int programs;
  int max_calls = 4;
};

class WeakRuns : public ::testing::TestWithParam<Case> {};

TEST_P(WeakRuns, SatisfyTheirLevel) {
  const Case& c = GetParam();
  Rng rng(20261115);
  for (int i = 0; i < c.programs; ++i) {
    const std::string text =
        random_program(rng, {.sessions = 3, .max_calls = c.max_calls, .levels = c.own});
    const Program program = program_of(text);
    Store store = weak_store(program, c.level);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto end = run_once(store, seed);
      ASSERT_TRUE(end.ok()) << "program " << i << ", seed " << seed << "\n"
                            << render(end.error()) << "\n"
                            << text;
      const History h = to_history(program, store.recording());
      const auto levels = assign_levels(h, level_of(c.level), LevelSet::built_in());
      ASSERT_TRUE(levels.ok()) << render(levels.error());
      Budget budget;
      ASSERT_EQ(Checker(h).check(*levels, budget).verdict.outcome, Outcome::Consistent)
          << "program " << i << ", seed " << seed << "\n"
          << text;
      if (is_small_enough(h, levels->base->framework)) {
        ASSERT_TRUE(BruteForce(h).decide(*levels).has_value())
            << "program " << i << ", seed " << seed << "\n"
            << text;
      }
      const Outcome ser = check(h, level_of("ser"), budget).verdict.outcome;
      ASSERT_EQ(is_serializable(program, store.recording(), budget), ser == Outcome::Consistent)
          << "program " << i << ", seed " << seed << "\n"
          << text;
    }
  }
}

const std::vector<std::string> kWeak = {"true", "rc", "ra", "cc"};

INSTANTIATE_TEST_SUITE_P(
    Levels, WeakRuns,
    ::testing::Values(
        Case{"rc", "rc", {}, 1000}, Case{"ra", "ra", {}, 1000}, Case{"cc", "cc", {}, 1000},
        Case{"pc", "pc", {}, 1000}, Case{"psi", "psi", {}, 500}, Case{"si", "si", {}, 1000},
        Case{"ser", "ser", {}, 1000}, Case{"ua", "ua", {}, 500}, Case{"cc_vis", "cc@vis", {}, 300},
        Case{"weak_mixture", "cc", kWeak, 1000}, Case{"ser_in_rc", "rc", {"ser", "cc"}, 500},
        Case{"si_in_cc_vis", "cc@vis", {"si@vis", "ua", "ra@vis"}, 300},
        Case{"update_ser", "update-ser", {}, 200}, Case{"longer_cc", "cc", {}, 300, 20},
        Case{"longer_si", "si", {}, 200, 12}, Case{"longer_psi", "psi", {}, 100, 12},
        Case{"longer_ser", "ser", {}, 200, 12}),
    [](const auto& tested) { return tested.param.name; });

// What a store at a level allows, one step of random choices may miss: at the strongest levels a
// legal read is one that some serial order explains.
TEST(WeakStore, AllowsExactlyTheLegalReads) {
  Rng rng(7);
  for (const std::string name : {"rc", "ra", "cc", "pc", "psi", "si", "ser", "ua"}) {
    for (int i = 0; i < 60; ++i) {
      const Program program = program_of(random_program(rng, {.sessions = 3, .max_calls = 4}));
      // Every history of a store without a level: those that the level allows are reached by the
      // store at that level, too.
      std::set<std::vector<std::uint32_t>> legal;
      std::set<std::vector<std::uint32_t>> reached;
      Store free = weak_store(program, "true");
      Store store = weak_store(program, name);
      for (std::uint64_t seed = 0; seed < 400; ++seed) {
        ASSERT_TRUE(run_once(free, seed).ok());
        Budget budget;
        const History h = to_history(program, free.recording());
        if (check(h, level_of(name), budget).verdict.outcome == Outcome::Consistent)
          legal.insert(reads_of(free.recording()));
        for (const std::uint64_t more : {0, 1000}) {
          ASSERT_TRUE(run_once(store, seed + more).ok());
          reached.insert(reads_of(store.recording()));
        }
      }
      // Rare histories need more luck than 800 seeds have; nearly all are there.
      std::size_t missed = 0;
      for (const auto& reads : legal) missed += reached.contains(reads) ? 0 : 1;
      EXPECT_LE(missed * 10, legal.size()) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace isoscope::store
