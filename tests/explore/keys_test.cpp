// Keys that a program computes: an exploration needs room for those on its path, not for all that
// it has ever seen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "explore/explore.h"
#include "program/program.h"
#include "spec/levels.h"
#include "store/recording.h"

namespace isoscope::explore {
namespace {

// Each transaction writes a key that tells all that came before it.
std::string chain_of(int sessions) {
  std::string text = "txn add(n) { a := read(x); write(x, a * 8 + n); write(log[a * 8 + n], n) }\n";
  for (int s = 1; s <= sessions; ++s) text += fmt::format("session s{0} {{ add({0}) }}\n", s);
  return text + "assert s1[1].a != 2\n";
}

struct Explored {
  Exploration all;
  std::size_t numbers = 0;
  std::size_t made = 0;
};

Explored explore_chain(const char* name, int sessions, unsigned threads) {
  const auto program = parse_program(chain_of(sessions));
  EXPECT_TRUE(program.ok());
  const LevelSet& known = LevelSet::built_in();
  const auto plan = make_plan(*program, **known.find(name), known, Algorithm::Best, {});
  EXPECT_TRUE(plan.ok());
  Explored explored{.all = explore(*program, *plan, {.threads = threads})};
  explored.numbers = program->keys().size();
  explored.made = program->keys().num_made();
  // The examples still have their keys, whatever was dropped since.
  for (const store::Recording& run : explored.all.violations) {
    for (const store::RecordedTxn& txn : run.txns) {
      EXPECT_EQ(txn.accesses.size(), 3U);
      EXPECT_EQ(program->keys().name(txn.accesses[2].key),
                fmt::format("log[{}]", txn.accesses[1].value));
    }
  }
  return explored;
}

TEST(ComputedKeys, AreDroppedWhenTheyAreNoLongerOnThePath) {
  // At cc every transaction reads from any other, without a cycle: (n + 1)^(n - 1) trees.
  // Runs that are remembered keep up to 2,000 keys.
  const Explored cc = explore_chain("cc", 7, 1);
  EXPECT_EQ(cc.all.histories, 262144U);
  EXPECT_FALSE(cc.all.violations.empty());
  EXPECT_GT(cc.made, 13'000U);
  EXPECT_LT(cc.numbers, 4'500U);
  const Explored ser = explore_chain("ser", 7, 1);
  EXPECT_EQ(ser.all.histories, 5040U);
  EXPECT_GT(ser.made, 13'000U);
  EXPECT_LT(ser.numbers, 1'200U);
  const Explored psi = explore_chain("psi", 7, 1);
  EXPECT_EQ(psi.all.histories, 5040U);
  EXPECT_GT(psi.made, 13'000U);
  EXPECT_LT(psi.numbers, 4'500U);
}

TEST(ComputedKeys, AreDroppedByEachThread) {
  const Explored one = explore_chain("cc", 7, 1);
  const Explored two = explore_chain("cc", 7, 2);
  EXPECT_EQ(two.all.histories, one.all.histories);
  EXPECT_EQ(two.all.violating, one.all.violating);
  EXPECT_EQ(two.all.violations.size(), one.all.violations.size());
  EXPECT_GT(two.made, 13'000U);
  EXPECT_LT(two.numbers, 9'000U);
  const Explored ser = explore_chain("ser", 7, 3);
  EXPECT_EQ(ser.all.histories, 5040U);
  EXPECT_LT(ser.numbers, 3'600U);
}

}  // namespace
}  // namespace isoscope::explore
