#include "explore/explore.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"
#include "support/program_of.h"
#include "support/read_from_map.h"

namespace isoscope::explore {
namespace {

const LevelSet& levels() { return LevelSet::built_in(); }

Exploration explored(const Program& program, std::string_view level,
                     Algorithm algorithm = Algorithm::Best,
                     const std::optional<std::string>& base = {}, ExploreOptions options = {}) {
  const auto plan = make_plan(program, **levels().find(level), levels(), algorithm, base);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : render(plan.error()));
  return explore(program, *plan, options);
}

constexpr const char* kLostUpdate = R"(
txn add(n) { v := read(x); write(x, v + n) }
session a { add(1) }
session b { add(2) }
)";

// Three readers and writers of one key, so that reads are swapped more than once.
constexpr const char* kManySwaps = R"(
session a { { u := read(x); write(y, u) } { v := read(y) } }
session b { { write(x, 1) } { w := read(y); write(x, w + 2) } }
session c { { p := read(x); q := read(y) } }
)";

TEST(Explore, CountsOneHistoryOfAProgramWithoutReads) {
  const Program program =
      program_of("session a { { write(x, 1) } }\nsession b { { write(x, 2) } }");
  for (const char* level : {"rc", "ra", "cc", "pc", "psi", "si", "ser"})
    EXPECT_EQ(explored(program, level).histories, 1U) << level;
}

TEST(Explore, HandlesAProgramWithoutTransactions) {
  const Exploration all = explored(program_of("init x = 1\n"), "cc");
  EXPECT_EQ(all.histories, 1U);
  EXPECT_EQ(all.outcome, ExploreOutcome::Complete);
}

TEST(Explore, DoesNotDependOnTheOrderOfSessions) {
  const char* sessions[] = {"session a { { u := read(x); write(y, u) } { v := read(y) } }\n",
                            "session b { { write(x, 1) } { w := read(y); write(x, w + 2) } }\n",
                            "session c { { p := read(x); q := read(y) } }\n"};
  int order[] = {0, 1, 2};
  for (const char* level : {"rc", "ra", "cc", "pc", "psi", "si", "ser"}) {
    const std::uint64_t expected = explored(program_of(kManySwaps), level).histories;
    do {
      std::string text;
      for (const int i : order) text += sessions[i];
      EXPECT_EQ(explored(program_of(text), level).histories, expected) << level << "\n" << text;
    } while (std::next_permutation(std::begin(order), std::end(order)));
  }
}

TEST(Explore, ReportsReadsWithTheirValuesAndWriters) {
  const Program program =
      program_of(std::string(kLostUpdate) + "assert !(a[1].v == 0 && b[1].v == 0)\n");
  const Exploration all = explored(program, "cc");
  EXPECT_EQ(all.outcome, ExploreOutcome::Violated);
  EXPECT_EQ(all.violating, 1U);
  ASSERT_EQ(all.violations.size(), 1U);
  const store::Recording& run = all.violations.front();
  EXPECT_EQ(run.failed_assertions().size(), 1U);
  for (const store::RecordedTxn& txn : run.txns) {
    ASSERT_EQ(txn.accesses.size(), 2U);
    EXPECT_TRUE(txn.accesses[0].is_read);
    EXPECT_EQ(txn.accesses[0].writer, kInitialWriter);
    EXPECT_EQ(txn.accesses[0].value, 0);
  }
}

TEST(Explore, StopsAtTheFirstViolationIfAsked) {
  const Program program =
      program_of("session a { { write(x, 1) } }\nsession b { { v := read(x); assert(v == 7) } }\n");
  const Exploration all = explored(program, "rc", Algorithm::Best, {}, {.stop_at_violation = true});
  EXPECT_EQ(all.violating, 1U);
  EXPECT_EQ(all.outcome, ExploreOutcome::Violated);
}

TEST(Explore, CountsAssertionsThatAbortedTransactionsPassed) {
  const Program program = program_of(
      "session a { { v := read(x); assert(v == 0); abort } }\nsession b { { write(x, 1) } }\n");
  EXPECT_EQ(explored(program, "cc").violating, 1U);
}

TEST(Explore, ReportsAnOverflowWithItsPlace) {
  const Program program = program_of(
      "session a { { v := read(x)\n  write(y, v * 9223372036854775807) } }\n"
      "session b { { write(x, 2) } }\n");
  const Exploration all = explored(program, "cc");
  ASSERT_TRUE(all.fault.has_value());
  EXPECT_EQ(all.fault->error.where.line, 2U);
  EXPECT_THAT(all.fault->error.hint, testing::HasSubstr("a[1] reads x = 2 from b[1]"));
  EXPECT_EQ(all.outcome, ExploreOutcome::Unknown);
}

