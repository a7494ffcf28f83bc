#include "check/ground/short_cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/rng.h"

namespace isoscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ShortCycles, ListsTheShortestFirst) {
  BitMatrix r(6, 6);
  for (const auto& [a, b] : std::vector<std::array<std::size_t, 2>>{
           {0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 3}, {2, 3}, {5, 5}})
    r.insert(a, b);
  Budget unlimited;
  EXPECT_THAT(short_cycles(r, 10, unlimited),
              ElementsAre(ElementsAre(5), ElementsAre(3, 4), ElementsAre(0, 1, 2)));
  EXPECT_THAT(short_cycles(r, 1, unlimited), ElementsAre(ElementsAre(5)));
  EXPECT_THAT(short_cycles(BitMatrix(3, 3), 10, unlimited), IsEmpty());
}

TEST(ShortCycles, AreCyclesAndThereUnlessTheRelationHasNone) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(70);
    const std::size_t pairs = rng.below(n + n / 4 + 1);
    BitMatrix r(n, n);
    for (std::size_t i = 0; i < pairs; ++i) r.insert(rng.below(n), rng.below(n));
    Budget unlimited;
    const auto cycles = short_cycles(r, 1000, unlimited);
    EXPECT_EQ(cycles.empty(), is_acyclic(r));
    for (const auto& cycle : cycles) {
      for (std::size_t i = 0; i < cycle.size(); ++i)
        EXPECT_TRUE(r.contains(cycle[i], cycle[(i + 1) % cycle.size()]));
    }
  }
}

}  // namespace
}  // namespace isoscope
