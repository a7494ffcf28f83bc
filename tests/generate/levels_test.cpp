// The stores keep the promises of generate/generate.h: their histories satisfy their level and,
// under contention, not the next one up; an injected anomaly breaks what its table entry says.
// The judges are the checkers, which share no code with the stores.
#include "spec/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check/check.h"
#include "check/level_table.h"
#include "check/strong/strong.h"
#include "check/weak/weak.h"
#include "generate/generate.h"
#include "generate/injection.h"
#include "verdict/confirm.h"

namespace isoscope {
namespace {

using enum Logic;

Verdict verdict_at(const History& h, Logic level) {
  Budget budget = Budget::seconds(60);
  if (const auto weak = weak_level(level)) return check_weak(h, {.base = *weak}, budget);
  return check_strong(h, *strong_level(level), budget);
}

bool holds(const History& h, Logic level) {
  if (!h.faults().empty()) return false;
  const Verdict verdict = verdict_at(h, level);
  EXPECT_NE(verdict.outcome, Outcome::Unknown) << verdict.limit;
  const auto axioms = LevelSet::built_in().find(name_of(level));
  EXPECT_EQ(confirm(h, {.base = *axioms, .own = {}}, verdict).complaint, "") << name_of(level);
  return verdict.outcome == Outcome::Consistent;
}

History history_of(const HistoryPlan& plan) {
  auto h = generate_history(plan);
  EXPECT_TRUE(h.ok());
  return std::move(*h);
}

// The levels right above a level.
const std::map<Logic, std::vector<Logic>> kAbove = {
    {Rc, {Ra}},      {Ra, {Cc}},  {Cc, {Pc, Psi}}, {Pc, {Psi, Si}},
    {Psi, {Pc, Si}}, {Si, {Ser}}, {Ser, {}}};
class StoreAt : public ::testing::TestWithParam<Logic> {};
INSTANTIATE_TEST_SUITE_P(Generate, StoreAt, ::testing::ValuesIn(kStoreLevels),
                         [](const auto& at) { return std::string(name_of(at.param)); });

TEST_P(StoreAt, SatisfiesItsLevelInEveryWorkload) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const TxnShape shape : kTxnShapes) {
      for (const KeyDistribution distribution : kKeyDistributions) {
        HistoryPlan plan{.level = GetParam(),
                         .sessions = 2 + static_cast<std::uint32_t>(seed),
                         .txns = 200,
                         .ops = 5,
                         .vary = seed % 2 == 0,
                         .keys = 30 * static_cast<std::uint32_t>(seed),
                         .distribution = distribution,
                         .shape = shape,
                         .replicas = 2 + static_cast<std::uint32_t>(seed) % 4,
                         .log_aborted = seed % 3 == 0,
                         .seed = seed};
        EXPECT_TRUE(holds(history_of(plan), GetParam()))
            << "seed " << seed << ", " << name_of(shape) << ", " << name_of(distribution);
      }
    }
  }
}

TEST_P(StoreAt, SatisfiesItsLevelAtLength) {
  const HistoryPlan plan{.level = GetParam(), .sessions = 20, .txns = 2000, .keys = 2000};
  EXPECT_TRUE(holds(history_of(plan), GetParam()));
}

TEST_P(StoreAt, FailsTheNextLevelUnderContention) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const HistoryPlan plan{
        .level = GetParam(), .sessions = 8, .txns = 500, .ops = 4, .keys = 15, .seed = seed};
    const History h = history_of(plan);
    for (const Logic above : kAbove.at(GetParam())) {
      EXPECT_FALSE(holds(h, above)) << name_of(above) << ", seed " << seed;
    }
  }
}

TEST_P(StoreAt, KeepsAllOtherLevelsWhenAnAnomalyIsInjected) {
  for (const Injection& injection : injections()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      HistoryPlan plan{.level = GetParam(),
                       .sessions = 8,
                       .txns = 200,
                       .ops = 5,
                       .keys = 60,
                       .log_aborted = seed == 2,
                       .inject_at = 0.25 * static_cast<double>(seed + 1),
                       .seed = seed};
      plan.inject = injection.name;
      const History h = history_of(plan);
      for (const Logic level : kStoreLevels) {
        if (!implies(GetParam(), level)) continue;
        EXPECT_EQ(holds(h, level), !implies(level, injection.weakest_broken))
            << injection.name << " at " << name_of(level) << ", seed " << seed;
      }
    }
  }
}

// What is injected under a name is found under that name.
TEST(Injections, AreFoundByName) {
  for (const Injection& injection : injections()) {
    HistoryPlan plan{.sessions = 8, .txns = 300, .keys = 100};
    plan.inject = injection.name;
    const History h = history_of(plan);
    const auto level = LevelSet::built_in().find(name_of(injection.weakest_broken));
    ASSERT_TRUE(level.ok());
    Budget budget = Budget::seconds(60);
    const CheckAnswer answer = check(h, **level, budget);
    EXPECT_EQ(answer.confirmation.complaint, "");
    ASSERT_TRUE(answer.verdict.violation.has_value()) << injection.name;
    EXPECT_EQ(common_name(answer.verdict.violation->anomaly), common_name(injection.anomaly))
        << "at " << name_of(injection.weakest_broken);
  }
}

}  // namespace
}  // namespace isoscope
