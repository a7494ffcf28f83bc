// What is written is read back the same, or is not written at all.
#include "formats/round_trip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/wild_history.h"

namespace isoscope {
namespace {

class RoundTrip : public ::testing::TestWithParam<Format> {
 protected:
  // Writes and reads back `count` histories; returns how many the format could hold.
  int survive(WildShape shape, int count) {
    const Format format = GetParam();
    int held = 0;
    for (int i = 0; i < count; ++i) {
      const auto seed = static_cast<std::uint64_t>(i) * 7919 + 17;
      const auto h = WildHistory(seed, shape).make();
      if (!h) continue;
      SCOPED_TRACE("seed " + std::to_string(seed));
      held += survives(*h, format) ? 1 : 0;
      if (HasFailure()) return held;
    }
    return held;
  }
};

TEST_P(RoundTrip, KeepsPlainHistories) {
  const int held = survive({.plain = true}, 3000);
  EXPECT_GT(held, 150);
}

TEST_P(RoundTrip, KeepsOrRefusesWildHistories) {
  const int held = survive({}, 6000);
  EXPECT_GT(held, 100);
}

TEST_P(RoundTrip, KeepsOrRefusesHistoriesWithLists) { survive({.lists = true}, 6000); }

TEST_P(RoundTrip, KeepsOrRefusesStatementsLocksAndTimes) {
  const int held = survive({.statements = true}, 6000);
  if (GetParam() == Format::Hist || GetParam() == Format::Jsonl) {
    EXPECT_GT(held, 1000);
  }
}

// From any format that holds it to this one and back into the first.
TEST_P(RoundTrip, KeepsWhatOtherFormatsTold) {
  int converted = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const WildShape shape{
        .plain = seed % 2 == 0, .lists = seed % 3 == 0, .statements = seed % 4 == 1};
    const auto h = WildHistory(seed, shape).make();
    if (!h || h->num_txns() == 1) continue;
    for (Format other : writable()) {
      const Written first = write(*h, other);
      if (!first.done) continue;
      const auto told = parse_all_of(first.text, other);
      ASSERT_TRUE(told.ok()) << seed << render(told.error());
      const Written second = write(*told, GetParam());
      if (!second.done) continue;
      const auto again = parse_all_of(second.text, GetParam());
      ASSERT_TRUE(again.ok()) << "seed " << seed << render(again.error()) << second.text;
      const Likeness likeness{.names = false,
                              .values = kept_by(other).values && kept_by(GetParam()).values,
                              .initial_values = false,
                              .session_order = false};
      ASSERT_EQ(portrait(*again, likeness), portrait(*h, likeness)) << "seed " << seed << "\n"
                                                                    << first.text << "\n"
                                                                    << second.text;
      ++converted;
    }
  }
  EXPECT_GT(converted, 50);
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, ::testing::ValuesIn(writable()), [](const auto& test) {
  std::string name(name_of(test.param));
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace isoscope
