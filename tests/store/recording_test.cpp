#include "store/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/read_from_map.h"

namespace isoscope::store {
namespace {

using ::testing::ElementsAre;

// Two calls that ran the other way round, both with an assertion that fails.
Recording two_failures() {
  Recording recording;
  recording.txns = {{.is_committed = true, .failed_assertion = AssertionId{4}},
                    {.is_committed = true, .failed_assertion = AssertionId{2}}};
  recording.order = {CallId{1}, CallId{0}};
  return recording;
}

TEST(Recording, ListsFailedAssertionsAsTransactionsRan) {
  Recording recording = two_failures();
  EXPECT_THAT(recording.failed_assertions(), ElementsAre(AssertionId{2}, AssertionId{4}));
  recording.failed_at_end = AssertionId{1};
  EXPECT_THAT(recording.failed_assertions(),
              ElementsAre(AssertionId{2}, AssertionId{4}, AssertionId{1}));
}

TEST(Recording, FailsIfATransactionOrTheEndFails) {
  EXPECT_TRUE(two_failures().has_failed_assertion());
  Recording recording;
  recording.txns.resize(1);
  EXPECT_FALSE(recording.has_failed_assertion());
  recording.failed_at_end = AssertionId{0};
  EXPECT_TRUE(recording.has_failed_assertion());
}

TEST(Recording, IsKnownByWhomEachCallReadsFrom) {
  const Access read{.is_read = true, .value = 7, .writer = CallId{1}};
  Recording first;
  first.txns = {{.accesses = {read}}, {.accesses = {{.value = 7}}}};
  Recording second = first;
  second.order = {CallId{1}, CallId{0}};
  second.txns[CallId{1}].accesses.front().value = 8;
  EXPECT_EQ(read_from_map(first), read_from_map(second));
  second.txns[CallId{0}].accesses.front().writer = kInitialWriter;
  EXPECT_NE(read_from_map(first), read_from_map(second));
  // The same reads by another call.
  std::swap(first.txns[CallId{0}], first.txns[CallId{1}]);
  const CallId next_call = call_before(kInitialWriter);
  EXPECT_THAT(read_from_map(first), ElementsAre(next_call, CallId{1}, next_call));
}

}  // namespace
}  // namespace isoscope::store
