#include "graph/bit_matrix.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "support/rng.h"

namespace isoscope {
namespace {

using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

Pairs pairs(const BitMatrix& m) {
  Pairs all;
  for (std::size_t a = 0; a < m.rows(); ++a)
    for_each_bit(m.row(a), [&](std::size_t b) { all.emplace(a, b); });
  return all;
}

BitMatrix random_matrix(Rng& rng, std::size_t rows, std::size_t columns, std::size_t count) {
  BitMatrix m(rows, columns);
  for (std::size_t i = 0; i < count; ++i) m.insert(rng.below(rows), rng.below(columns));
  return m;
}

TEST(BitMatrix, AgreesWithSetsOfPairs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(100);
    const std::size_t k = 1 + rng.below(100);
    const BitMatrix a = random_matrix(rng, n, k, rng.below(60));
    const BitMatrix b = random_matrix(rng, n, k, rng.below(60));
    const BitMatrix c = random_matrix(rng, k, n, rng.below(60));
    Pairs united, common, rest, composed, turned;
    for (const auto& [x, y] : pairs(a)) {
      united.emplace(x, y);
      turned.emplace(y, x);
      (b.contains(x, y) ? common : rest).emplace(x, y);
      for (const auto& [from, to] : pairs(c)) {
        if (from == y) composed.emplace(x, to);
      }
    }
    united.merge(pairs(b));
    EXPECT_EQ(pairs(unite(a, b)), united);
    EXPECT_EQ(pairs(intersect(a, b)), common);
    EXPECT_EQ(pairs(subtract(a, b)), rest);
    EXPECT_EQ(pairs(compose(a, c)), composed);
    EXPECT_EQ(pairs(a.transposed()), turned);
    EXPECT_EQ(a == b, pairs(a) == pairs(b));
    EXPECT_EQ(a.nonempty_rows().count(), [&] {
      std::set<std::size_t> rows;
      for (const auto& pair : pairs(a)) rows.insert(pair.first);
      return rows.size();
    }());
  }
}

TEST(BitMatrix, ClosesTransitivelyAndKnowsWhetherThereAreCycles) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(70);
    const BitMatrix r = random_matrix(rng, n, n, rng.below(n + n / 4 + 1));
    BitMatrix closed = r;  // by repeated composition
    while (!(unite(closed, compose(closed, r)) == closed))
      closed = unite(closed, compose(closed, r));
    EXPECT_EQ(transitive_closure(r), closed);
    bool cyclic = false;
    for (std::size_t a = 0; a < n; ++a) cyclic |= closed.contains(a, a);
    EXPECT_EQ(is_acyclic(r), !cyclic);
  }
}

TEST(BitMatrix, UnitesARowOfItselfIntoAFreshRow) {
  BitMatrix m(3, 200);
  m.insert(0, 150);
  m.unite_row(2, m.row(0));  // makes room while looking at a row of its own
  EXPECT_TRUE(m.contains(2, 150));
}

TEST(BitSet, KeepsOnlyWhatWasThere) {
  BitSet s = BitSet::full(70);
  EXPECT_EQ(s.count(), 70U);
  s.keep_only(69);
  EXPECT_EQ(s.count(), 1U);
  s.keep_only(3);
  EXPECT_TRUE(s.empty());
}

}  // namespace
}  // namespace isoscope
