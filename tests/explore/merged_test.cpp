// Merging equal states against counting every history: the same answer about assertions.
#include "explore/merged.h"

#include <gtest/gtest.h>

#include "explore/collector.h"
#include "explore/comparison.h"
#include "explore/releveled.h"
#include "support/random_program.h"

namespace isoscope::explore {
namespace {

struct MergedAnswer {
  Exploration all;
  std::uint64_t states = 0;
  bool is_complete = true;
};

MergedAnswer merged(const Executable& program, const Plan& plan,
                    std::size_t max_states = Merged<TxnSet<1>>::kMaxStates) {
  const ExploreOptions options{.stop_at_violation = true};
  Control control(options.budget);
  Collector<TxnSet<1>> collector(program, plan, options, control);
  Merged<TxnSet<1>> search(program, *plan.exact, collector, control, max_states);
  search.run();
  return {collector.result(), search.num_states(), search.is_complete()};
}

// A random program whose claims are about locals, final values and retried calls.
std::string claiming_program(Rng& rng, const std::vector<std::string>& own) {
  std::string text = random_program(rng, {.sessions = 4,
                                          .max_calls = 6,
                                          .max_statements = 4,
                                          .writes = 0.5,
                                          .aborts = 0.2,
                                          .claims = 0.6,
                                          .retries = 0.3,
                                          .levels = own});
  if (text.starts_with("init x") && rng.chance(0.6))
    text += fmt::format("assert final(x) != {}\n", rng.below(8));
  return text;
}

class MergedFuzz : public testing::TestWithParam<const char*> {};

TEST_P(MergedFuzz, AnswersAsCountingDoes) {
  const std::string name = GetParam();
  const bool is_mixed = name.starts_with("mixed");
  std::vector<std::string> own;
  if (name == "mixed_strong") own = {"pc", "si", "ser"};
  if (name == "mixed_weak") own = {"true", "rc", "ra", "cc"};
  if (name == "mixed") own = {"rc", "ra", "cc", "pc", "si", "ser"};
  int num_violated = 0;
  int num_holding = 0;
  int num_shorter = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed * 32452843);
    const std::string text = claiming_program(rng, own);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    if (!program->has_assertions()) continue;
    const Level& base = level(is_mixed ? own[seed % own.size()] : name);
    const auto plan = make_plan(*program, base, levels(), Algorithm::Best, {});
    ASSERT_TRUE(plan.ok());
    const Exploration counted = explore(*program, *plan, {.budget = Budget::seconds(0.2)});
    if (counted.is_out_of_time || counted.histories > 2'000) continue;
    const MergedAnswer answer = merged(*program, *plan);
    ASSERT_TRUE(answer.is_complete);
    ASSERT_EQ(answer.all.violating > 0, counted.violating > 0);
    ASSERT_EQ(answer.all.outcome, counted.outcome);
    // Reads on which nothing depends change nothing about the answer.
    const Releveled shorter(*program, {}, false);
    ASSERT_EQ(merged(shorter, *plan).all.outcome, counted.outcome);
    ASSERT_EQ(explore(shorter, *plan, {}).outcome, counted.outcome);
    num_shorter += shorter.has_left_out_reads() ? 1 : 0;
    (counted.violating > 0 ? num_violated : num_holding) += 1;
    if (counted.violating == 0 && answer.states > 3) {
      ASSERT_FALSE(merged(*program, *plan, 3).is_complete);
    }
  }
  EXPECT_GT(num_violated, 200);
  EXPECT_GT(num_holding, 200);
  EXPECT_GT(num_shorter, 200);
}
INSTANTIATE_TEST_SUITE_P(Levels, MergedFuzz,
                         testing::Values("true", "rc", "ra", "cc", "pc", "psi", "si", "ser",
                                         "mixed", "mixed_weak", "mixed_strong"),
                         [](const auto& name) { return std::string(name.param); });

// Deposits commute: whatever the order, few states follow.
TEST(Merged, VisitsFewStatesWhereManyHistoriesEndAlike) {
  const auto program = parse_program(
      "txn add() { v := read(x); write(x, v + 1) }\n"
      "session w[1..5] { add(); add() }\n"
      "assert final(x) == 10\n");
  ASSERT_TRUE(program.ok());
  const auto plan = make_plan(*program, level("ser"), levels(), Algorithm::Best, {});
  ASSERT_TRUE(plan.ok());
  const Exploration all = explore(*program, *plan, {.stop_at_violation = true});
  EXPECT_EQ(all.outcome, ExploreOutcome::Complete);
  ASSERT_TRUE(all.merging.has_value());
  EXPECT_EQ(all.merging->states, 243U);  // three places for each of five sessions
  EXPECT_TRUE(all.merging->is_complete);
}

// Where few steps depend on each other, there are fewer classes of schedules than states.
TEST(Merged, IsNotAskedWhereSchedulesAreFew) {
  const auto program = parse_program(
      "txn pay(i) { v := read(acct[i]); write(acct[i], v - 1) }\n"
      "session w[1..24] { pay(self) }\n"
      "assert final(acct[3]) == -1\n");
  ASSERT_TRUE(program.ok());
  const auto plan = make_plan(*program, level("ser"), levels(), Algorithm::Best, {});
  ASSERT_TRUE(plan.ok());
  const Exploration all = explore(*program, *plan, {.stop_at_violation = true});
  EXPECT_EQ(all.outcome, ExploreOutcome::Complete);
  EXPECT_FALSE(all.merging.has_value());
  EXPECT_EQ(all.histories, 1U);
}

}  // namespace
}  // namespace isoscope::explore
