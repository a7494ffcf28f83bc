#include "synth/synth.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "formats/hist.h"
#include "spec/levels.h"
#include "support/synth_problems.h"

namespace isoscope {
namespace {

const Level& level(std::string_view name) { return **LevelSet::built_in().find(name); }

SynthAnswer answer(const SynthQuery& query) {
  Budget budget = Budget::seconds(60);
  auto result = synthesize(query, budget);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : render(result.error()));
  return result.ok() ? *std::move(result) : SynthAnswer{};
}

SynthOutcome outcome(std::string_view allow, std::string_view forbid, Scope scope) {
  return answer({.allow = {&level(allow)}, .forbid = {&level(forbid)}, .scope = scope}).outcome;
}

std::string text_of(const History& h) {
  std::string text;
  EXPECT_TRUE(write_hist(h, [&](std::string_view part) { text += part; }).ok());
  return text;
}

TEST(Synthesize, FindsHistoriesThatAreNotEvenReadAtomicOverVis) {
  const Scope scope{.txns = 2, .keys = 1, .values = 2, .blind_writes = false};
  for (const char* forbid : {"ra@vis", "cc@vis", "ser@vis"})
    EXPECT_EQ(outcome("plume-ra", forbid, scope), SynthOutcome::Found) << forbid;
  for (const char* forbid : {"ra@vis", "update-ser@vis"})
    EXPECT_EQ(outcome("update-ser", forbid, scope), SynthOutcome::Found) << forbid;
  const SynthAnswer found =
      answer({.allow = {&level("plume-ra")}, .forbid = {&level("ra@vis")}, .scope = scope});
  ASSERT_TRUE(found.found.has_value());
  EXPECT_EQ(text_of(found.found->history), "s1: [r(x,0) w(x,1)]  [r(x,0)]\n");
}

TEST(Synthesize, NeedsBlindWritesForPcAndUaWithoutSi) {
  SynthQuery query{.allow = {&level("pc@vis"), &level("ua")},
                   .forbid = {&level("si@vis")},
                   .scope = {.txns = 3, .keys = 2, .values = 3}};
  EXPECT_EQ(answer(query).outcome, SynthOutcome::Found);
  query.scope = {.txns = 5, .keys = 4, .values = 0, .blind_writes = false};
  EXPECT_EQ(answer(query).outcome, SynthOutcome::None);
}

TEST(Synthesize, GivesOneWitnessForEachAllowedLevel) {
  const SynthAnswer found = answer({.allow = {&level("si@vis"), &level("update-ser")},
                                    .forbid = {&level("ser")},
                                    .scope = {.txns = 3, .keys = 2, .values = 2}});
  ASSERT_TRUE(found.found.has_value());
  ASSERT_EQ(found.found->witnesses.size(), 2U);
  EXPECT_EQ(found.found->witnesses[0].framework, Framework::VisAr);
  EXPECT_TRUE(found.found->witnesses[0].vis.has_value());
  EXPECT_EQ(found.found->witnesses[1].framework, Framework::Co);
  EXPECT_EQ(found.found->witnesses[1].order.size(), 4U);
}

TEST(Synthesize, OrdersReadsWhereALevelAsksForIt) {
  const Scope scope{.txns = 2, .keys = 2, .values = 2};
  EXPECT_EQ(outcome("rc", "ra", scope), SynthOutcome::Found);
  EXPECT_EQ(outcome("true", "rc", scope), SynthOutcome::Found);
  EXPECT_EQ(outcome("ra", "rc", {.txns = 3, .keys = 2, .values = 3}), SynthOutcome::None);
  EXPECT_EQ(outcome("rc", "ra", {.txns = 3, .keys = 1, .values = 3}), SynthOutcome::Found);
  // A transaction that reads once cannot read in the wrong order.
  EXPECT_EQ(outcome("true", "rc", {.txns = 3, .keys = 2, .ops = 1}), SynthOutcome::None);
}

TEST(Synthesize, TreatsUserLevelsLikeBuiltInOnes) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level my-cc over vis, ar\n"
                       "axiom T: transitive(vis)\n"
                       "level my-pc over vis, ar\n"
                       "axiom P: ar ; vis subset vis\n"
                       "level my-ser over co\n"
                       "axiom S: acyclic(so | wr | ww | rw)\n"
                       "level my-psi over vis, ar extends my-cc\n"
                       "axiom C: forall x: key. ww[x] subset vis\n",
                       "my.level")
                  .ok());
  const std::pair<const char*, const char*> twins[] = {
      {"my-cc", "cc@vis"}, {"my-pc", "pc@vis"}, {"my-ser", "ser@co"}, {"my-psi", "psi@vis"}};
  const Scope scope{.txns = 4, .keys = 2, .values = 3};
  for (const auto& [mine, theirs] : twins) {
    const Level* a = *levels.find(mine);
    const Level* b = *levels.find(theirs);
    EXPECT_EQ(answer({.allow = {a}, .forbid = {b}, .scope = scope}).outcome, SynthOutcome::None)
        << mine;
    EXPECT_EQ(answer({.allow = {b}, .forbid = {a}, .scope = scope}).outcome, SynthOutcome::None)
        << mine;
  }
  EXPECT_EQ(
      answer({.allow = {*levels.find("my-cc")}, .forbid = {*levels.find("my-pc")}, .scope = scope})
          .outcome,
      SynthOutcome::Found);
}

