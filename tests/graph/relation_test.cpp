#include "graph/relation.h"

#include <gtest/gtest.h>

namespace isoscope {
namespace {

TEST(Relation, ClosesPathsAcrossWords) {
  Relation r(130);
  for (std::size_t i = 0; i + 1 < 130; ++i) r.insert(i, i + 1);
  const Relation closed = transitive_closure(r);
  EXPECT_TRUE(closed.contains(0, 129));
  EXPECT_FALSE(closed.contains(129, 0));
  EXPECT_EQ(closed.count(), 130U * 129U / 2U);
  EXPECT_TRUE(closed.is_transitive());
  EXPECT_TRUE(is_acyclic(r));
  r.insert(129, 0);
  EXPECT_FALSE(is_acyclic(r));
}

TEST(Relation, ComposesAndInverts) {
  Relation a(3);
  a.insert(0, 1);
  Relation b(3);
  b.insert(1, 2);
  EXPECT_TRUE(compose(a, b).contains(0, 2));
  EXPECT_EQ(compose(a, b).count(), 1U);
  EXPECT_TRUE(inverse(b).contains(2, 1));
  EXPECT_TRUE(a.is_subset_of(a | b));
  EXPECT_TRUE(((a | b) - a) == b);
}

}  // namespace
}  // namespace isoscope
