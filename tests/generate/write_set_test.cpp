#include "generate/write_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/rng.h"

namespace isoscope::simulation {
namespace {

TEST(KeyMap, AgreesWithAStandardMap) {
  Rng rng(11);
  KeyMap<std::int64_t> map;
  std::map<std::uint32_t, std::int64_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const auto key = static_cast<std::uint32_t>(rng.below(5000) * 1'000'003);
    EXPECT_EQ(map.find(key) != nullptr, expected.contains(key));
    map.at(key) = i;
    expected[key] = i;
  }
  EXPECT_EQ(map.size(), expected.size());
  for (const auto& [key, value] : expected) EXPECT_EQ(*map.find(key), value);
  map.clear();
  EXPECT_EQ(map.find(expected.begin()->first), nullptr);
}

// Beyond a few keys the set changes from searching to an index; both answer alike.
TEST(WriteSet, KeepsTheLastValueOfEachKeyInOrderOfFirstWriting) {
  WriteSet own;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t key = 100; key > 0; --key) {
      EXPECT_EQ(own.find(key), nullptr);
      own.set(key, key);
      own.set(key, key + 1000);
      ASSERT_NE(own.find(key), nullptr);
      EXPECT_EQ(*own.find(key), key + 1000);
      EXPECT_EQ(*own.find(100), 1100);
    }
    ASSERT_EQ(own.writes().size(), 100U);
    EXPECT_EQ(own.writes().front().key, 100U);
    EXPECT_EQ(own.writes().back().value, 1001);
    own.clear();
    EXPECT_TRUE(own.empty());
  }
}

}  // namespace
}  // namespace isoscope::simulation
