#include "check/weak/weak.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/weak/cycles.h"
#include "check/weak/reference.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;

// A path or a cycle in words: "T2 co(x) T1".
std::vector<std::string> told(const History& h, const std::vector<Edge>& edges) {
  std::vector<std::string> words;
  for (const Edge& edge : edges) {
    const std::string key = edge.key.is_none() ? "" : "(" + h.name(edge.key) + ")";
    words.push_back(
        fmt::format("{} {}{} {}", h.name(edge.from), name_of(edge.kind), key, h.name(edge.to)));
  }
  return words;
}

Verdict check(const History& h, const WeakAssignment& levels) {
  expect_agreement(h, levels);
  Budget budget;
  return check_weak(h, levels, budget);
}

// The levels at which a history is violated: "ra cc".
std::string violated_at(const History& h) {
  std::string levels;
  const std::pair<WeakLevel, const char*> all[] = {{WeakLevel::True, "true"},
                                                   {WeakLevel::Rc, "rc"},
                                                   {WeakLevel::Ra, "ra"},
                                                   {WeakLevel::Cc, "cc"}};
  for (const auto& [level, name] : all) {
    if (check(h, {.base = level}).outcome == Outcome::Consistent) continue;
    if (!levels.empty()) levels += ' ';
    levels += name;
  }
  return levels;
}

TEST(CheckWeak, JudgesTheEmptyHistory) { EXPECT_EQ(violated_at(history_of("")), ""); }

TEST(CheckWeak, AcceptsLongForkLostUpdateAndWriteSkew) {
  EXPECT_EQ(
      violated_at(history_of("s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)] s4: [r(y,1) r(x,0)]")),
      "");
  EXPECT_EQ(violated_at(history_of("s1: [r(x,0) w(x,1)] s2: [r(x,0) w(x,2)]")), "");
  EXPECT_EQ(violated_at(history_of("s1: [r(x,0) w(y,1)] s2: [r(y,0) w(x,1)]")), "");
}

TEST(CheckWeak, RejectsACycleOfWrAtEveryLevel) {
  const History h = history_of("s1: [r(y,1) w(x,1)] s2: [r(x,1) w(y,1)]");
  EXPECT_EQ(violated_at(h), "true rc ra cc");
  EXPECT_THAT(told(h, check(h, {.base = WeakLevel::Cc}).violation->cycle),
              ElementsAre("T1 wr(x) T2", "T2 wr(y) T1"));
}

TEST(CheckWeak, RejectsACycleOfSoAndWrAtEveryLevel) {
  const History h = history_of("s1: [r(x,1)] [w(y,1)] s2: [r(y,1)] [w(x,1)]");
  EXPECT_EQ(violated_at(h), "true rc ra cc");
  EXPECT_THAT(told(h, check(h, {.base = WeakLevel::True}).violation->cycle),
              ElementsAre("T1 so T2", "T2 wr(y) T3", "T3 so T4", "T4 wr(x) T1"));
}

TEST(CheckWeak, PrefersACycleOfFactsToAShorterForcedOne) {
  // T5 forgets its own session's write at once, but T1 to T4 depend on their own future.
  const History h = history_of("s1: [r(x,1)] [w(y,1)] s2: [r(y,1)] [w(x,1)] s3: [w(z,1)] [r(z,0)]");
  EXPECT_EQ(check(h, {.base = WeakLevel::Ra}).violation->cycle.size(), 4U);
}

TEST(CheckWeak, RejectsNonMonotonicReads) {
  const History h = history_of("s1: [w(x,1) w(y,1)] [w(x,2) w(y,2)] s2: [r(x,2) r(y,1)]");
  EXPECT_EQ(violated_at(h), "rc ra cc");
  const auto cycle = check(h, {.base = WeakLevel::Rc}).violation->cycle;
  EXPECT_THAT(told(h, cycle), ElementsAre("T1 so T2", "T2 co(y) T1"));
  EXPECT_THAT(told(h, cycle[1].path), ElementsAre("T2 wr(x) T3"));
}

TEST(CheckWeak, LooksAtTheOrderOfReadsAtRcOnly) {
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1) w(y,1)] [w(x,2) w(y,2)] s2: [r(y,1) r(x,2)]")),
            "ra cc");
}

