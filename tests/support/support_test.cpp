#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "support/error.h"
#include "support/input.h"
#include "support/output.h"
#include "support/rng.h"
#include "support/shorten.h"
#include "support/spelling.h"

namespace isoscope {
namespace {

TEST(Error, PointsAtThePlaceAndHints) {
  const Error error{.where = {2, 5}, .what = "unknown relation 'wv'", .hint = "did you mean 'wr'?"};
  EXPECT_EQ(render(error.in("my.level").quoting("level a\n    wv(a, b)\n")),
            "my.level:2:5: error: unknown relation 'wv'\n"
            "      wv(a, b)\n"
            "      ^ did you mean 'wr'?");
  // However lines end.
  EXPECT_EQ(render(error.in("my.level").quoting("level a\r\n    wv(a, b)\r\n")),
            render(error.in("my.level").quoting("level a\n    wv(a, b)\n")));
}

TEST(Error, KeepsQuietAboutUnknownPlaces) {
  EXPECT_EQ(render(Error{.what = "is empty", .file = "h.txt"}), "h.txt: error: is empty");
}

TEST(Error, ShowsAPartOfALongLineWithTheCaretUnderItsPlace) {
  const std::string text = std::string(500, 'a') + "X" + std::string(500, 'b');
  const Error error{.where = {1, 501}, .what = "no X here"};
  const std::string shown = render(error.in("f").quoting(text));
  const std::string left = "…" + std::string(80, 'a');
  EXPECT_EQ(shown, "f:1:501: error: no X here\n  " + left + "X" + std::string(79, 'b') + "…\n  " +
                       std::string(81, ' ') + "^");
}

TEST(Error, CutsWhatQuotesTooMuch) {
  const Error error{.what = std::string(2'000'000, 'x'), .hint = std::string(2'000'000, 'y')};
  EXPECT_LT(render(error).size(), 3'000U);
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("grün", 4), "grü…");
  EXPECT_EQ(shortened("grün", 3), "gr…");
  EXPECT_EQ(shortened("grün", 5), "grün");
}

TEST(Shorten, ShowsTheEndsOfALongLine) {
  EXPECT_EQ(excerpt_around("abcdefghij", 0, 4).text, "abcd…");
  const Excerpt end = excerpt_around("abcdefghij", 9, 4);
  EXPECT_EQ(end.text, "…ghij");
  EXPECT_EQ(end.text[end.offset], 'j');
  EXPECT_EQ(excerpt_around("abc", 2, 4).text, "abc");
}

TEST(Shorten, ListsTheFirstAndTheLastItems) {
  const auto number = [](std::size_t i) { return std::to_string(i); };
  EXPECT_EQ(short_list(0, ", ", number), "");
  EXPECT_EQ(short_list(3, ", ", number), "0, 1, 2");
  EXPECT_EQ(short_list(9, ", ", number), "0, 1, 2, 3, 4, 5, 6, 7, 8");
  EXPECT_EQ(short_list(100, ", ", number), "0, 1, 2, 3, … 92 more …, 96, 97, 98, 99");
}

TEST(LineReader, HandsOutLinesOfAnyEnding) {
  LineReader reader = LineReader::over("a\r\n\nlast");
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "a");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "last");
  EXPECT_EQ(reader.line_number(), 3U);
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, ReadsLinesLongerThanItsBuffer) {
  const std::string path = ::testing::TempDir() + "/long-line.txt";
  const std::string long_line(std::size_t{3} << 20, 'x');
  ASSERT_TRUE(write_whole(path, "short\n" + long_line + "\nend\n").ok());
  auto reader = LineReader::open(path);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->peek(5), "short");
  std::string_view line;
  ASSERT_TRUE(reader->next(line));
  ASSERT_TRUE(reader->next(line));
  EXPECT_EQ(line.size(), long_line.size());
  ASSERT_TRUE(reader->next(line));
  EXPECT_EQ(line, "end");
  EXPECT_FALSE(reader->next(line));
}

TEST(LineReader, TellsHowMuchOfAFileItHasRead) {
  const std::string path = testing::TempDir() + "/isoscope_progress.txt";
  ASSERT_TRUE(write_whole(path, std::string(3'000'000, 'x')).ok());
  auto reader = LineReader::open(path);
  ASSERT_TRUE(reader.ok());
  std::vector<double> shares;
  reader->report_to([&](std::string_view, double share) { shares.push_back(share); });
  std::string_view line;
  EXPECT_TRUE(reader->next(line));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  ASSERT_FALSE(shares.empty());
  EXPECT_LT(shares.front(), 0.5);
  EXPECT_EQ(shares.back(), 1);
}

TEST(LineReader, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT(render(LineReader::open("/does/not/exist").error()),
              ::testing::HasSubstr("cannot open: No such file"));
  EXPECT_THAT(render(LineReader::open(::testing::TempDir()).error()),
              ::testing::HasSubstr("is a directory"));
}

TEST(Spelling, SuggestsOnlyCloseWords) {
  const std::string_view known[] = {"so", "wr", "writes"};
  EXPECT_EQ(suggest("write", known), "did you mean 'writes'?");
  EXPECT_EQ(suggest("banana", known), "known: so, wr, writes");
  EXPECT_EQ(suggest("wirtes", known), "did you mean 'writes'?");
  EXPECT_EQ(suggest("rw", known), "did you mean 'wr'?");  // two letters swapped are one slip
  EXPECT_EQ(edit_distance("hsit", "hist"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // a swap and what stands between count apart
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Rng, RepeatsItselfForASeedAndStaysInBounds) {
  Rng a(7);
  Rng b(7);
  for (int i = 0; i < 1000; ++i) {
    const auto x = a.below(10);
    EXPECT_EQ(x, b.below(10));
    EXPECT_LT(x, 10U);
  }
}

}  // namespace
}  // namespace isoscope
