// The grounded decision against brute force: every level, mixtures, and random formulas.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "check/ground/comparison.h"
#include "check/ground/random_level.h"
#include "check/ground/user_levels.h"

namespace isoscope {
namespace {

RandomShape shape_for(Framework framework, std::uint64_t seed) {
  RandomShape shape;
  shape.max_txns = framework == Framework::Co ? 5 : framework == Framework::VisAr ? 4 : 3;
  shape.keys = seed % 3 == 0 ? 3 : 2;
  shape.max_ops = 2 + static_cast<int>(seed % 3);
  shape.stray = seed % 2 == 0 ? 0.35 : 0.15;
  shape.aborted = 0.1;
  return shape;
}

class EveryLevel : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryLevel, AgreesWithBruteForce) {
  const Level& level = *levels_with_users().all()[GetParam()];
  int disagreements = 0;
  // All snapshots of all statements are many; tests/check/points has more of these.
  const bool has_snapshots = level.framework == Framework::CoSnap;
  const std::uint64_t seeds = has_snapshots ? 300 : 3000;
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 0; seed < seeds && disagreements < 3; ++seed) {
    Rng rng(seed * 1000 + GetParam());
    const SmallHistory small = random_small(rng, shape_for(level.framework, seed));
    if (has_snapshots && !is_small_enough(build(small), level.framework)) continue;
    ++seen;
    const auto same = [&](const History&) { return Assignment{&level, {}}; };
    if (!agrees(small, seed, same, kStyles[seed % 2])) ++disagreements;
  }
  EXPECT_GE(seen, seeds / 4);
}

std::string level_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = levels_with_users().all()[info.param]->full_name();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(GroundFuzz, EveryLevel,
                         testing::Range(std::size_t{0}, levels_with_users().all().size()),
                         level_name);

TEST(GroundFuzz, AgreesOnMixturesOverCo) {
  int disagreements = 0;
  for (std::uint64_t seed = 0; seed < 3000 && disagreements < 3; ++seed) {
    Rng rng(seed);
    RandomShape shape = shape_for(Framework::Co, seed);
    shape.levels = {"true", "rc", "ra", "cc", "pc", "si", "ser", "update-ser"};
    const SmallHistory small = random_small(rng, shape);
    const Level& base =
        *LevelSet::built_in().lookup(shape.levels[seed % shape.levels.size()], Framework::Co);
    const auto own = [&](const History& h) { return own_levels(h, base, Framework::Co); };
    if (!agrees(small, seed, own, kStyles[seed % 2])) ++disagreements;
  }
}

TEST(GroundFuzz, AgreesOnMixturesOverVis) {
  int disagreements = 0;
  for (std::uint64_t seed = 0; seed < 3000 && disagreements < 3; ++seed) {
    Rng rng(seed);
    RandomShape shape = shape_for(Framework::VisAr, seed);
    shape.levels = {"ra", "cc", "pc", "ua", "psi", "si", "ser", "update-ser", "nlu", "ec"};
    const SmallHistory small = random_small(rng, shape);
    const Level& base =
        *LevelSet::built_in().lookup(shape.levels[seed % shape.levels.size()], Framework::VisAr);
    const auto own = [&](const History& h) { return own_levels(h, base, Framework::VisAr); };
    if (!agrees(small, seed, own, kStyles[seed % 2])) ++disagreements;
  }
}

// Lists with known version orders, and transactions of unknown outcome.
History random_lists(Rng& rng) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId list = b.key("list");
  const KeyId other = b.key("other");
  std::vector<Value> appended;
  const std::size_t txns = 1 + rng.below(4);
  std::int64_t next = 0;
  for (std::uint32_t line = 1; line <= txns; ++line) {
    const double kind = rng.uniform();
    const TxnId t = b.begin(b.session(static_cast<std::int64_t>(rng.below(3))),
                            kind < 0.7   ? TxnStatus::Committed
                            : kind < 0.9 ? TxnStatus::Unknown
                                         : TxnStatus::Aborted,
                            {line, 1});
    bool wrote = false;
    for (std::uint32_t column = 2; column < 2 + 1 + rng.below(3); ++column) {
      switch (rng.below(4)) {
        case 0:
          if (!wrote) appended.push_back(Value::of(++next));
          if (!wrote) b.append(t, list, appended.back(), {line, column});
          wrote = true;
          break;
        case 1: b.write(t, other, Value::of(++next), {line, column}); break;
        case 2:
          if (!wrote) {
            const std::size_t shown = rng.below(appended.size() + 1);
            b.read_list(t, list, std::span(appended).first(shown), {line, column});
          }
          break;
        default: b.read(t, other, Value::nil(), {line, column});
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

TEST(GroundFuzz, AgreesOnListsAndUnknownOutcomes) {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Rng rng(seed);
    const History h = random_lists(rng);
    BruteForce oracle(h);
    for (const auto& level : levels_with_users().all()) {
      if (level->uses_real_time) continue;  // there are no times
      Budget budget;
      const Verdict verdict = check_ground(h, {level.get(), {}}, budget, kStyles[seed % 2]);
      const bool consistent = oracle.decide(*level).has_value();
      ASSERT_EQ(verdict.outcome, consistent ? Outcome::Consistent : Outcome::Violated)
          << "seed " << seed << " level " << level->full_name();
      if (consistent) {
        const auto failure = evaluate({level.get(), {}}, {h, *verdict.witness});
        ASSERT_FALSE(failure.has_value()) << describe(*failure, h);
        continue;
      }
      ++violated;
      if (!h.faults().empty()) continue;
      const History part = restrict_to(h, verdict.violation->core);
      EXPECT_FALSE(BruteForce(part).decide(*level).has_value())
          << "seed " << seed << " level " << level->full_name();
    }
  }
  EXPECT_GT(violated, 1000);
}

void compare_on_random_levels(Framework framework, std::uint64_t seeds) {
  int disagreements = 0;
  int consistent = 0;
  int violated = 0;
  for (std::uint64_t seed = 0; seed < seeds && disagreements < 3; ++seed) {
    Rng rng(seed);
    LevelSet set;
    const std::string text = RandomLevel(rng, framework).text();
    const auto added = set.add(text, "random.level");
    ASSERT_TRUE(added.ok()) << render(added.error());
    const Level& level = *set.all().front();
    RandomShape shape = shape_for(framework, seed);
    if (framework == Framework::Co) shape.max_txns = 4;
    for (int i = 0; i < 3; ++i) {
      const SmallHistory small = random_small(rng, shape);
      const auto same = [&](const History&) { return Assignment{&level, {}}; };
      if (!agrees(small, seed, same, kStyles[(seed + static_cast<std::uint64_t>(i)) % 2])) {
        ++disagreements;
        ADD_FAILURE() << text;
      }
      const History h = build(small);
      Budget budget;
      const Outcome outcome = check_ground(h, {&level, {}}, budget).outcome;
      consistent += outcome == Outcome::Consistent ? 1 : 0;
      violated += outcome == Outcome::Violated ? 1 : 0;
    }
  }
  // A comparison in which everything comes out the same way would prove little.
  EXPECT_GT(consistent, violated / 4);
  EXPECT_GT(violated, consistent / 4);
}

TEST(GroundFuzz, AgreesOnRandomFormulasOverCo) { compare_on_random_levels(Framework::Co, 6000); }
TEST(GroundFuzz, AgreesOnRandomFormulasOverVis) {
  compare_on_random_levels(Framework::VisAr, 4000);
}

}  // namespace
}  // namespace isoscope
