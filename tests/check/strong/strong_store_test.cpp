// Histories of simulated stores, some hundred to some thousand transactions: consistent with the
// store's level by construction, and violated where an anomaly was injected.
#include <gtest/gtest.h>

#include "check/level_table.h"
#include "check/strong/reference.h"
#include "check/strong/strong.h"
#include "generate/generate.h"
#include "generate/injection.h"

namespace isoscope {
namespace {

// Does every history that the store makes satisfy the level?
bool implies(Logic store, StrongLevel level) { return implies(store, logic_of(level)); }

bool breaks(const Injection& injection, StrongLevel level) {
  return implies(logic_of(level), injection.weakest_broken);
}

History make(const HistoryPlan& plan) {
  auto h = generate_history(plan);
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

class StrongOnStores : public testing::TestWithParam<StrongLevel> {
 protected:
  Verdict check(const History& h) {
    Budget budget = Budget::seconds(100);
    return check_strong(h, GetParam(), budget);
  }
};

TEST_P(StrongOnStores, AcceptsWhatTheStoreGuarantees) {
  for (const Logic store : {Logic::Ser, Logic::Si, Logic::Psi, Logic::Pc}) {
    for (const KeyDistribution keys : {KeyDistribution::Uniform, KeyDistribution::Zipf}) {
      for (const TxnShape shape : kTxnShapes) {
        SCOPED_TRACE(testing::Message()
                     << name_of(store) << " " << name_of(keys) << " " << name_of(shape));
        const History h = make({.level = store,
                                .sessions = 12,
                                .txns = 400,
                                .ops = 6,
                                .keys = 100,
                                .distribution = keys,
                                .shape = shape,
                                .log_aborted = true,
                                .seed = 5});
        const Verdict verdict = check(h);
        EXPECT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
        if (implies(store, GetParam())) {
          EXPECT_EQ(verdict.outcome, Outcome::Consistent);
        }
      }
    }
  }
}

// Many sessions, few reads: much is left open.
TEST_P(StrongOnStores, ChoosesAmongManyWrites) {
  const History h = make({.level = Logic::Ser,
                          .sessions = 100,
                          .txns = 1000,
                          .ops = 8,
                          .keys = 300,
                          .read_share = 0.2,
                          .seed = 3});
  const Verdict verdict = check(h);
  ASSERT_EQ(verdict.outcome, Outcome::Consistent);
  EXPECT_GT(verdict.stats.get("choices").value_or(0), 100);
  EXPECT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
}

// Every transaction in a session of its own.
TEST_P(StrongOnStores, CopesWithAsManySessionsAsTransactions) {
  const History h =
      make({.level = Logic::Ser, .sessions = 600, .txns = 600, .ops = 5, .keys = 200, .seed = 8});
  const Verdict verdict = check(h);
  EXPECT_EQ(verdict.outcome, Outcome::Consistent);
  EXPECT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
}

TEST_P(StrongOnStores, FindsInjectedAnomalies) {
  for (const Injection& injection : injections()) {
    for (const double at : {0.1, 0.9}) {
      SCOPED_TRACE(testing::Message() << injection.name << " at " << at);
      const History h = make({.level = Logic::Ser,
                              .sessions = 20,
                              .txns = 800,
                              .ops = 6,
                              .keys = 500,
                              .inject = std::string(injection.name),
                              .inject_at = at,
                              .seed = 9});
      if (!h.faults().empty()) continue;  // no cycle but a read that nothing excuses
      const Verdict verdict = check(h);
      EXPECT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
      EXPECT_EQ(verdict.outcome,
                breaks(injection, GetParam()) ? Outcome::Violated : Outcome::Consistent);
      if (verdict.outcome != Outcome::Violated) continue;
      EXPECT_FALSE(verdict.violation->cycle.empty());
      EXPECT_LE(verdict.violation->cycle.size(), 4U);
    }
  }
}

// A store of a weaker level breaks the stronger one somewhere; wherever that is, it can be told.
TEST_P(StrongOnStores, TellsWhereAWeakerStoreFails) {
  for (const Logic store : {Logic::Cc, Logic::Ra, Logic::Rc}) {
    SCOPED_TRACE(name_of(store));
    const History h = make({.level = store,
                            .sessions = 16,
                            .txns = 500,
                            .ops = 6,
                            .keys = 60,
                            .distribution = KeyDistribution::Zipf,
                            .seed = 4});
    const Verdict verdict = check(h);
    EXPECT_EQ(verdict.outcome, Outcome::Violated);
    EXPECT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
    EXPECT_FALSE(verdict.violation->cycle.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, StrongOnStores, testing::ValuesIn(kStrongLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace isoscope
