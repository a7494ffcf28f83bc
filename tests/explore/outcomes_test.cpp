#include "explore/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/explore.h"
#include "explore/weakest.h"
#include "program/program.h"
#include "support/program_of.h"

namespace isoscope::explore {
namespace {

using testing::ElementsAre;

constexpr const char* kSkew = R"(
init a = 1
init b = 1
txn leave(me, other) { u := read(a); v := read(b); if (u + v < 2) { abort }
  if (me == 1) { write(a, 0) } else { write(b, 0) } }
session s { leave(1, 2) }
session t { leave(2, 1) }
assert !(committed(s[1]) && committed(t[1]))
)";

TEST(Outcomes, TellTheStrongestLevelThatAllowsThem) {
  const Program program = program_of(kSkew);
  const LevelSet& levels = LevelSet::built_in();
  const auto plan = make_plan(program, **levels.find("rc"), levels, Algorithm::Best, {});
  Outcomes outcomes(program);
  (void)explore(program, *plan,
                {.on_history = [&](const store::Recording& run) { outcomes.add(run); }});
  std::size_t num_skewed = 0;
  for (const ProgramOutcome& outcome : outcomes.sorted()) {
    if (outcome.failed_assertions.empty()) {
      EXPECT_EQ(outcome.levels.back(), "ser");
    } else {
      EXPECT_THAT(outcome.levels, ElementsAre("rc", "ra", "cc", "pc", "psi", "si"));
      ++num_skewed;
    }
  }
  EXPECT_EQ(num_skewed, 1U);
}

TEST(Weakest, IsSerForWriteSkew) {
  const auto weakest = find_weakest(program_of(kSkew), LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_THAT(weakest->minimal, ElementsAre("ser"));
}

TEST(Weakest, IsRcWhereNothingCanGoWrong) {
  const auto weakest =
      find_weakest(program_of("session a { { v := read(x); assert(v == 0 || v == 1) } }\n"
                              "session b { { write(x, 1) } }\n"),
                   LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_THAT(weakest->minimal, ElementsAre("rc"));
  EXPECT_EQ(weakest->trials.size(), 1U);
}

TEST(Weakest, IsPsiWhereUpdatesMustNotGetLost) {
  const auto weakest =
      find_weakest(program_of("txn add() { v := read(x); write(x, v + 1) }\n"
                              "session a { add() }\nsession b { add() }\n"
                              "session c { { v := read(x); w := read(x); assert(v == w) } }\n"
                              "assert a[1].v != b[1].v\n"),
                   LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_THAT(weakest->minimal, ElementsAre("psi"));
}

TEST(Weakest, LowersTransactionsThatNeedLess) {
  const auto weakest =
      find_weakest(program_of(std::string(kSkew) + "session r { { z := read(c) } }\n"),
                   LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_THAT(weakest->mixed.entries(), ElementsAre("ser", "ser", "rc"));
}

TEST(Weakest, LowersTheCallsOfAFunctionTogether) {
  // Either of the readers could run at rc beside the other, but both together see too much.
  const auto weakest = find_weakest(
      program_of("txn look() { u := read(x); v := read(y) }\n"
                 "session w { { write(x, 1); write(y, 1) } }\n"
                 "session a { look() }\nsession b { look() }\nsession c { look() @ser }\n"
                 "assert a[1].u == a[1].v || b[1].u == b[1].v\n"),
      LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_THAT(weakest->minimal, ElementsAre("ra"));
  EXPECT_THAT(weakest->mixed.entries(), ElementsAre("rc", "ra", "ra", "ser"));
  EXPECT_THAT(weakest->is_decided.entries(), ElementsAre(true, true, true, true));
}

TEST(Weakest, SaysWhatWasNotDecided) {
  const auto weakest =
      find_weakest(program_of(std::string(kSkew) + "session r { { z := read(c) } }\n"),
                   LevelSet::built_in(), {.budget = Budget::seconds(0)});
  ASSERT_TRUE(weakest.ok());
  EXPECT_TRUE(weakest->is_out_of_time);
  EXPECT_TRUE(weakest->minimal.empty());
  EXPECT_FALSE(weakest->is_minimal_known());
}

TEST(Weakest, IsNoneIfAnAssertionFailsSerially) {
  const auto weakest = find_weakest(program_of("session a { { v := read(x); assert(v == 5) } }\n"),
                                    LevelSet::built_in(), {});
  ASSERT_TRUE(weakest.ok());
  EXPECT_TRUE(weakest->minimal.empty());
  EXPECT_FALSE(weakest->is_out_of_time);
}

}  // namespace
}  // namespace isoscope::explore
