#include "generate/injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "check/level_table.h"
#include "formats/hist.h"
#include "spec/brute_force.h"
#include "spec/levels.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Injections, AreCalledByTheirCommonNames) {
  for (const Injection& injection : injections()) {
    std::string name(common_name(injection.anomaly));
    std::ranges::replace(name, ' ', '-');
    EXPECT_EQ(injection.name, name);
    EXPECT_EQ(find_injection(name), &injection);
  }
  EXPECT_THAT(injections(), SizeIs(15));
  EXPECT_EQ(find_injection("dirty-write"), nullptr);
  EXPECT_EQ(find_injection(""), nullptr);
}

TEST(Injections, NeedNoMoreSessionsThanAsked) {
  for (const Injection& injection : injections()) {
    const auto h = read_hist(injection.script);
    ASSERT_TRUE(h.ok()) << injection.name << ": " << render(h.error());
    EXPECT_LE(h->num_sessions(), kInjectionSessions) << injection.name;
  }
}

// By trying every witness, in both frameworks.
TEST(Injections, BreakExactlyTheLevelsOfTheTable) {
  for (const Injection& injection : injections()) {
    const auto h = read_hist(injection.script);
    ASSERT_TRUE(h.ok());
    BruteForce oracle(*h);
    for (const LogicRow& row : logic_rows()) {
      if (row.logic == Logic::True) continue;  // faults are no matter of a level
      for (const Framework framework : {Framework::Co, Framework::VisAr}) {
        const Level* axioms = reference_level(row.logic, framework);
        if (axioms == nullptr) continue;
        ASSERT_TRUE(is_small_enough(*h, framework)) << injection.name;
        const bool holds = h->faults().empty() && oracle.decide(*axioms).has_value();
        EXPECT_EQ(holds, !implies(row.logic, injection.weakest_broken))
            << injection.name << " at " << axioms->full_name();
      }
    }
  }
}

// The transactions that touch other keys than the plan's.
std::vector<PlainTxn> injected_txns(const HistoryPlan& plan,
                                    std::vector<std::vector<PlainOp>>& ops) {
  std::vector<PlainTxn> txns;
  const auto sizes = generate_txns(plan, [&](const PlainTxn& txn) {
    if (txn.ops.front().key < plan.keys) return;
    ops.emplace_back(txn.ops.begin(), txn.ops.end());
    txns.push_back(txn);
  });
  EXPECT_TRUE(sizes.ok());
  return txns;
}

TEST(Injector, ActsOutTheScriptOnFreshKeysValuesAndSessions) {
  const HistoryPlan plan{.sessions = 5, .txns = 100, .keys = 10, .inject = "long-fork"};
  std::vector<std::vector<PlainOp>> ops;
  const std::vector<PlainTxn> txns = injected_txns(plan, ops);
  ASSERT_THAT(txns, SizeIs(4));
  std::set<std::uint32_t> sessions;
  for (const PlainTxn& txn : txns) sessions.insert(txn.session);
  EXPECT_THAT(sessions, SizeIs(4));
  const std::int64_t one = ops[0][0].value;
  EXPECT_GT(one, 0);
  EXPECT_THAT(ops[0], ElementsAre(PlainOp{true, 10, one}));
  EXPECT_THAT(ops[1], ElementsAre(PlainOp{true, 11, one + 1}));
  EXPECT_THAT(ops[2], ElementsAre(PlainOp{false, 10, one}, PlainOp{false, 11, 0}));
  EXPECT_THAT(ops[3], ElementsAre(PlainOp{false, 10, 0}, PlainOp{false, 11, one + 1}));
}

TEST(Injector, ComesAtTheAskedPlaceOnTopOfTheAskedTransactions) {
  for (const Logic level : kStoreLevels) {
    for (const double at : {0.0, 0.3, 1.0}) {
      const HistoryPlan plan{.level = level,
                             .sessions = 8,
                             .txns = 100,
                             .keys = 10,
                             .inject = "lost-update",
                             .inject_at = at};
      std::vector<std::vector<PlainOp>> ops;
      const std::vector<PlainTxn> txns = injected_txns(plan, ops);
      ASSERT_THAT(txns, SizeIs(2));
      EXPECT_EQ(txns[0].number, 1 + static_cast<std::uint64_t>(at * 100)) << name_of(level);
      EXPECT_EQ(txns[1].number, txns[0].number + 1);
      const auto sizes = generate_txns(plan, [](const PlainTxn&) {});
      ASSERT_TRUE(sizes.ok());
      EXPECT_EQ(sizes->committed, 102U);
      EXPECT_TRUE(sizes->complete);
    }
  }
}

TEST(Injector, LogsTheAbortedWriterOfAnAbortedRead) {
  const HistoryPlan plan{.sessions = 4, .txns = 20, .inject = "aborted-read"};
  const auto h = generate_history(plan);
  ASSERT_TRUE(h.ok());
  ASSERT_THAT(h->faults(), SizeIs(1));
  EXPECT_EQ(h->faults()[0].kind, FaultKind::AbortedRead);
}

TEST(Injector, MakesExactlyTheInexcusableReadThatItIsCalledAfter) {
  for (const Injection& injection : injections()) {
    for (const Logic level : kStoreLevels) {
      HistoryPlan plan{.level = level, .sessions = 6, .txns = 50, .keys = 10};
      plan.inject = injection.name;
      const auto h = generate_history(plan);
      ASSERT_TRUE(h.ok()) << render(h.error());
      const bool is_fault = injection.anomaly < Anomaly::IncompatibleOrder;
      ASSERT_THAT(h->faults(), SizeIs(is_fault ? 1 : 0)) << injection.name;
      if (is_fault) {
        EXPECT_EQ(anomaly_of(h->faults()[0].kind), injection.anomaly);
      }
    }
  }
}

}  // namespace
}  // namespace isoscope
