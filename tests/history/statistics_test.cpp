#include "history/statistics.h"

#include <gtest/gtest.h>

#include "support/history_of.h"

namespace isoscope {
namespace {

TEST(Statistics, CountsWhatIsThere) {
  const History h = history_of(
      "s1: [r(x,0) w(x,1) w(x,2) r(x,2)]  [w(y,1)]!\n"
      "s2: [r(x,2) r(z,0)]  [w(z,1)]?\n"
      "s3: [w(x,3)]");
  const HistoryStatistics s = statistics(h);
  EXPECT_EQ(s.sessions, 3U);
  EXPECT_EQ(s.committed, 3U);
  EXPECT_EQ(s.aborted, 1U);
  EXPECT_EQ(s.unknown, 1U);
  EXPECT_EQ(s.unknown_absent, 1U);
  EXPECT_EQ(s.read_only, 1U);
  EXPECT_EQ(s.events, 9U);
  EXPECT_EQ(s.external_reads, 3U);
  EXPECT_EQ(s.internal_reads, 1U);
  EXPECT_EQ(s.initial_reads, 2U);
  EXPECT_EQ(s.reads_with_choice, 2U);  // nobody but T0 writes z
  EXPECT_EQ(s.final_writes, 2U);
  EXPECT_EQ(s.overwritten_writes, 1U);
  EXPECT_EQ(s.key_writers.max, 2U);
  EXPECT_EQ(s.txn_events.max, 4U);
}

TEST(Distribution, TakesQuantiles) {
  const Distribution d = distribution_of({5, 1, 2, 3, 4, 100, 6, 7, 8, 9, 10});
  EXPECT_EQ(d.min, 1U);
  EXPECT_EQ(d.median, 6U);
  EXPECT_EQ(d.p90, 10U);
  EXPECT_EQ(d.max, 100U);
}

}  // namespace
}  // namespace isoscope
