// final(x) and retry, against the naive enumeration: a history violates a claim about the final
// value of a key if one of its commit orders does, of all that the text of the level accepts.
#include <gtest/gtest.h>

#include <algorithm>

#include "explore/comparison.h"
#include "spec/evaluate.h"
#include "support/random_program.h"
#include "support/read_from_map.h"

namespace isoscope::explore {
namespace {

// The value of x in the end, if the transactions commit in this order.
std::int64_t last_value(const Program& program, const store::Recording& run, const History& h,
                        const std::vector<TxnId>& order, ProgramKey x) {
  std::int64_t value = program.keys().initial(x);
  for (const TxnId t : order) {
    if (t == kInitialTxn) continue;
    for (const CallId call : run.txns.ids()) {
      if (store::name_of(program, call) != h.name(t) || !run.txns[call].is_committed) continue;
      for (const store::Access& access : run.txns[call].accesses) {
        if (!access.is_read && access.key == x) value = access.value;
      }
    }
  }
  return value;
}

struct Ends {
  bool is_allowed = false;
  std::set<std::vector<std::int64_t>> finals;  // by commit order
};

// All commit orders that the level accepts, one after the other.
Ends ends_of(const Program& program, const store::Recording& run, const Level& base) {
  const History h = to_history(program, run);
  const auto levels_of = assign_levels(h, base, levels());
  EXPECT_TRUE(levels_of.ok());
  std::vector<TxnId> order;
  for (const TxnId t : h.txns()) {
    if (h.is_present(t)) order.push_back(t);
  }
  Evaluator evaluator(h, *levels_of);
  Ends ends;
  do {
    if (!evaluator.accepts({base.framework, order, std::nullopt})) continue;
    ends.is_allowed = true;
    std::vector<std::int64_t> finals;
    for (const ProgramKey x : program.final_keys())
      finals.push_back(last_value(program, run, h, order, x));
    ends.finals.insert(std::move(finals));
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return ends;
}

class FinalFuzz : public testing::TestWithParam<const char*> {};

TEST_P(FinalFuzz, FailsWhereSomeCommitOrderDoes) {
  const std::string name = GetParam();
  const bool is_mixed = name == "mixed";
  const Level& base = level(is_mixed ? "cc" : name);
  int num_ambiguous = 0;
  int num_left_out = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed * 15485863);
    ProgramShape shape{.sessions = 4,
                       .max_calls = 4,
                       .max_statements = 3,
                       .writes = 0.7,
                       .aborts = 0.3,
                       .claims = 0,
                       .retries = seed % 2 == 0 ? 0.5 : 0};
    if (is_mixed) shape.levels = {"rc", "ra", "cc", "pc", "si", "ser"};
    std::string text = random_program(rng, shape);
    text += fmt::format("assert final(x) != {} && final(t[1]) != {} || final(y) == {}\n",
                        rng.below(8), rng.below(8), rng.below(8));
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    // A key that no transaction has cannot be asked for.
    if (!program) continue;
    const Naive naive(*program, 2'000);
    const bool is_small = std::ranges::all_of(
        naive.runs(), [](const auto& each) { return each.second.order.size() <= 5; });
    if (!naive.is_complete() || !is_small) continue;
    std::map<Map, bool> expected_to_fail;
    for (const auto& [map, run] : naive.runs()) {
      for (const store::RecordedTxn& txn : run.txns) num_left_out += txn.is_left_out ? 1 : 0;
      const Ends ends = ends_of(*program, run, base);
      if (!ends.is_allowed) continue;
      num_ambiguous += ends.finals.size() > 1 ? 1 : 0;
      std::vector<Ending> endings(run.txns.size());
      expected_to_fail[map] =
          std::ranges::any_of(ends.finals, [&](const std::vector<std::int64_t>& finals) {
            return program->failed_at_end(endings, finals).has_value();
          });
    }
    for (const Algorithm algorithm : {Algorithm::Best, Algorithm::Ce, Algorithm::ByTxn}) {
      const auto plan = make_plan(*program, base, levels(), algorithm, {});
      ASSERT_TRUE(plan.ok());
      std::map<Map, bool> failed;
      (void)explore(*program, *plan, {.on_history = [&](const store::Recording& run) {
        failed[read_from_map(run)] = run.failed_at_end.has_value();
      }});
      ASSERT_EQ(failed, expected_to_fail);
    }
  }
  EXPECT_GT(num_left_out, 500);
  // At ser a blind write can come before or after another one too.
  EXPECT_GT(num_ambiguous, 150);
}
INSTANTIATE_TEST_SUITE_P(Levels, FinalFuzz,
                         testing::Values("true", "rc", "ra", "cc", "pc", "psi", "ua", "si", "ser",
                                         "mixed"),
                         [](const auto& name) { return std::string(name.param); });

Exploration explored_at(const Program& program, const char* name) {
  const auto plan = make_plan(program, level(name), levels(), Algorithm::Best, {});
  EXPECT_TRUE(plan.ok());
  return explore(program, *plan, {});
}

TEST(FinalValue, TellsWhoWroteLast) {
  const auto program = parse_program(
      "init acct = 100\n"
      "txn withdraw(n) { b := read(acct); write(acct, b - n) }\n"
      "session alice { withdraw(60) }\n"
      "session bob { withdraw(30) }\n"
      "assert final(acct) == 10\n");
  ASSERT_TRUE(program.ok());
  const Exploration all = explored_at(*program, "cc");
  // Each overwrites the other's withdrawal, and either may be the last.
  ASSERT_EQ(all.histories, 3U);
  ASSERT_EQ(all.violating, 1U);
  ASSERT_EQ(all.violations.size(), 1U);
  ASSERT_EQ(all.violations[0].finals.size(), 1U);
  const store::FinalValue& last = all.violations[0].finals[0];
  EXPECT_EQ(last.value, last.writer == CallId{0} ? 40 : 70);
  EXPECT_EQ(explored_at(*program, "si").violating, 0U);
}

TEST(FinalValue, IsTheInitialOneWhereNobodyCommitsAWrite) {
  const auto program = parse_program(
      "init x = 7\n"
      "session s { { write(x, 1); abort } }\n"
      "assert final(x) == 7\n");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(explored_at(*program, "rc").violating, 0U);
}

TEST(FinalValue, IsRefusedWhereCommitOrdersAreNotKnown) {
  const auto program =
      parse_program("init x = 7\nsession s { { write(x, 1) } }\nassert final(x) == 1\n");
  ASSERT_TRUE(program.ok());
  LevelSet set = LevelSet::built_in();
  ASSERT_TRUE(set.add("level mine over co\naxiom A: forall t: txn. not co(t, t)\n", "mine").ok());
  const auto mine = set.find("mine");
  ASSERT_TRUE(mine.ok());
  const auto plan = make_plan(*program, **mine, set, Algorithm::Best, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().what.find("final(x)"), std::string::npos);
}

TEST(Retry, RunsAgainAfterAnAbort) {
  const auto program = parse_program(
      "init stock = 0\n"
      "txn take() { s := read(stock); if (s == 0) { abort }; write(stock, s - 1) }\n"
      "session shop { { write(stock, 1) } }\n"
      "session bob { take() retry 1 }\n"
      "assert committed(bob[1])\n");
  ASSERT_TRUE(program.ok());
  ASSERT_EQ(program->outline().calls.size(), 3U);
  EXPECT_EQ(store::name_of(*program, CallId{2}), "bob[1.2]");
  const Exploration all = explored_at(*program, "ser");
  // He is first and never again, first and then second, or second.
  EXPECT_EQ(all.histories, 3U);
  EXPECT_EQ(all.violating, 1U);
  ASSERT_EQ(all.violations.size(), 1U);
  EXPECT_EQ(all.violations[0].order.size(), 3U);
}

}  // namespace
}  // namespace isoscope::explore
