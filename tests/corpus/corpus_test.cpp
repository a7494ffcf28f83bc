// Every history of the corpus and of the examples keeps the promises written inside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "formats/formats.h"
#include "support/expectations.h"
#include "support/input.h"
#include "support/judged.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = source_dir();

class Corpus : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> hist_files() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/corpus", "examples"}) {
    for (const auto& entry : fs::directory_iterator(kSource / folder)) {
      if (entry.path().extension() == ".hist")
        files.push_back(fs::relative(entry.path(), kSource).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_P(Corpus, KeepsItsPromises) {
  const std::string path = (kSource / GetParam()).string();
  const auto text = read_whole(path);
  ASSERT_TRUE(text.ok());
  const auto promised = expectations(*text);
  ASSERT_TRUE(promised.ok()) << render(promised.error());
  ASSERT_FALSE(promised->empty()) << "a corpus file without an expectation";
  const auto h = parse_history(*text, Format::Hist);
  ASSERT_TRUE(h.ok()) << render(h.error().in(path));
  for (const Expectation& expected : *promised)
    EXPECT_EQ(judged(*h, expected.level), expected.verdict) << expected.level;
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, ::testing::ValuesIn(hist_files()), [](const auto& test) {
  std::string name = fs::path(test.param).parent_path().filename().string() + "_" +
                     fs::path(test.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

// A file that comes or goes is counted here, so that none can go in silence.
TEST(CorpusFolder, HoldsItsFiles) { EXPECT_EQ(hist_files().size(), 24U); }

}  // namespace
}  // namespace isoscope
