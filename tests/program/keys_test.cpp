#include "program/keys.h"

#include <gmock/gmock.h>

#include <thread>

namespace isoscope {
namespace {

TEST(KeyTable, GivesEachKeyOneNumber) {
  KeyTable keys;
  const FamilyId t = keys.family("T");
  const FamilyId u = keys.family("U");
  EXPECT_EQ(keys.family("T"), t);
  EXPECT_NE(t, u);
  const std::vector<std::int64_t> one = {1};
  const std::vector<std::int64_t> one_two = {1, -2};
  const ProgramKey plain = keys.intern(t, {});
  const ProgramKey row = keys.intern(t, one);
  const ProgramKey cell = keys.intern(t, one_two);
  EXPECT_EQ(keys.intern(u, one), ProgramKey{3});
  EXPECT_EQ(keys.intern(t, {}), plain);
  EXPECT_EQ(keys.intern(t, one), row);
  EXPECT_EQ(keys.intern(t, one_two), cell);
  EXPECT_EQ(keys.size(), 4U);
  EXPECT_EQ(keys.num_families(), 2U);
  EXPECT_EQ(keys.name(plain), "T");
  EXPECT_EQ(keys.name(row), "T[1]");
  EXPECT_EQ(keys.name(cell), "T[1, -2]");
  EXPECT_EQ(keys.family(cell), t);
  EXPECT_EQ(keys.name(u), "U");
}

TEST(KeyTable, ShowsIndicesByTheirNames) {
  KeyTable keys;
  const std::vector<std::int64_t> bob = {-9, 3};
  const ProgramKey key = keys.intern(keys.family("T"), bob);
  keys.name_index(-9, "bob");
  EXPECT_EQ(keys.name(key), "T[bob, 3]");
}

TEST(KeyTable, StartsKeysAtZero) {
  KeyTable keys;
  const ProgramKey x = keys.intern(keys.family("x"), {});
  EXPECT_EQ(keys.initial(x), 0);
  keys.set_initial(x, -5);
  EXPECT_EQ(keys.initial(x), -5);
}

TEST(KeyTable, GivesNumbersThatNobodyHoldsToOthersOfTheFamily) {
  KeyTable keys;
  const FamilyId t = keys.family("t");
  const FamilyId u = keys.family("u");
  const auto hold = [&](FamilyId family, std::int64_t index) {
    return keys.hold(family, {&index, 1});
  };
  const ProgramKey first = hold(t, 1);
  EXPECT_EQ(hold(t, 1), first);
  keys.release(first);
  EXPECT_NE(hold(t, 2), first) << "somebody still holds it";
  keys.release(first);
  EXPECT_NE(hold(u, 3), first) << "of another family";
  EXPECT_EQ(hold(t, 4), first);
  EXPECT_EQ(keys.name(first), "t[4]");
  keys.keep(first);
  keys.release(first);
  EXPECT_NE(hold(t, 5), first) << "kept";
  const std::int64_t six = 6;
  const ProgramKey named = keys.intern(t, {&six, 1});
  EXPECT_EQ(hold(t, 6), named);
  keys.release(named);
  EXPECT_EQ(keys.name(named), "t[6]") << "what the text names stays";
  EXPECT_EQ(keys.num_made(), 6U);
}

TEST(KeyTable, KnowsWhatMayMeet) {
  KeyTable keys;
  const FamilyId stock = keys.family("stock");
  const FamilyId order = keys.family("order");
  const std::vector<ProgramKey> one{keys.intern(stock, std::vector<std::int64_t>{1})};
  const std::vector<ProgramKey> two{keys.intern(stock, std::vector<std::int64_t>{2})};
  const std::vector<FamilyId> stocks{stock};
  const std::vector<FamilyId> orders{order};
  EXPECT_TRUE(keys.may_meet({.keys = one}, {.keys = one}));
  EXPECT_FALSE(keys.may_meet({.keys = one}, {.keys = two}));
  EXPECT_TRUE(keys.may_meet({.keys = one}, {.families = stocks}));
  EXPECT_TRUE(keys.may_meet({.families = stocks}, {.keys = one}));
  EXPECT_FALSE(keys.may_meet({.families = orders}, {.keys = one}));
  EXPECT_TRUE(keys.may_meet({.families = stocks}, {.families = stocks}));
  EXPECT_TRUE(keys.may_meet({.families = stocks}, {.keys = one, .families = orders}));
  EXPECT_FALSE(keys.may_meet({}, {.families = stocks}));
}

TEST(KeyTable, CanBeUsedBySeveralThreads) {
  KeyTable keys;
  const FamilyId family = keys.family("k");
  constexpr std::int64_t kKeys = 2'000;
  std::vector<std::vector<ProgramKey>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&keys, &mine, family] {
      for (std::int64_t i = 0; i < kKeys; ++i) {
        const std::int64_t index = i * 7 % kKeys;
        mine.push_back(keys.intern(family, {&index, 1}));
        if (keys.initial(mine.back()) != 0) mine.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kKeys));
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace isoscope