TEST(Synthesize, SolvesTheBenchmarkProblems) {
  for (const BenchmarkProblem& problem : benchmark_problems()) {
    for (int txns = 3; txns <= 6; ++txns) {
      const SynthQuery query = query_of(problem, {.txns = txns, .keys = 5, .values = 5});
      const bool expected = problem.is_satisfiable && txns >= problem.min_txns;
      EXPECT_EQ(answer(query).outcome, expected ? SynthOutcome::Found : SynthOutcome::None)
          << problem.name << " at " << txns << " transactions";
    }
  }
}

TEST(Synthesize, AnswersTheSameWithEverySwitch) {
  for (const BenchmarkProblem& problem : benchmark_problems()) {
    const SynthQuery query = query_of(problem, {.txns = 3, .keys = 2, .values = 3});
    const SynthOutcome expected = answer(query).outcome;
    SynthQuery changed = query;
    changed.fixed_order = false;
    EXPECT_EQ(answer(changed).outcome, expected) << problem.name << " without fixed order";
    changed = query;
    changed.smart_search = false;
    EXPECT_EQ(answer(changed).outcome, expected) << problem.name << " without smart search";
    changed = query;
    changed.scope = {.txns = 2, .keys = 2, .values = 2};
    const SynthOutcome small = answer(changed).outcome;
    changed.learning = false;
    EXPECT_EQ(answer(changed).outcome, small) << problem.name << " without learning";
  }
}

TEST(Synthesize, ChecksSessionsThatAreNoChainsByAllOrders) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level fork over co\n"
                       "axiom F: exists t, a, b, d: txn. so(t, a) and so(a, b) and so(a, d)\n"
                       "         and b != d and not so(b, d) and not so(d, b)\n",
                       "fork.level")
                  .ok());
  SynthQuery query{.allow = {*levels.find("fork"), &level("true")},
                   .forbid = {&level("ra"), &level("pc@vis")},
                   .scope = {.txns = 3, .keys = 2, .values = 2}};
  EXPECT_EQ(answer(query).outcome, SynthOutcome::None);
  query.scope.sessions = SessionShape::PartialOrder;
  const SynthAnswer found = answer(query);
  ASSERT_TRUE(found.found.has_value());
  EXPECT_EQ(found.found->session_edges, 2);
  EXPECT_EQ(found.found->further_so.size(), 1U);
  EXPECT_TRUE(found.found->is_rechecked);
}

TEST(Synthesize, FindsPlumesCausalConsistencyEquivalentUpToEightTransactions) {
  const Scope scope{.txns = 8, .keys = 8, .values = 8};
  EXPECT_EQ(outcome("cc", "plume-cc", scope), SynthOutcome::None);
  EXPECT_EQ(outcome("plume-cc", "cc", scope), SynthOutcome::None);
}

TEST(Synthesize, RefusesScopesThatMakeNoSense) {
  Budget budget;
  EXPECT_FALSE(synthesize({.allow = {&level("si")}}, budget).ok());
  EXPECT_FALSE(
      synthesize({.allow = {&level("si")}, .scope = {.txns = 1000, .keys = 1}}, budget).ok());
  EXPECT_FALSE(
      synthesize({.allow = {&level("si")}, .scope = {.txns = 2, .keys = 1, .ops = -1}}, budget)
          .ok());
}

TEST(Synthesize, SaysUnknownWhenTheTimeIsOver) {
  Budget budget = Budget::seconds(1e-9);
  budget.expired_now();
  const auto result = synthesize({.allow = {&level("si")},
                                  .forbid = {&level("ser")},
                                  .scope = {.txns = 10, .keys = 5, .values = 5}},
                                 budget);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome, SynthOutcome::Unknown);
  EXPECT_FALSE(result->limit.empty());
}

}  // namespace
}  // namespace isoscope
