// Whatever bytes a file holds, reading ends with a history or an error.
#include <gtest/gtest.h>

#include "formats/examples.h"
#include "formats/forms.h"
#include "support/rng.h"

namespace isoscope {
namespace {

class Robustness : public ::testing::TestWithParam<Format> {
 protected:
  // Reads it in a buffer of its own size, so that tools notice a read behind its end.
  static void read(const std::string& text, Format format) {
    const std::vector<char> exact(text.begin(), text.end());
    const auto h = parse_history({exact.data(), exact.size()}, format);
    if (!h) {
      EXPECT_FALSE(h.error().what.empty());
      EXPECT_FALSE(render(h.error()).empty());
    }
    (void)recognise({exact.data(), exact.size()});
  }
};

TEST_P(Robustness, AcceptsTheExampleAndRecognisesIt) {
  const auto h = parse_history(example_of(GetParam()), GetParam());
  ASSERT_TRUE(h.ok()) << render(h.error());
  EXPECT_GT(h->num_events(), 2U);
  if (GetParam() != Format::Cobra) {
    EXPECT_EQ(recognise(example_of(GetParam())), GetParam());
  }
}

TEST_P(Robustness, SurvivesTruncationAtEveryByte) {
  const std::string text = example_of(GetParam());
  for (std::size_t size = 0; size < text.size(); ++size) read(text.substr(0, size), GetParam());
}

TEST_P(Robustness, SurvivesFlippedBytes) {
  const std::string text = example_of(GetParam());
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string broken = text;
    for (std::uint64_t i = 0; i <= rng.below(4); ++i)
      broken[rng.below(broken.size())] = static_cast<char>(rng.next());
    read(broken, GetParam());
  }
}

// Bytes that mean something to the format hit deeper than any byte does.
TEST_P(Robustness, SurvivesShuffledPieces) {
  const std::string text = example_of(GetParam());
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string broken = text;
    for (std::uint64_t i = 0; i <= rng.below(3); ++i) {
      const std::size_t from = rng.below(text.size());
      const std::string piece = text.substr(from, rng.below(12));
      const std::size_t to = rng.below(broken.size());
      if (rng.chance(0.5)) {
        broken.insert(to, piece);
      } else {
        broken.erase(to, piece.size());
      }
      if (broken.empty()) broken = text;
    }
    read(broken, GetParam());
  }
}

TEST_P(Robustness, ReadsOtherFormatsOnlyAsErrorsOrHistories) {
  for (Format other : all_formats()) read(example_of(other), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, Robustness, ::testing::ValuesIn(all_formats()),
                         [](const auto& test) {
                           std::string name(name_of(test.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(ElleJson, SurvivesTruncationAndFlippedBytes) {
  const std::string text = elle_json_example();
  ASSERT_TRUE(parse_history(text, Format::Elle).ok());
  for (std::size_t size = 0; size < text.size(); ++size)
    (void)parse_history(text.substr(0, size), Format::Elle);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string broken = text;
    broken[rng.below(broken.size())] = static_cast<char>(rng.next());
    (void)parse_history(broken, Format::Elle);
  }
}

TEST(Forms, RefuseToNestWithoutEnd) {
  for (const std::string piece : {"[", "{", "(", "#_", "#tag ", "#{", "{:a [", "[["}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += piece;
    const auto h = parse_history("{:type " + text, Format::Elle);
    ASSERT_FALSE(h.ok()) << piece;
  }
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "[";
  EXPECT_FALSE(parse_history(R"({"type":)" + text, Format::Elle).ok());
  EXPECT_FALSE(parse_history(R"({"params":)" + text, Format::Dbcop).ok());
  EXPECT_FALSE(parse_history(R"({"format":)" + text, Format::Jsonl).ok());
}

}  // namespace
}  // namespace isoscope
