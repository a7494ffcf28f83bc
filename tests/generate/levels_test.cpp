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
#include "check/strong/strong.h"
#include "check/weak/weak.h"
#include "generate/generate.h"
#include "generate/injection.h"
#include "verdict/confirm.h"

namespace isoscope {
namespace {

using enum StoreLevel;

Verdict verdict_at(const History& h, StoreLevel level) {
  Budget budget = Budget::seconds(60);
  switch (level) {
    case Rc:
      return check_weak(h, {.base = WeakLevel::Rc}, budget);
    case Ra:
      return check_weak(h, {.base = WeakLevel::Ra}, budget);
    case Cc:
      return check_weak(h, {.base = WeakLevel::Cc}, budget);
    case Pc:
      return check_strong(h, StrongLevel::Pc, budget);
    case Psi:
      return check_strong(h, StrongLevel::Psi, budget);
    case Si:
      return check_strong(h, StrongLevel::Si, budget);
    case Ser:
      return check_strong(h, StrongLevel::Ser, budget);
  }
  return Verdict::unknown("no such level");
}

bool holds(const History& h, StoreLevel level) {
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

// The levels right above a level, and all those that it implies, itself included.
const std::map<StoreLevel, std::vector<StoreLevel>> kAbove = {
    {Rc, {Ra}},      {Ra, {Cc}},  {Cc, {Pc, Psi}}, {Pc, {Psi, Si}},
    {Psi, {Pc, Si}}, {Si, {Ser}}, {Ser, {}}};
const std::map<StoreLevel, std::vector<StoreLevel>> kImplied = {
    {Rc, {Rc}},
    {Ra, {Rc, Ra}},
    {Cc, {Rc, Ra, Cc}},
    {Pc, {Rc, Ra, Cc, Pc}},
    {Psi, {Rc, Ra, Cc, Psi}},
    {Si, {Rc, Ra, Cc, Pc, Psi, Si}},
    {Ser, {Rc, Ra, Cc, Pc, Psi, Si, Ser}}};

class StoreAt : public ::testing::TestWithParam<StoreLevel> {};
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
    for (const StoreLevel above : kAbove.at(GetParam())) {
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
      for (const StoreLevel level : kImplied.at(GetParam())) {
        const bool breaks = std::ranges::count(injection.breaks, level) > 0;
        EXPECT_EQ(holds(h, level), !breaks)
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
    const auto level = LevelSet::built_in().find(name_of(injection.weakest_broken()));
    ASSERT_TRUE(level.ok());
    Budget budget = Budget::seconds(60);
    const CheckAnswer answer = check(h, **level, budget);
    EXPECT_EQ(answer.confirmation.complaint, "");
    ASSERT_TRUE(answer.verdict.violation.has_value()) << injection.name;
    EXPECT_EQ(common_name(answer.verdict.violation->anomaly), common_name(injection.anomaly))
        << "at " << name_of(injection.weakest_broken());
  }
}

}  // namespace
}  // namespace isoscope