TEST(CheckWeak, RejectsReadsThatGoBackAndForth) {
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1) r(x,2)]")), "ra cc");
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1) r(x,2) r(x,1)]")),
            "rc ra cc");
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)] s2: [r(x,0) r(x,1)]")), "ra cc");
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)] s2: [r(x,1) r(x,0)]")), "rc ra cc");
}

TEST(CheckWeak, JoinsReadersOfDifferentKeysToACycle) {
  // T3 wants T1 before T2, T4 wants T2 before T1.
  const History h =
      history_of("s1: [w(x,1) w(y,1)] s2: [w(x,2) w(y,2)] s3: [r(x,1) r(y,2)] s4: [r(x,2) r(y,1)]");
  EXPECT_EQ(violated_at(h), "rc ra cc");
  EXPECT_THAT(told(h, check(h, {.base = WeakLevel::Rc}).violation->cycle),
              ElementsAre("T1 co(y) T2", "T2 co(y) T1"));
}

TEST(CheckWeak, RejectsFracturedReads) {
  const History h = history_of("s1: [w(x,1) w(y,1)] s2: [r(x,0) r(y,1)]");
  EXPECT_EQ(violated_at(h), "ra cc");
  const auto cycle = check(h, {.base = WeakLevel::Ra}).violation->cycle;
  EXPECT_THAT(told(h, cycle), ElementsAre("T0 so T1", "T1 co(x) T0"));
  EXPECT_THAT(told(h, cycle[1].path), ElementsAre("T1 wr(y) T2"));
}

TEST(CheckWeak, RejectsASessionThatForgetsItsOwnWrite) {
  const History h = history_of("s1: [w(x,1)] [r(x,0)]");
  EXPECT_EQ(violated_at(h), "ra cc");
  const auto cycle = check(h, {.base = WeakLevel::Ra}).violation->cycle;
  EXPECT_THAT(told(h, cycle), ElementsAre("T0 so T1", "T1 co(x) T0"));
  EXPECT_THAT(told(h, cycle[1].path), ElementsAre("T1 so T2"));
}

TEST(CheckWeak, RejectsAnEffectWithoutItsCause) {
  const History h = history_of("s1: [w(x,1)] [w(x,2)] s2: [r(x,2) w(y,1)] s3: [r(y,1)] [r(x,1)]");
  EXPECT_EQ(violated_at(h), "cc");
  const auto cycle = check(h, {.base = WeakLevel::Cc}).violation->cycle;
  EXPECT_THAT(told(h, cycle), ElementsAre("T1 so T2", "T2 co(x) T1"));
  EXPECT_THAT(told(h, cycle[1].path), ElementsAre("T2 wr(x) T3", "T3 wr(y) T4", "T4 so T5"));
}

TEST(CheckWeak, ShowsARunAlongASessionAsOneEdge) {
  const History h =
      history_of("s1: [w(x,1)] [w(z,1)] [w(z,2)] [w(x,2) w(y,2)] s2: [r(y,2) r(x,1)]");
  EXPECT_THAT(told(h, check(h, {.base = WeakLevel::Rc}).violation->cycle),
              ElementsAre("T1 so T4", "T4 co(x) T1"));
}

TEST(CheckWeak, TakesTheStraightEdgeWhereDecidingTookACorner) {
  // T4 sees T2 and T3 of one session, so deciding looks at T3 only; but T2 itself read from T1.
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1) w(x,2)] [w(x,3)] [r(x,1)]");
  EXPECT_THAT(told(h, check(h, {.base = WeakLevel::Ra}).violation->cycle),
              ElementsAre("T1 wr(x) T2", "T2 co(x) T1"));
}

TEST(CheckWeak, LetsAbortedTransactionsReadButNotWrite) {
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)] [r(x,0)]!")), "ra cc");
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)]! [r(x,0)]")), "");
}

