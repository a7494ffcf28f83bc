// The parts below the verdict: chains, clocks, version orders, the residue.
#include "check/strong/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/strong/explain.h"
#include "check/strong/reference.h"
#include "check/strong/residue.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope::strong {
namespace {

using ::testing::ElementsAre;

VersionId version(const Facts& facts, TxnId t, KeyId x) { return facts.version_of(t, x); }

TEST(Facts, GroupVersionsByChain) {
  const History h =
      history_of("s1: [w(x,1)] s2: [w(x,2) w(y,2)] s1: [w(x,3)] s3: [r(x,3)] [r(x,3) r(x,0)]");
  const Facts facts(h, true);
  const KeyId x{0};
  EXPECT_EQ(facts.num_chains(), 3U);
  EXPECT_EQ(facts.groups(x).size(), 2U);
  EXPECT_EQ(facts.versions(facts.groups(x).front()).size(), 2U);
  EXPECT_EQ(facts.rank(version(facts, TxnId{3}, x)), 1U);
  EXPECT_THAT(facts.readers(version(facts, TxnId{3}, x)), ElementsAre(TxnId{4}, TxnId{5}));
  EXPECT_THAT(facts.initial_readers(x), ElementsAre(TxnId{5}));
  EXPECT_TRUE(facts.version_of(TxnId{4}, x).is_none());
  EXPECT_EQ(facts.next(TxnId{1}), TxnId{3});
  EXPECT_EQ(facts.previous(TxnId{3}), TxnId{1});
  EXPECT_TRUE(facts.next(TxnId{3}).is_none());
}

// A hundred sessions of one transaction each, which read one from another.
TEST(Facts, JoinSessionsThatReadFromEachOther) {
  std::string text = "s0: [w(x,1)]";
  for (int i = 1; i < 100; ++i) text += fmt::format(" s{}: [r(x,{}) w(x,{})]", i, i, i + 1);
  const History h = history_of(text);
  EXPECT_EQ(Facts(h, true).num_chains(), 1U);
  EXPECT_EQ(Facts(h, false).num_chains(), 100U);
  Budget budget;
  for (const StrongLevel level : kStrongLevels)
    EXPECT_EQ(check_strong(h, level, budget).outcome, Outcome::Consistent);
}

// A ring of sessions that read one from another is a cycle, and no chain.
TEST(Facts, SurviveARingOfSessions) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += fmt::format(" s{}: [r(x{},1) w(x{},1)]", i, i, (i + 1) % 100);
  const History h = history_of(text);
  EXPECT_EQ(Facts(h, true).num_chains(), 1U);
  Budget budget;
  for (const StrongLevel level : kStrongLevels) {
    const Verdict verdict = check_strong(h, level, budget);
    EXPECT_EQ(verdict.outcome, Outcome::Violated);
    EXPECT_EQ(verdict.violation->cycle.size(), 100U);
    EXPECT_EQ(complain_about(h, level, verdict), std::nullopt);
  }
}

TEST(Saturation, ForcesAVersionThatIsOvertaken) {
  const History h = history_of("s1: [w(x,1)]  s2: [w(x,2) w(y,2)]  s3: [r(y,2)] [r(x,1)]");
  const Facts facts(h, true);
  Budget budget;
  for (const StrongLevel level :
       {StrongLevel::Ser, StrongLevel::Si, StrongLevel::Pc, StrongLevel::Psi}) {
    Knowledge known(facts, level);
    add_version_facts(known);
    ASSERT_EQ(saturate(known, budget), Saturated::Fixpoint);
    const KeyId x{0};
    EXPECT_TRUE(known.order.is_before(version(facts, TxnId{2}, x), version(facts, TxnId{1}, x)));
    EXPECT_FALSE(known.order.is_before(version(facts, TxnId{1}, x), version(facts, TxnId{2}, x)));
  }
}

TEST(Saturation, LeavesIndependentWritesOpen) {
  const History h = history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [w(y,3)]");
  const Facts facts(h, true);
  Budget budget;
  Knowledge known(facts, StrongLevel::Ser);
  add_version_facts(known);
  ASSERT_EQ(saturate(known, budget), Saturated::Fixpoint);
  const Residue residue(known, true);
  EXPECT_THAT(residue.choices(), ElementsAre(Choice{TxnId{1}, TxnId{2}}));
  EXPECT_EQ(residue.num_components(), 1U);
  EXPECT_EQ(residue.num_nodes(), 2U);
}

// Clocks in blocks of one chain find the same as clocks of all chains.
TEST(Saturation, DoesNotDependOnTheMemoryForClocks) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small =
        random_small(rng, {.sessions = 6, .max_txns = 20, .keys = 4, .max_ops = 4, .stray = 0.03});
    const History h = build(small);
    const Facts facts(h, true);
    Budget budget;
    for (const StrongLevel level : kStrongLevels) {
      Knowledge whole(facts, level);
      Knowledge blocks(facts, level);
      add_version_facts(whole);
      add_version_facts(blocks);
      SaturationOptions options;
      options.max_clock_numbers = 1;
      const Saturated expected = saturate(whole, budget);
      ASSERT_EQ(saturate(blocks, budget, options), expected) << to_hist(small);
      if (expected == Saturated::Cycle) {
        const std::vector<Edge> cycle = explain_cycle(blocks, budget).cycle;
        ASSERT_EQ(check_cycle(h, logic_of(level), cycle), std::nullopt) << to_hist(small);
        continue;
      }
      for (const KeyId x : h.keys()) {
        for (const VersionId a : facts.versions(x)) {
          for (const VersionId b : facts.versions(x))
            ASSERT_EQ(whole.order.is_before(a, b), blocks.order.is_before(a, b)) << to_hist(small);
        }
      }
    }
  }
}

}  // namespace
}  // namespace isoscope::strong
