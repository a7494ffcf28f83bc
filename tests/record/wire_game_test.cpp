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
  ASSERT_GE(originals.size(), 9U);
  Rng rng(11);
  WireGame::Reached reached;
  for (int round = 0; round < 6'000; ++round) {
    std::string text = originals[rng.below(originals.size())];
    for (std::uint64_t n = rng.below(6); n > 0 && text.size() > 2; --n) {
      const std::size_t at = 1 + rng.below(text.size() - 1);
      const std::size_t size = std::min<std::size_t>(1 + rng.below(20), text.size() - at);
      switch (rng.below(5)) {
        case 0: text[at] = static_cast<char>(rng.below(256)); break;
        case 1:
          text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << rng.below(8)));
          break;
        case 2: text.erase(at, size); break;
        case 3: text.insert(at, text.substr(at, size)); break;
        default: text += originals[rng.below(originals.size())].substr(1); break;
      }
    }
    // Each conversation in each way: what was told is garbage where nothing was asked to tell.
    const WireGame::Way way =
        round % 3 == 0 ? static_cast<WireGame::Way>(rng.below(3)) : WireGame::way_of(text[0]);
    const WireGame::Reached here = WireGame(way).play(text.substr(1));
    reached.messages += here.messages;
    reached.stripped += here.stripped;
    reached.told_rows += here.told_rows;
  }
  EXPECT_GT(reached.messages, 20'000U);
  EXPECT_GT(reached.stripped, 2'000U);
  EXPECT_GT(reached.told_rows, 500U);
}

}  // namespace
}  // namespace isoscope::record