TEST(CheckWeak, LeavesOutWhatMayNotHaveHappened) {
  const History absent = history_of("s1: [w(x,1)]? [r(x,0)]");
  EXPECT_EQ(violated_at(absent), "");
  EXPECT_THAT(check(absent, {.base = WeakLevel::Cc}).witness->order,
              ElementsAre(kInitialTxn, TxnId{2}));
  EXPECT_EQ(violated_at(history_of("s1: [w(x,1)]? [r(x,0)] s2: [r(x,1)]")), "ra cc");
}

TEST(CheckWeak, HoldsEachReaderToItsOwnLevel) {
  // Two fractured readers of one history.
  const History h = history_of("s1: [w(x,1) w(y,1)] s2: [r(x,0) r(y,1)] s3: [r(x,0) r(y,1)]");
  WeakAssignment levels{.base = WeakLevel::Rc,
                        .own = {WeakLevel::Rc, WeakLevel::Rc, WeakLevel::Rc, WeakLevel::True}};
  EXPECT_EQ(check(h, levels).outcome, Outcome::Consistent);
  levels.own[3] = WeakLevel::Ra;
  EXPECT_EQ(h.txn(check(h, levels).violation->cycle[1].read), TxnId{3});
  levels.own[2] = WeakLevel::Cc;
  levels.own[3] = WeakLevel::Rc;
  EXPECT_EQ(h.txn(check(h, levels).violation->cycle[1].read), TxnId{2});
}

TEST(CheckWeak, FollowsTheFileWhereItMay) {
  const History h = history_of("s1: [r(x,2)] s2: [w(y,1)] s3: [w(x,2)] s4: [w(y,2)]");
  EXPECT_THAT(check(h, {.base = WeakLevel::Cc}).witness->order,
              ElementsAre(kInitialTxn, TxnId{3}, TxnId{1}, TxnId{2}, TxnId{4}));
}

TEST(CheckWeak, SaysThatItRanOutOfTime) {
  const History h = history_of("s1: [w(x,1)] [r(x,0)]");
  Budget budget = Budget::seconds(0);
  ASSERT_TRUE(budget.expired_now());
  for (WeakLevel level : {WeakLevel::True, WeakLevel::Rc, WeakLevel::Ra, WeakLevel::Cc}) {
    const Verdict verdict = check_weak(h, {.base = level}, budget);
    EXPECT_EQ(verdict.outcome, Outcome::Unknown);
    EXPECT_EQ(verdict.limit, "the time limit");
  }
}

TEST(ChooseCycles, IsContentWithALongerOneWhenTimeIsUp) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1) w(x,2)] [w(x,3)] [r(x,1)]");
  const WeakAssignment levels{.base = WeakLevel::Cc};
  const WeakFacts facts(h, levels);
  // As deciding sees it: T3 is forced before T1, and nothing is said about T2.
  const Before before(h.num_txns(), [&](auto&& add) {
    add_facts(facts, add);
    add(1, 3);
  });
  Budget none = Budget::seconds(0);
  ASSERT_TRUE(none.expired_now());
  const ChosenCycles hurried = choose_cycles(facts, before, none);
  EXPECT_THAT(hurried.cycles, ElementsAre(ElementsAre(TxnId{1}, TxnId{2}, TxnId{3})));
  EXPECT_FALSE(hurried.are_shortest);
  Budget budget;
  EXPECT_THAT(choose_cycles(facts, before, budget).cycles,
              ElementsAre(ElementsAre(TxnId{1}, TxnId{2})));
}

TEST(CheckWeak, ShowsTheCycleThatIsEasiestToExplain) {
  // s1 to s3 are one causality violation with a long way, s4 to s6 one with a shorter way.
  const History h = history_of(
      "s1: [w(x,1)] [w(x,2)] s2: [r(x,2) w(y,1)] s3: [r(y,1)] [r(x,1)]"
      "s4: [w(a,1)] [w(a,2)] s5: [r(a,2) w(b,1)] s6: [r(b,1) r(a,1)]");
  const auto cycle = check(h, {.base = WeakLevel::Cc}).violation->cycle;
  EXPECT_THAT(told(h, cycle), ElementsAre("T6 so T7", "T7 co(a) T6"));
  EXPECT_THAT(told(h, cycle[1].path), ElementsAre("T7 wr(a) T8", "T8 wr(b) T9"));
}

}  // namespace
}  // namespace isoscope
