#pragma once
// Texts that must be refused, with the place and the words of the error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "formats/formats.h"

namespace isoscope {

struct BadText {
  std::string text;
  Place place;
  std::string what;  // a part of the error's message
};

inline void PrintTo(const Place& place, std::ostream* out) {
  *out << place.line << ":" << place.column;
}

inline void expect_refused(Format format, const std::vector<BadText>& texts) {
  for (const BadText& bad : texts) {
    const auto h = parse_history(bad.text, format);
    ASSERT_FALSE(h.ok()) << bad.text;
    EXPECT_EQ(h.error().where, bad.place) << bad.text << "\n" << render(h.error());
    EXPECT_THAT(h.error().what, ::testing::HasSubstr(bad.what)) << bad.text;
    EXPECT_EQ(h.error().line.empty(), bad.place.line == 0) << bad.text << "\n" << render(h.error());
  }
}

inline History expect_read(Format format, std::string_view text) {
  auto h = parse_history(text, format);
  if (!h) {
    ADD_FAILURE() << render(h.error());
    ISO_ASSERT(h.ok());
  }
  return std::move(*h);
}

// The i-th event of the t-th transaction.
inline EventId event_at(const History& h, std::uint32_t t, std::uint32_t i) {
  return EventId{h.events(TxnId{t}).front().index + i};
}

inline std::string written(const History& h, Format format) {
  std::string text;
  const auto done = write_history(h, format, [&](std::string_view piece) { text += piece; });
  return done ? text : render(done.error());
}

}  // namespace isoscope
