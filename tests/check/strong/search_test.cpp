// What is done about open choices: following implications, taking them back, answering in a row.
#include "check/strong/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "check/strong/corners.h"
#include "check/strong/propagation.h"
#include "check/strong/reference.h"
#include "check/strong/residue.h"
#include "check/strong/saturation.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope::strong {
namespace {

// Null if saturation finds a cycle.
std::unique_ptr<Knowledge> saturated(const Facts& facts, StrongLevel level) {
  Budget budget;
  auto known = std::make_unique<Knowledge>(facts, level);
  add_version_facts(*known);
  if (saturate(*known, budget) != Saturated::Fixpoint) return {};
  return known;
}

// Saturation from scratch with one more edge; null if that closes a cycle.
std::unique_ptr<Knowledge> saturated_with(const Knowledge& known, TxnId first, TxnId second) {
  auto more = std::make_unique<Knowledge>(known);
  const Facts& facts = known.graph.facts();
  for (const KeyId x : facts.history().keys()) {
    if (facts.version_of(first, x).is_none() || facts.version_of(second, x).is_none()) continue;
    more->graph.add(
        {.from = first, .to = second, .key = x, .kind = EdgeKind::Ww, .round = more->rounds});
  }
  Budget budget;
  if (saturate(*more, budget) != Saturated::Fixpoint) return {};
  return more;
}

void expect_same(const VersionOrder& a, const VersionOrder& b) {
  const Facts& facts = a.facts();
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId v : facts.versions(x)) {
      for (const GroupId g : facts.groups(x)) ASSERT_EQ(a.count_before(v, g), b.count_before(v, g));
    }
  }
}

class Searching : public testing::TestWithParam<StrongLevel> {};

TEST_P(Searching, FollowsAnAnswerAsFarAsSaturationDoes) {
  int open = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small = random_corners(rng, 3, 7, 8);
    SCOPED_TRACE(to_hist(small));
    const History h = build(small);
    const Facts facts(h, GetParam() != StrongLevel::Ua);
    std::unique_ptr<Knowledge> known = saturated(facts, GetParam());
    if (!known) continue;
    const Residue residue(*known, true);
    Budget budget;
    Propagation propagation(*known, budget);
    for (const Choice& choice : residue.choices()) {
      for (const bool a_first : {true, false}) {
        const TxnId first = a_first ? choice.a : choice.b;
        const TxnId second = a_first ? choice.b : choice.a;
        const std::unique_ptr<Knowledge> expected = saturated_with(*known, first, second);
        ASSERT_EQ(propagation.assume_order(first, second), expected != nullptr);
        if (expected) expect_same(propagation.order(), expected->order);
        open += expected ? 1 : 0;
        propagation.take_back();
        expect_same(propagation.order(), known->order);
      }
    }
  }
  EXPECT_GT(open, 500);
}

// Answers kept, one after the other, add up, until they contradict each other or none is left.
TEST_P(Searching, KeepsAnswers) {
  int closed = 0;
  for (std::uint64_t seed = 10'000; seed < 13'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small = random_corners(rng, 4, 9, 14);
    SCOPED_TRACE(to_hist(small));
    const History h = build(small);
    const Facts facts(h, GetParam() != StrongLevel::Ua);
    const std::unique_ptr<Knowledge> initial = saturated(facts, GetParam());
    if (!initial) continue;
    Budget budget;
    Propagation propagation(*initial, budget);
    auto known = std::make_unique<Knowledge>(*initial);
    while (known) {
      const Residue residue(*known, true);
      if (residue.choices().empty()) break;
      const Choice choice = residue.choices()[rng.below(residue.choices().size())];
      const bool a_first = rng.chance(0.5);
      const TxnId first = a_first ? choice.a : choice.b;
      const TxnId second = a_first ? choice.b : choice.a;
      std::unique_ptr<Knowledge> next = saturated_with(*known, first, second);
      ASSERT_EQ(propagation.assume_order(first, second), next != nullptr);
      propagation.keep();
      if (next) expect_same(propagation.order(), next->order);
      closed += next ? 0 : 1;
      known = std::move(next);
    }
  }
  EXPECT_GT(closed, 0);
}

TEST_P(Searching, SpeculatesRight) {
  int found = 0;
  int refuted = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small = random_corners(rng, 3, 6, 8);
    SCOPED_TRACE(to_hist(small));
    const History h = build(small);
    AllVersionOrders reference(h);
    const Facts facts(h, GetParam() != StrongLevel::Ua);
    const std::unique_ptr<Knowledge> known = saturated(facts, GetParam());
    if (!known || !reference.is_feasible()) continue;
    const Residue residue(*known, true);
    Budget budget;
    const Speculation speculation = speculate(residue, make_guess(*known), budget);
    if (speculation.result == Speculated::Found) {
      ++found;
      ASSERT_TRUE(ConflictFinder(residue).find(speculation.answers, budget).empty());
    }
    if (speculation.result == Speculated::Refuted) {
      ++refuted;
      ASSERT_FALSE(reference.is_consistent(GetParam()));
    }
    // So few choices are never too many.
    ASSERT_NE(speculation.result, Speculated::GaveUp);
  }
  EXPECT_GT(found, 200);
  // ua, which sees single edges only, hardly ever needs more than saturation.
  if (GetParam() != StrongLevel::Ua) {
    EXPECT_GT(refuted, 0);
  }
}

// A conflict names answers that really do not stand together.
TEST_P(Searching, BlamesOnlyAnswersThatConflict) {
  int conflicts = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small = random_corners(rng, 3, 6, 8);
    SCOPED_TRACE(to_hist(small));
    const History h = build(small);
    const Facts facts(h, GetParam() != StrongLevel::Ua);
    const std::unique_ptr<Knowledge> known = saturated(facts, GetParam());
    if (!known) continue;
    const Residue residue(*known, true);
    Answers answers(residue.choices().size());
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = rng.chance(0.5);
    Budget budget;
    for (const Conflict& conflict : ConflictFinder(residue).find(answers, budget)) {
      ++conflicts;
      auto with = std::make_unique<Knowledge>(*known);
      for (const ChoiceLit lit : conflict) {
        ASSERT_TRUE(Residue::is_chosen(answers, lit));
        if (!with) break;
        const auto [a, b] = residue.choices()[lit.choice()];
        with = lit.is_a_first() ? saturated_with(*with, a, b) : saturated_with(*with, b, a);
      }
      ASSERT_FALSE(with);
    }
  }
  EXPECT_GT(conflicts, 50);
}

INSTANTIATE_TEST_SUITE_P(Levels, Searching, testing::ValuesIn(kStrongLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(Speculation, RefutesTheFourCorners) {
  const History h = history_of(
      "s1: [w(x,1)] s2: [w(x,2)] s3: [w(z,1)] s4: [w(z,2)]"
      "s5: [r(x,1) r(z,1)] s6: [r(x,1) r(z,2)] s7: [r(x,2) r(z,1)] s8: [r(x,2) r(z,2)]");
  const Facts facts(h, true);
  const std::unique_ptr<Knowledge> known = saturated(facts, StrongLevel::Ser);
  ASSERT_TRUE(known);
  const Residue residue(*known, true);
  EXPECT_EQ(residue.choices().size(), 2U);
  Budget budget;
  EXPECT_EQ(speculate(residue, make_guess(*known), budget).result, Speculated::Refuted);
  EXPECT_EQ(search_answers(residue, make_guess(*known), budget, {}).result, SatResult::Unsat);
}

}  // namespace
}  // namespace isoscope::strong
