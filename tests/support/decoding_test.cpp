#include "support/decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "support/compressed.h"
#include "support/input.h"
#include "support/rng.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

Result<std::string> read_bytes(const std::string& bytes) {
  const TempFolder folder;
  folder.add("input", bytes);
  return read_whole(folder.at("input"));
}

std::string error_of(const std::string& bytes) {
  const auto text = read_bytes(bytes);
  return text ? "no error" : render(text.error());
}

// Lines of random length, so that no buffer ends where a line does.
std::string random_lines(std::size_t size) {
  Rng rng(7);
  std::string text;
  while (text.size() < size)
    text += std::string(rng.below(200), static_cast<char>('a' + rng.below(26))) + "\n";
  return text;
}

TEST(Decoding, GivesTheTextThatWasCompressed) {
  std::size_t cases = 0;
  for (const std::size_t size : {1UL, 17UL, 5000UL, 3UL << 20U}) {
    const std::string text = random_lines(size);
    for (const auto& compress : {gzipped, zstandard}) {
      const auto read = read_bytes(compress(text));
      ASSERT_TRUE(read) << render(read.error());
      EXPECT_EQ(*read, text);
      // Files that were written one behind the other are one text.
      EXPECT_EQ(*read_bytes(compress(text) + compress("more")), text + "more");
      ++cases;
    }
  }
  EXPECT_EQ(cases, 8U);
  EXPECT_EQ(*read_bytes(gzipped("")), "");
  EXPECT_EQ(*read_bytes(gzipped("tape") + std::string(100, '\0')), "tape");
}

TEST(Decoding, GivesTheSameLines) {
  const std::string text = random_lines(3U << 20U);
  const TempFolder folder;
  folder.add("plain", text);
  folder.add("compressed", zstandard(text));
  auto plain = LineReader::open(folder.at("plain"));
  auto compressed = LineReader::open(folder.at("compressed"));
  ASSERT_TRUE(plain.ok() && compressed.ok());
  std::vector<double> told;
  compressed->report_to([&](std::string_view, double fraction) { told.push_back(fraction); });
  std::string_view line;
  std::string_view other;
  std::size_t count = 0;
  for (; plain->next(line); ++count) {
    ASSERT_TRUE(compressed->next(other));
    ASSERT_EQ(line, other);
  }
  EXPECT_FALSE(compressed->next(other));
  EXPECT_GT(count, 20'000U);
  ASSERT_GT(told.size(), 2U);
  EXPECT_DOUBLE_EQ(told.back(), 1);  // of the file, not of the text
}

TEST(Decoding, TellsWhatIsDamaged) {
  const std::string text = random_lines(100'000);
  for (const auto& [compressed, name] :
       {std::pair(gzipped(text), "gzip"), std::pair(zstandard(text), "zstd")}) {
    EXPECT_THAT(error_of(compressed.substr(0, compressed.size() / 2)),
                HasSubstr(std::string("the ") + name + " data ends too early"));
    std::string changed = compressed;
    for (std::size_t i = changed.size() / 2; i < changed.size() / 2 + 40; ++i) changed[i] = '\x55';
    EXPECT_THAT(error_of(changed), HasSubstr(std::string("the ") + name + " data is damaged"));
    EXPECT_THAT(error_of(compressed + "trailing text"), HasSubstr("is damaged"));
  }
}

// Whatever the bytes are, reading them ends: with a text, or with an error.
TEST(Decoding, SurvivesEveryChangedByte) {
  const std::string text = random_lines(300);
  std::size_t errors = 0;
  for (const auto& compress : {gzipped, zstandard}) {
    const std::string compressed = compress(text);
    for (std::size_t i = 0; i < compressed.size(); ++i) {
      std::string changed = compressed;
      changed[i] = static_cast<char>(changed[i] ^ 0x41);
      if (!read_bytes(changed)) ++errors;
    }
  }
  EXPECT_GT(errors, 20U);
}

TEST(Decoding, LeavesOutAByteOrderMark) {
  EXPECT_EQ(*read_bytes("\xef\xbb\xbfs1: []"), "s1: []");
  EXPECT_EQ(*read_bytes(gzipped("\xef\xbb\xbfs1: []")), "s1: []");
  EXPECT_EQ(*read_bytes("\xef\xbb\xbf"), "");
  EXPECT_EQ(*read_bytes("s\xef\xbb\xbf"), "s\xef\xbb\xbf");  // only at the beginning
  // A number of a binary file.
  const std::string binary("\xef\xbb\xbf\0\0\0\0\0", 8);
  EXPECT_EQ(*read_bytes(binary), binary);
}

TEST(Decoding, NamesWhatItCannotRead) {
  EXPECT_THAT(error_of(std::string("\xff\xfes\0001\0:\0", 8)), HasSubstr("iconv -f UTF-16"));
  EXPECT_THAT(error_of(std::string("\xfe\xff\0s\0001", 6)), HasSubstr("iconv -f UTF-16"));
  EXPECT_THAT(error_of(std::string("\xfd"
                                   "7zXZ\0\0\4",
                                   8)),
              HasSubstr("xz -dc FILE"));
  EXPECT_THAT(error_of("BZh91AY&SY\x12"), HasSubstr("bzip2 -dc FILE"));
  EXPECT_EQ(*read_bytes("BZh9 is a text"), "BZh9 is a text");
}

}  // namespace
}  // namespace isoscope
