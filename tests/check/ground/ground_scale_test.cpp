// Beyond the reach of brute force: the grounded decision against the engines that are made for a
// level, on histories of a simulated store.
#include <gtest/gtest.h>

#include <string_view>

#include "check/check.h"
#include "check/ground/ground.h"
#include "check/ground/user_levels.h"
#include "generate/generate.h"
#include "spec/evaluate.h"

namespace isoscope {
namespace {

History simulate(Logic store, std::uint64_t txns, std::uint32_t keys, std::uint64_t seed) {
  HistoryPlan plan;
  plan.level = store;
  plan.txns = txns;
  plan.sessions = 2 + static_cast<std::uint32_t>(seed % 7);
  plan.ops = 2 + static_cast<std::uint32_t>(seed % 5);
  plan.keys = keys;
  plan.seed = seed;
  auto h = generate_history(plan);
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

constexpr std::string_view kLevels[] = {"rc",  "ra",     "cc",     "pc",     "si",
                                        "ser", "ra@vis", "cc@vis", "pc@vis", "ua",
                                        "psi", "si@vis", "ser@vis"};

TEST(GroundScale, AgreesWithTheEnginesMadeForALevel) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const Logic store : kStoreLevels) {
      const History h = simulate(store, 25 + 5 * seed, 6 + static_cast<std::uint32_t>(seed), seed);
      for (const std::string_view name : kLevels) {
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << " store " << name_of(store) << " level " << name);
        const Level& level = **LevelSet::built_in().find(name);
        Budget budget = Budget::seconds(60);
        const Verdict best = check(h, level, budget).verdict;
        const Verdict ground = check_ground(h, {&level, {}}, budget);
        ASSERT_EQ(ground.outcome, best.outcome) << ground.limit << best.limit;
        if (ground.witness) {
          const auto failure = evaluate({&level, {}}, {h, *ground.witness});
          EXPECT_FALSE(failure.has_value()) << describe(*failure, h);
        }
      }
    }
  }
}

// The same question in two forms: by the axioms, and by the absence of cycles.
TEST(GroundScale, AgreesWithCharacterisationsByCycles) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Logic store : {Logic::Ser, Logic::Si, Logic::Psi, Logic::Pc}) {
      const History h = simulate(store, 30, 8, seed);
      for (const auto& [axioms, cycles] :
           {std::pair{"ser", "ser-cycle"}, {"si", "si-cycle"}, {"psi", "psi-cycle"}}) {
        SCOPED_TRACE(testing::Message()
                     << "seed " << seed << " store " << name_of(store) << " level " << axioms);
        Budget budget = Budget::seconds(60);
        const Verdict a = check_ground(h, {*levels_with_users().find(axioms), {}}, budget);
        const Verdict b = check_ground(h, {*levels_with_users().find(cycles), {}}, budget);
        EXPECT_NE(a.outcome, Outcome::Unknown) << a.limit;
        EXPECT_EQ(a.outcome, b.outcome);
      }
    }
  }
}

TEST(GroundScale, DecidesTwoHundredTransactionsInSeconds) {
  for (const Logic store : {Logic::Ser, Logic::Si, Logic::Cc}) {
    HistoryPlan plan;
    plan.level = store;
    plan.txns = 200;
    plan.sessions = 10;
    plan.keys = 100;
    const auto h = generate_history(plan);
    ASSERT_TRUE(h.ok());
    for (const auto& level : levels_with_users().all()) {
      // They demand closures that no witness has: large circuits by nature.
      if (level->name == "two-way" || level->name == "cycle-iff-blind") continue;
      if (level->uses_real_time) continue;  // there are no times
      Budget budget = Budget::seconds(60);
      const Verdict verdict = check_ground(*h, {level.get(), {}}, budget);
      EXPECT_NE(verdict.outcome, Outcome::Unknown)
          << name_of(store) << " " << level->full_name() << " " << verdict.limit;
    }
  }
}

}  // namespace
}  // namespace isoscope
