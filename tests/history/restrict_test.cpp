#include "history/restrict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;

TEST(Restrict, KeepsNamesOrderAndWriters) {
  const History h = history_of(
      "s1: [w(x,1)]  a=[r(x,1) w(y,1)]\n"
      "s2: b=[r(y,1) r(x,1)]  [w(z,1)]");
  const TxnId a{2};
  const TxnId b{3};
  const History part = restrict_to(h, std::vector{a, b});
  ASSERT_EQ(part.num_txns(), 3U);
  EXPECT_EQ(part.name(TxnId{1}), "a");
  EXPECT_EQ(part.name(TxnId{2}), "b");
  EXPECT_EQ(part.name(part.session(TxnId{2})), "s2");
  // What was read from the missing first transaction is gone.
  EXPECT_THAT(part.reads_from(), ElementsAre(ReadFrom{KeyId{0}, TxnId{1}, TxnId{2}}));
  EXPECT_EQ(part.name(KeyId{0}), "y");
  EXPECT_TRUE(part.faults().empty());
}

}  // namespace
}  // namespace isoscope
