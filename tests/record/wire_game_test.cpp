#include "record/wire_game.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/paths.h"
#include "support/rng.h"

namespace isoscope::record {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(source_dir()) /
                                                               "tests/fuzz/corpus/wire")) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    found.push_back(text.str());
  }
  return found;
}

// Conversations with some bytes changed, cut out, doubled, or said by the other side.
TEST(Recorder, SurvivesGarbageFromEitherSide) {
  const std::vector<std::string> originals = seeds();
  ASSERT_GE(originals.size(), 6U);
  Rng rng(11);
  std::size_t messages = 0;
  for (int round = 0; round < 6'000; ++round) {
    std::string text = originals[rng.below(originals.size())];
    for (std::uint64_t n = rng.below(6); n > 0 && text.size() > 2; --n) {
      const std::size_t at = 1 + rng.below(text.size() - 1);
      const std::size_t size = std::min<std::size_t>(1 + rng.below(20), text.size() - at);
      switch (rng.below(5)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << rng.below(8)));
          break;
        case 2:
          text.erase(at, size);
          break;
        case 3:
          text.insert(at, text.substr(at, size));
          break;
        default:
          text += originals[rng.below(originals.size())].substr(1);
          break;
      }
    }
    messages += WireGame((text[0] & 1) != 0).play(text.substr(1));
  }
  EXPECT_GT(messages, 20'000U);
}

}  // namespace
}  // namespace isoscope::record
