// What is written is read back the same, or is not written at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/formats.h"
#include "formats/likeness.h"
#include "formats/wild_history.h"

namespace isoscope {
namespace {

struct Written {
  std::string text;
  Result<void> done;
};

Written write(const History& h, Format format) {
  Written written;
  written.done = write_history(h, format, [&](std::string_view piece) { written.text += piece; });
  return written;
}

std::vector<Format> writable() {
  std::vector<Format> formats;
  for (Format format : all_formats()) {
    if (can_write(format)) formats.push_back(format);
  }
  return formats;
}

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
      const Written written = write(*h, format);
      if (!written.done) {
        EXPECT_EQ(written.text, "") << "seed " << seed;
        EXPECT_THAT(written.done.error().what, ::testing::HasSubstr("cannot hold")) << seed;
        EXPECT_FALSE(written.done.error().hint.empty()) << "seed " << seed;
        continue;
      }
      ++held;
      if (h->num_txns() == 1 && written.text.empty()) continue;  // nothing is an empty file
      const auto again = parse_history(written.text, format);
      if (!again) {
        ADD_FAILURE() << "seed " << seed << "\n"
                      << render(again.error()) << "\n"
                      << written.text << portrait(*h);
        return held;
      }
      const Likeness likeness = kept_by(format);
      EXPECT_EQ(portrait(*again, likeness), portrait(*h, likeness)) << "seed " << seed << "\n"
                                                                    << written.text;
      if (likeness.initial_values) {
        EXPECT_TRUE(states_the_same(*h, *again)) << "seed " << seed << "\n" << written.text;
      }
      if (h->num_txns() > 1) {
        EXPECT_EQ(recognise(written.text), format) << written.text;
      }
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

// From any format that holds it to this one and back into the first.
TEST_P(RoundTrip, KeepsWhatOtherFormatsTold) {
  int converted = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto h = WildHistory(seed, {.plain = seed % 2 == 0, .lists = seed % 3 == 0}).make();
    if (!h || h->num_txns() == 1) continue;
    for (Format other : writable()) {
      const Written first = write(*h, other);
      if (!first.done) continue;
      const auto told = parse_history(first.text, other);
      ASSERT_TRUE(told.ok()) << seed << render(told.error());
      const Written second = write(*told, GetParam());
      if (!second.done) continue;
      const auto again = parse_history(second.text, GetParam());
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
