#include "store/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "store/store_of.h"
#include "support/random_program.h"
#include "support/read_from_map.h"

namespace isoscope::store {
namespace {

using ::testing::HasSubstr;

// How many different histories the first `seeds` weak runs reach, and in how many of them an
// assertion fails.
struct Reached {
  std::size_t histories = 0;
  std::size_t failures = 0;
};
Reached reached(const Program& program, const std::string& level, std::uint64_t seeds) {
  Store store = weak_store(program, level);
  std::set<std::vector<CallId>> all;
  std::set<std::vector<CallId>> failing;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    EXPECT_TRUE(run_once(store, seed).ok()) << seed;
    all.insert(read_from_map(store.recording()));
    if (store.recording().has_failed_assertion()) failing.insert(read_from_map(store.recording()));
  }
  return {all.size(), failing.size()};
}

TEST(StoreRuns, SerialRunsAreSerializable) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_program(rng, {.sessions = 3, .max_calls = 8});
    const Program program = program_of(text);
    const Recording recording = serial_run(program, static_cast<std::uint64_t>(i));
    Budget budget;
    EXPECT_EQ(is_serializable(program, recording, budget), true) << text;
    EXPECT_EQ(check(to_history(program, recording), level_of("ser"), budget).verdict.outcome,
              Outcome::Consistent)
        << text;
  }
}

TEST(StoreRuns, AreTheSameForTheSameSeed) {
  const Program program = example("on-call");
  EXPECT_EQ(serial_run(program, 7).order, serial_run(program, 7).order);
  EXPECT_EQ(read_from_map(weak_run(program, "cc", 7)), read_from_map(weak_run(program, "cc", 7)));
  std::set<std::vector<CallId>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) orders.insert(serial_run(program, seed).order);
  EXPECT_EQ(orders.size(), 24U);  // four sessions of one transaction
}

struct Litmus {
  std::string program;
  std::string level;
  std::size_t histories;
  std::size_t failures;
  std::uint64_t seeds = 5000;
};
class StoreLitmus : public ::testing::TestWithParam<Litmus> {};

TEST_P(StoreLitmus, ReachesEveryHistory) {
  const Litmus& litmus = GetParam();
  const Reached found = reached(example(litmus.program), litmus.level, litmus.seeds);
  EXPECT_EQ(found.histories, litmus.histories);
  EXPECT_EQ(found.failures, litmus.failures);
}

// From the known answers of the classical programs.
INSTANTIATE_TEST_SUITE_P(
    Programs, StoreLitmus,
    ::testing::Values(
        Litmus{"lost-update", "rc", 3, 1}, Litmus{"lost-update", "cc", 3, 1},
        Litmus{"lost-update", "pc", 3, 1}, Litmus{"lost-update", "psi", 2, 0},
        Litmus{"lost-update", "si", 2, 0}, Litmus{"lost-update", "ser", 2, 0},
        Litmus{"long-fork", "rc", 16, 1}, Litmus{"long-fork", "cc", 16, 1},
        Litmus{"long-fork", "psi", 16, 1, 1000}, Litmus{"long-fork", "pc", 14, 0},
        Litmus{"long-fork", "si", 14, 0}, Litmus{"long-fork", "ser", 14, 0},
        Litmus{"causality-violation", "ra", 6, 1}, Litmus{"causality-violation", "cc", 5, 0},
        Litmus{"causality-violation", "si", 5, 0}, Litmus{"mixed-levels", "rc", 12, 2, 1000},
        Litmus{"mixed-levels", "ra", 12, 2, 1000}, Litmus{"mixed-levels", "cc", 9, 0, 1000},
        Litmus{"mixed-levels", "ser", 9, 0, 1000}, Litmus{"write-skew", "cc", 3, 1},
        Litmus{"write-skew", "psi", 3, 1}, Litmus{"write-skew", "si", 3, 1},
        Litmus{"write-skew", "ser", 2, 0}, Litmus{"on-call", "rc", 164, 16, 50000},
        Litmus{"on-call", "cc", 89, 10, 50000}, Litmus{"on-call", "si", 83, 10, 20000}),
    [](const auto& tested) {
      std::string name = tested.param.program + "_" + tested.param.level;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(StoreRuns, CountFailuresAndTellTheFirstSeeds) {
  const Program program = example("write-skew");
  const LevelPlan plan = plan_of(program, "si");
  Budget budget;
  const auto runs = run_many(program, &plan, {.seed = 100, .runs = 50}, budget);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->runs, 50U);
  EXPECT_GT(runs->failed_assertions, 0U);
  EXPECT_EQ(runs->failed_assertions, runs->unserializable);  // the skew, and nothing else
  ASSERT_TRUE(runs->first_failed.has_value());
  EXPECT_EQ(runs->shown_seed, *runs->first_failed);
  EXPECT_TRUE(weak_run(program, "si", *runs->first_failed).has_failed_assertion());
  for (std::uint64_t seed = 100; seed < *runs->first_failed; ++seed)
    EXPECT_FALSE(weak_run(program, "si", seed).has_failed_assertion());
}

TEST(StoreRuns, StopWhenTheTimeIsOver) {
  const Program program = example("on-call");
  const LevelPlan plan = plan_of(program, "cc");
  Budget budget = Budget::seconds(0.05);
  const auto runs = run_many(program, &plan, {.seed = 0, .runs = 1'000'000'000}, budget);
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(runs->is_expired);
  EXPECT_GT(runs->runs, 0U);
}

TEST(StoreRuns, TellWhereATransactionOverflows) {
  const Program program = program_of(
      "init x = 9223372036854775807\n"
      "session s { { a := read(x)\n b := a + 1 } }");
  Store store(program);
  const auto end = run_once(store, 0);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().where.line, 3U);
  EXPECT_THAT(end.error().what, HasSubstr("in s[1], which read x = 9223372036854775807 from T0"));
}

TEST(StoreRuns, RefuseAProgramThatIsTooLarge) {
  std::string text = "txn f() { a := read(x); write(x, a + 1) }\nsession s {\n";
  for (std::size_t i = 0; i <= kMaxCalls; ++i) text += "f()\n";
  const Program program = program_of(text + "}\n");
  Budget budget;
  const LevelPlan plan = plan_of(program, "cc");
  const auto oracle = make_oracle(program, &plan, budget);
  ASSERT_FALSE(oracle.ok());
  EXPECT_THAT(oracle.error().what, HasSubstr("1025 transactions"));
  EXPECT_EQ(serial_run(program, 0).txns.back().accesses.back().value, 1025);
}

TEST(StoreRuns, TellWhichCallHasAnUnknownLevel) {
  const Program program = program_of("session s { { a := read(x) }\n @nope { a := read(x) } }");
  const auto plan = plan_levels(program, level_of("cc"), LevelSet::built_in());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().what, HasSubstr("nope"));
  EXPECT_EQ(plan.error().where.line, 2U);
}

TEST(StoreRuns, SayWhenALevelLeavesNoWayToGoOn) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels.add("level odd over co\naxiom NoRead: empty(wr)\n", "odd.level").ok());
  const Program program = program_of("session s { { a := read(x) } }");
  const auto plan = plan_levels(program, **levels.find("odd"), levels);
  ASSERT_TRUE(plan.ok());
  Budget budget;
  const auto runs = run_many(program, &*plan, {}, budget);
  ASSERT_FALSE(runs.ok());
  EXPECT_THAT(runs.error().what, HasSubstr("s[1] can neither commit nor abort"));
}

}  // namespace
}  // namespace isoscope::store
