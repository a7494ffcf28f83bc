// A thousand to three thousand transactions: the engines made for a level against the grounded text
// of the level, which shares no algorithm with them.
//
// How far grounding reaches here: 5,000 transactions in some seconds a level, but at psi, whose
// closure of vis is cubic, 300 transactions of four sessions.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "check/check.h"
#include "check/ground/ground.h"
#include "generate/generate.h"
#include "generate/injection.h"

namespace isoscope {
namespace {

History make(const HistoryPlan& plan) {
  auto h = generate_history(plan);
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

// Decides both ways; the common outcome.
Outcome agreed_outcome(const History& h, std::string_view name) {
  SCOPED_TRACE(testing::Message() << name << ", " << h.num_txns() << " transactions");
  const Level& level = **LevelSet::built_in().find(name);
  Budget budget = Budget::seconds(600);
  const CheckAnswer best = check(h, level, budget);
  GroundOptions options;
  options.max_transactions = 6'000;
  options.core_seconds = 0;  // its outcome is what counts
  const Verdict ground = check_ground(h, {&level, {}}, budget, options);
  EXPECT_NE(best.verdict.outcome, Outcome::Unknown) << best.verdict.limit;
  EXPECT_EQ(ground.outcome, best.verdict.outcome) << ground.limit;
  EXPECT_TRUE(best.confirmation.holds()) << best.confirmation.complaint;
  return ground.outcome;
}

constexpr Logic kStoreLevels[] = {Logic::Rc, Logic::Ra, Logic::Cc,
                                  Logic::Pc, Logic::Si, Logic::Ser};

// Of the levels from the weakest to the strongest, those fail that the anomaly breaks.
class AnomalyAtScale : public testing::TestWithParam<std::string_view> {};

TEST_P(AnomalyAtScale, IsJudgedAsTheTextOfTheLevelSays) {
  const Injection& injection = *find_injection(GetParam());
  for (const std::uint64_t seed : {1, 2}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    HistoryPlan plan{.level = Logic::Ser,
                     .sessions = 12,
                     .txns = 1000,
                     .ops = 4,
                     .keys = 300,
                     .read_share = seed == 1 ? 0.7 : 0.4,
                     .inject = std::string(GetParam()),
                     .inject_at = seed == 1 ? 0.9 : 0.2,
                     .seed = seed};
    const History h = make(plan);
    for (const Logic level : kStoreLevels) {
      EXPECT_EQ(agreed_outcome(h, name_of(level)),
                implies(level, injection.weakest_broken) ? Outcome::Violated : Outcome::Consistent)
          << name_of(level);
    }
    EXPECT_EQ(agreed_outcome(h, "ua"), implies(Logic::Ua, injection.weakest_broken)
                                           ? Outcome::Violated
                                           : Outcome::Consistent);
    plan.txns = 300;
    plan.sessions = 4;
    plan.keys = 90;
    EXPECT_EQ(agreed_outcome(make(plan), "psi"), implies(Logic::Psi, injection.weakest_broken)
                                                     ? Outcome::Violated
                                                     : Outcome::Consistent);
  }
}

std::vector<std::string_view> injection_names() {
  std::vector<std::string_view> names;
  for (const Injection& injection : injections()) names.push_back(injection.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, AnomalyAtScale, testing::ValuesIn(injection_names()),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Contended enough that weak stores show what they are; nobody knows the answers beforehand, but
// that a store keeps its own level.
class StoreAtScale : public testing::TestWithParam<Logic> {};

TEST_P(StoreAtScale, IsJudgedAsTheTextsOfTheLevelsSay) {
  for (const std::uint64_t seed : {1, 2}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    HistoryPlan plan{.level = GetParam(),
                     .sessions = 12,
                     .txns = 1000,
                     .ops = 4,
                     .keys = 120,
                     .read_share = 0.6,
                     .distribution = seed == 1 ? KeyDistribution::Zipf : KeyDistribution::Uniform,
                     .seed = seed};
    const History h = make(plan);
    for (const Logic level : kStoreLevels) {
      const Outcome outcome = agreed_outcome(h, name_of(level));
      if (level == GetParam()) {
        EXPECT_EQ(outcome, Outcome::Consistent);
      }
    }
    agreed_outcome(h, "ua");
    plan.txns = 300;
    plan.sessions = 4;
    agreed_outcome(make(plan), "psi");
  }
}

INSTANTIATE_TEST_SUITE_P(All, StoreAtScale, testing::ValuesIn(kStoreLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(ThreeThousandTransactions, AreJudgedAsTheTextsOfTheLevelsSay) {
  const History h = make({.level = Logic::Si,
                          .sessions = 10,
                          .txns = 3000,
                          .ops = 4,
                          .keys = 1000,
                          .read_share = 0.7,
                          .inject = "long-fork",
                          .seed = 3});
  for (const std::string_view level : {"cc", "ua"})
    EXPECT_EQ(agreed_outcome(h, level), Outcome::Consistent) << level;
  for (const std::string_view level : {"pc", "si", "ser"})
    EXPECT_EQ(agreed_outcome(h, level), Outcome::Violated) << level;
}

}  // namespace
}  // namespace isoscope
