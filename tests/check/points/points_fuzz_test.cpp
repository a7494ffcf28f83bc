// Brute force and the engine of points must say the same of every history.
#include <gtest/gtest.h>

#include "check/points/points.h"
#include "random_statements.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "verdict/confirm.h"

namespace isoscope {
namespace {

constexpr const char* kLevels[] = {"rc@snap", "pc@snap", "si@snap",  "ser@snap", "pg-rc",
                                   "pg-rr",   "pg-ser",  "mysql-rc", "mysql-rr"};
// If the first holds, so does the second.
constexpr std::pair<const char*, const char*> kLaws[] = {
    {"pg-ser", "pg-rr"},    {"pg-rr", "pc@snap"},   {"pg-rc", "rc@snap"},
    {"pc@snap", "rc@snap"}, {"si@snap", "pc@snap"}, {"ser@snap", "si@snap"},
    {"pg-rc", "mysql-rc"},  {"mysql-rc", "pg-rc"},  {"mysql-rr", "rc@snap"}};

const Level& level_of(const std::string& name) { return **LevelSet::built_in().find(name); }

TEST(Points, AgreeWithBruteForce) {
  std::map<std::string, std::uint64_t> consistent;
  const std::uint64_t number = cases(700);
  for (std::uint64_t seed = 0; seed < number; ++seed) {
    Rng rng(seed);
    const std::string text = random_statements(rng);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const History h = jsonl_of(text);
    ASSERT_TRUE(h.faults().empty());
    ASSERT_TRUE(is_small_enough(h, Framework::CoSnap));
    BruteForce oracle(h);
    std::map<std::string, bool> holds;
    for (const char* name : kLevels) {
      const Level& level = level_of(name);
      const Assignment levels{.base = &level, .own = {}};
      ASSERT_TRUE(has_points(levels)) << name;
      Budget budget;
      const Verdict points = check_points(h, levels, budget);
      holds[name] = oracle.decide(level).has_value();
      EXPECT_EQ(points.outcome, holds[name] ? Outcome::Consistent : Outcome::Violated) << name;
      if (points.witness) {
        const auto failure = evaluate(levels, {h, *points.witness});
        EXPECT_FALSE(failure.has_value()) << name << ": " << describe(*failure, h);
      } else if (points.violation) {
        EXPECT_FALSE(points.violation->cycle.empty() && points.violation->core.empty()) << name;
      }
      consistent[name] += holds[name] ? 1 : 0;
    }
    for (const auto& [stronger, weaker] : kLaws)
      EXPECT_LE(holds[stronger], holds[weaker]) << stronger << " " << weaker;
    if (HasFailure()) return;
  }
  for (const auto& [name, times] : consistent) {
    EXPECT_GT(times, number / 20) << name;
    EXPECT_LT(times, number - number / 20) << name;
  }
}

// A program without the evaluator's slowness must judge as it does, right and wrong witnesses
// alike.
TEST(SnapshotReplay, JudgesAsTheEvaluatorDoes) {
  const std::uint64_t number = cases(700);
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < number; ++seed) {
    Rng rng(seed + 3'000'000);
    const std::string text = random_statements(rng);
    const History h = jsonl_of(text);
    const Level& level = level_of(kLevels[seed % std::size(kLevels)]);
    const Assignment levels{.base = &level, .own = {}};
    Budget budget;
    const Verdict points = check_points(h, levels, budget);
    if (!points.witness) continue;
    EXPECT_EQ(replay_snapshots(h, levels, *points.witness), std::nullopt) << text;
    for (int i = 0; i < 6; ++i) {
      Witness changed = *points.witness;
      if (rng.chance(0.3) && changed.order.size() > 2) {
        const std::size_t at = 1 + rng.below(changed.order.size() - 2);
        std::swap(changed.order[at], changed.order[at + 1]);
      }
      for (std::uint32_t& length : changed.snap) {
        if (rng.chance(0.3)) length = static_cast<std::uint32_t>(rng.below(changed.order.size()));
      }
      const auto failure = evaluate(levels, {h, changed});
      const auto complaint = replay_snapshots(h, levels, changed);
      EXPECT_EQ(failure.has_value(), complaint.has_value())
          << "seed " << seed << " " << level.full_name() << "\n"
          << text << (failure ? describe(*failure, h) : *complaint);
      ++(failure ? bad : good);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(good, number / 10);
  EXPECT_GT(bad, number / 10);
}

// The server lets each transaction choose.
TEST(Points, DecideMixturesAsBruteForceDoes) {
  const std::uint64_t number = cases(300);
  for (std::uint64_t seed = 0; seed < number; ++seed) {
    Rng rng(seed + 1'000'000);
    const std::string text = random_statements(rng);
    const History h = jsonl_of(text);
    Assignment levels{.base = &level_of("pg-rc"), .own = std::vector<const Level*>(h.num_txns())};
    for (std::size_t t = 1; t < h.num_txns(); ++t) {
      if (rng.chance(0.5)) levels.own[t] = &level_of("pg-rr");
    }
    ASSERT_TRUE(check_assignable(levels).ok());
    Budget budget;
    const bool possible = brute_force(h, levels).has_value();
    const Verdict points = check_points(h, levels, budget);
    EXPECT_EQ(points.outcome, possible ? Outcome::Consistent : Outcome::Violated)
        << "seed " << seed << "\n"
        << text;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace isoscope
