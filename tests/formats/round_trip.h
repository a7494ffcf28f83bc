#pragma once
// What is written is read back the same, or is not written at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/formats.h"
#include "formats/jsonl.h"
#include "formats/likeness.h"
#include "support/input.h"

namespace isoscope {

struct Written {
  std::string text;
  Result<void> done;
};

inline Written write(const History& h, Format format) {
  Written written;
  written.done = write_history(h, format, [&](std::string_view piece) { written.text += piece; });
  return written;
}

inline std::vector<Format> writable() {
  std::vector<Format> formats;
  for (Format format : all_formats()) {
    if (can_write(format)) formats.push_back(format);
  }
  return formats;
}

// With what a recorded run says besides: it may have gaps.
inline Result<History> parse_all_of(const std::string& text, Format format) {
  if (format != Format::Jsonl) return parse_history(text, format);
  LineReader in = LineReader::over(text);
  RunNotes notes;
  return read_jsonl(in, &notes);
}

// Can the format hold the history? If so, the history must come back as it was.
inline bool survives(const History& h, Format format) {
  const Written written = write(h, format);
  if (!written.done) {
    EXPECT_EQ(written.text, "");
    EXPECT_THAT(written.done.error().what, ::testing::HasSubstr("cannot hold"));
    EXPECT_FALSE(written.done.error().hint.empty());
    return false;
  }
  if (h.num_txns() == 1 && written.text.empty()) return true;  // nothing is an empty file
  const auto again = parse_all_of(written.text, format);
  if (!again) {
    ADD_FAILURE() << render(again.error()) << "\n" << written.text << portrait(h);
    return true;
  }
  const Likeness likeness = kept_by(format);
  EXPECT_EQ(portrait(*again, likeness), portrait(h, likeness)) << written.text;
  if (likeness.initial_values) {
    EXPECT_TRUE(states_the_same(h, *again)) << written.text;
  }
  if (h.num_txns() > 1) {
    EXPECT_EQ(recognise(written.text), format) << written.text;
  }
  return true;
}

}  // namespace isoscope