TEST(Explore, AnswersUnknownWhenTheTimeIsOver) {
  std::string text;
  for (int s = 0; s < 8; ++s)
    text += fmt::format(
        "session s{} {{ {{ a := read(x); b := read(y); write(x, {}); write(y, {}) }}"
        " {{ c := read(y); write(x, c) }} }}\n",
        s, s, s);
  const Exploration all =
      explored(program_of(text), "rc", Algorithm::Best, {}, {.budget = Budget::seconds(0.05)});
  EXPECT_TRUE(all.is_out_of_time);
  EXPECT_EQ(all.outcome, ExploreOutcome::Unknown);
  EXPECT_GT(all.histories, 0U);
}

TEST(Explore, HandlesMoreThan64Transactions) {
  std::string text = "session r { { a := read(x); b := read(y) } }\n";
  for (int i = 0; i < 70; ++i)
    text += fmt::format("session s{} {{ {{ write(z[{}], 1) }} }}\n", i, i);
  text += "session w { { write(x, 1); write(y, 1) } }\n";
  const Program program = program_of(text);
  EXPECT_EQ(explored(program, "rc").histories, 3U);
  EXPECT_EQ(explored(program, "cc").histories, 2U);
  EXPECT_EQ(explored(program, "ser").histories, 2U);
}

// Theorem 6.1: no algorithm of explore-ce's kind explores ser without dead ends.
TEST(ExploreCe, RunsIntoDeadEndsWhenForcedThroughSer) {
  const Exploration forced = explored(program_of(kLostUpdate), "ser", Algorithm::Ce, "ser");
  EXPECT_GT(forced.blocked, 0U);
}

TEST(ExploreCe, VisitsNothingTwiceAndHasNoDeadEnd) {
  for (const char* level : {"rc", "ra", "cc"}) {
    std::set<std::vector<CallId>> maps;
    std::size_t count = 0;
    const Exploration all = explored(program_of(kManySwaps), level, Algorithm::Ce, {},
                                     {.on_history = [&](const store::Recording& run) {
                                       maps.insert(read_from_map(run));
                                       ++count;
                                     }});
    EXPECT_EQ(maps.size(), count);
    EXPECT_EQ(all.blocked, 0U);
    EXPECT_EQ(all.end_states, count);
  }
}

// A read that shows, by Next, a later call which came in with an earlier swap of its transaction
// is not swapped, and may be swapped itself. The printed definition says otherwise.
TEST(ExploreCe, SwapsAReadAfterAnotherOfItsTransactionBroughtItsWriterIn) {
  const Program program = program_of(R"(
session a { { u := read(x); v := read(n) } }
session b { { write(n, 1) } }
session c { { r := read(n); write(x, 1) } { s := read(n); write(n, s + 1) } }
)");
  for (const char* level : {"rc", "ra", "cc"}) {
    EXPECT_EQ(explored(program, level, Algorithm::Ce).histories,
              explored(program, level, Algorithm::ByTxn).histories)
        << level;
  }
}

TEST(ExploreCe, WalksThroughWeakerLevelsWithAFilter) {
  const Program program = program_of(kManySwaps);
  const std::uint64_t expected = explored(program, "cc").histories;
  std::uint64_t last = 0;
  for (const char* base : {"cc", "ra", "rc", "true"}) {
    const Exploration all = explored(program, "cc", Algorithm::Ce, base);
    EXPECT_EQ(all.histories, expected) << base;
    EXPECT_GE(all.end_states, last) << base;
    last = all.end_states;
  }
}

TEST(ExplorePlan, RefusesABaseThatWouldLoseHistories) {
  const Program program = program_of(kLostUpdate);
  const auto plan = make_plan(program, **levels().find("rc"), levels(), Algorithm::Ce, "cc");
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().what, testing::HasSubstr("lose histories"));
}

TEST(ExplorePlan, ReportsAnUnknownLevelOfACallAtItsPlace) {
  const Program program =
      program_of("session a { { v := read(x) } }\nsession b { @nonsense { v := read(x) } }\n");
  const auto plan = make_plan(program, **levels().find("rc"), levels(), Algorithm::Best, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().where.line, 2U);
}

TEST(ExplorePlan, FindsTheBaseOfAUsersLevelByProof) {
  LevelSet own = levels();
  const auto added = own.add(R"(
level mine over co
axiom A: forall x: key, t1, t2, t3: txn.
    wr[x](t1, t3) and writes(t2, x) and t1 != t2 and (so | wr)+(t2, t3)  implies  co(t2, t1)
axiom B: forall x: key, t1, t2, t3: txn.
    wr[x](t1, t2) and wr[x](t1, t3) and writes(t2, x) and writes(t3, x)  implies  t2 = t3
)",
                             "mine.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  const Program program = program_of(kLostUpdate);
  const auto plan = make_plan(program, **own.find("mine"), own, Algorithm::Best, {});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->rules.weak.entries(), std::vector(2, WeakLevel::Cc));
  EXPECT_EQ(explore(program, *plan, {}).histories, 2U);
}

}  // namespace
}  // namespace isoscope::explore
