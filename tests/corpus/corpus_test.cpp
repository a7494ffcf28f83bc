// Every history of the corpus and of the examples keeps the promises written inside it, and so do
// the histories beside the project, where that folder is present.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "formats/formats.h"
#include "formats/hist.h"
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

struct KnownVerdict {
  std::string format;
  std::string level;
  std::string verdict;
};

TEST(KnownHistories, HaveTheirKnownVerdicts) {
  const fs::path folder = kSource / ".." / "shared" / "histories";
  if (!fs::exists(folder / "expected.tsv")) {
    std::cout << "skipped: no histories beside the project\n";
    return;
  }
  std::ifstream table(folder / "expected.tsv");
  std::map<std::string, std::vector<KnownVerdict>> files;
  std::string line;
  std::getline(table, line);  // the heading
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string file;
    KnownVerdict known;
    std::getline(row, file, '\t');
    std::getline(row, known.format, '\t');
    std::getline(row, known.level, '\t');
    std::getline(row, known.verdict, '\t');
    files[file].push_back(known);
  }
  ASSERT_GT(files.size(), 20U);
  for (const auto& [file, rows] : files) {
    // Recognised by content, and as the table says: both readings must agree.
    const auto h = read_history((folder / file).string());
    ASSERT_TRUE(h.ok()) << render(h.error());
    const auto format = find_format(rows.front().format);
    ASSERT_TRUE(format.ok());
    const auto named = read_history((folder / file).string(), *format);
    ASSERT_TRUE(named.ok()) << render(named.error());
    EXPECT_EQ(named->num_events(), h->num_events()) << file;
    for (const KnownVerdict& known : rows) {
      const std::string expected = known.verdict == "ok" ? "consistent" : "violated";
      EXPECT_EQ(judged(*h, known.level), expected) << file << " at " << known.level;
    }
  }
}

}  // namespace
}  // namespace isoscope
