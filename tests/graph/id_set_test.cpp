#include "graph/id_set.h"

#include <gmock/gmock.h>

#include <vector>

#include "support/by_id.h"

namespace isoscope {
namespace {

using Thing = Id<struct ThingTag>;
using Other = Id<struct OtherTag>;
using Set = IdSet<Thing, 2>;

std::vector<std::uint32_t> members(const Set& set) {
  std::vector<std::uint32_t> all;
  set.for_each([&](Thing id) { all.push_back(id.index); });
  return all;
}

TEST(IdSet, HasMembersOnBothSidesOfAWord) {
  Set set = Set::of({63});
  set.insert({64});
  set.insert({2});
  EXPECT_THAT(members(set), testing::ElementsAre(2, 63, 64));
  EXPECT_EQ(set.front(), Thing{2});
  EXPECT_EQ(set.size(), 3U);
  set.erase({2});
  EXPECT_FALSE(set.contains({2}));
  EXPECT_EQ(set.front(), Thing{63});
}

TEST(IdSet, CutsRangesAtWords) {
  EXPECT_EQ(Set::first(0), Set());
  EXPECT_EQ(Set::first(64).size(), 64U);
  EXPECT_EQ(Set::first(200).size(), Set::kCapacity);
  EXPECT_THAT(members(Set::between({62}, {66})), testing::ElementsAre(62, 63, 64, 65));
  EXPECT_TRUE(Set::between({5}, {5}).empty());
}

TEST(IdSet, ComparesAndCombines) {
  const Set low = Set::first(3);
  const Set some = Set::between({2}, {70});
  EXPECT_THAT(members(low & some), testing::ElementsAre(2));
  EXPECT_THAT(members(low - some), testing::ElementsAre(0, 1));
  EXPECT_TRUE((low & some).is_subset_of(low));
  EXPECT_FALSE(some.is_subset_of(low));
  EXPECT_TRUE(some.intersects(low));
  EXPECT_EQ((low | some).size(), 70U);
  EXPECT_NE(low.hash(), some.hash());
}

// A table is indexed by its own ids only; sets of other ids are other types.
static_assert(!std::is_invocable_v<decltype([](ById<Thing, int>& t, auto id) -> decltype(t[id]) {
                                     return t[id];
                                   }),
                                   ById<Thing, int>&, Other>);
static_assert(!std::is_same_v<Set, Set::Of<Other>>);
static_assert(sizeof(Set) == 2 * sizeof(std::uint64_t));

TEST(ById, GrowsToAnId) {
  ById<Thing, int> table;
  EXPECT_EQ(table.next_id(), Thing{0});
  table.grown({2}, 7) = 5;
  EXPECT_THAT(table.entries(), testing::ElementsAre(7, 7, 5));
  table.grown({1}, 9) += 1;
  EXPECT_THAT(table.entries(), testing::ElementsAre(7, 8, 5));
  EXPECT_TRUE(table.contains({2}));
  EXPECT_FALSE(table.contains({3}));
  EXPECT_FALSE(table.contains(Thing::none()));
}

TEST(ById, ListsItsIds) {
  const ById<Thing, bool> table(3, true);
  std::vector<Thing> ids;
  for (const Thing id : table.ids()) ids.push_back(id);
  EXPECT_THAT(ids, testing::ElementsAre(Thing{0}, Thing{1}, Thing{2}));
  EXPECT_TRUE(table[Thing{2}]);
}

}  // namespace
}  // namespace isoscope
