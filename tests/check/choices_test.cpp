#include "check/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "history/builder.h"
#include "spec/brute_force.h"
#include "support/history_of.h"
#include "support/rng.h"

namespace isoscope {
namespace {

const Level& level_named(std::string_view name) { return **LevelSet::built_in().find(name); }

ChoiceAnswer choose(const History& h, std::string_view name) {
  Budget budget;
  return check_choices(h, {.base = &level_named(name), .own = {}}, budget);
}

TEST(Choices, AreConsistentIfOneWayToChooseIs) {
  const History h = history_of("s1: [w(x,1)] [w(x,2)]  s2: [w(x,1)]  s3: [r(x,2)] [r(x,1)]");
  ASSERT_EQ(h.choices().size(), 1U);
  const ChoiceAnswer found = choose(h, "ser");
  EXPECT_EQ(found.answer.verdict.outcome, Outcome::Consistent);
  EXPECT_EQ(found.chosen->writer(h.choices()[0].read), TxnId{3});
}

TEST(Choices, AreViolatedIfEveryWayToChooseIs) {
  // Whoever wrote the 1, the second reader misses the 2 that it has seen.
  const History h =
      history_of("s1: [w(x,1)] [w(x,2)]  s2: [w(x,1) w(y,1)] [r(x,2) r(y,1)] [r(x,1)]");
  const ChoiceAnswer found = choose(h, "cc");
  EXPECT_EQ(found.answer.verdict.outcome, Outcome::Violated);
  EXPECT_FALSE(found.for_all_choices);
  EXPECT_GE(found.proposals, 2U);
}

TEST(Choices, DoNotHideAViolationThatRestsOnNoneOfThem) {
  const History h = history_of("s1: [w(x,1)]  s2: [w(x,1)]  s3: [r(x,1)] [w(z,1)] [r(z,0)]");
  const ChoiceAnswer found = choose(h, "ra");
  EXPECT_EQ(found.answer.verdict.outcome, Outcome::Violated);
  EXPECT_TRUE(found.for_all_choices);
}

TEST(Choices, SayHowFarTheyCameWhenTheTimeIsOver) {
  const History h = history_of("s1: [w(x,1)]  s2: [w(x,1)]  s3: [r(x,1)]");
  Budget budget = Budget::seconds(1e-9);
  budget.expired_now();
  const auto found = check_choices(h, {.base = &level_named("ser"), .own = {}}, budget);
  EXPECT_EQ(found.answer.verdict.outcome, Outcome::Unknown);
  EXPECT_THAT(found.answer.verdict.limit, ::testing::HasSubstr("time"));
}

// A few transactions that write few values, so that most reads have a choice.
Result<History> random_history(Rng& rng) {
  HistoryBuilder b(rng.chance(0.8) ? InitialValues::Zero : InitialValues::None);
  const auto txns = 2 + rng.below(3);
  const auto keys = 1 + rng.below(2);
  if (rng.chance(0.3)) b.set_initial(b.key(0), Value::of(1), {1, 1});
  for (std::uint64_t i = 0; i < txns; ++i) {
    const bool aborts = rng.chance(0.05);
    const TxnId t = b.begin(b.session(static_cast<std::int64_t>(rng.below(3))),
                            aborts ? TxnStatus::Aborted : TxnStatus::Committed, {1, 1});
    const auto ops = 1 + rng.below(3);
    for (std::uint64_t k = 0; k < ops; ++k) {
      const KeyId x = b.key(static_cast<std::int64_t>(rng.below(keys)));
      const Value v = Value::of(1 + static_cast<std::int64_t>(rng.below(2)));
      if (rng.chance(0.5)) {
        b.write(t, x, v, {1, 1});
      } else {
        b.read(t, x, rng.chance(0.15) ? Value::of(0) : v, {1, 1});
      }
    }
  }
  return std::move(b).build_open();
}

// Tries every way to choose, by the oracle.
bool some_choice_satisfies(const History& open, const Level& wanted) {
  History h = open.copy();
  std::vector<std::size_t> at(h.choices().size(), 0);
  for (;;) {
    std::vector<TxnId> writers;
    for (std::size_t c = 0; c < at.size(); ++c) writers.push_back(h.choices()[c].writers[at[c]]);
    h = std::move(h).with_writers(writers);
    if (brute_force(h, {.base = &wanted, .own = {}})) return true;
    std::size_t c = 0;
    while (c < at.size() && ++at[c] == h.choices()[c].writers.size()) at[c++] = 0;
    if (c == at.size()) return false;
  }
}

TEST(Choices, AgreeWithTryingThemAll) {
  constexpr int kCases = 2'000;
  Rng rng(20262);
  std::map<std::string, int> violated;
  int with_choices = 0;
  for (int i = 0; with_choices < kCases; ++i) {
    ASSERT_LT(i, kCases * 20);
    const auto h = random_history(rng);
    ASSERT_TRUE(h.ok());
    if (h->choices().empty() || !h->faults().empty()) continue;
    ++with_choices;
    for (const std::string name :
         {"rc", "ra", "cc", "pc", "ua", "psi", "si", "ser", "update-ser"}) {
      const Level& wanted = level_named(name);
      const bool expected = some_choice_satisfies(*h, wanted);
      const ChoiceAnswer found = choose(*h, name);
      ASSERT_EQ(found.answer.verdict.outcome, expected ? Outcome::Consistent : Outcome::Violated)
          << "case " << i << " at " << name << ": " << found.answer.verdict.limit;
      violated[name] += expected ? 0 : 1;
    }
  }
  for (const auto& [name, count] : violated) EXPECT_GT(count, kCases / 100) << name;
}

}  // namespace
}  // namespace isoscope
