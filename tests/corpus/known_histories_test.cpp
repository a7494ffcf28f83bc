// The histories of tests/corpus/histories, in the formats of many tools, have the verdicts that
// their table states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "formats/formats.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/judged.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(source_dir()) / "tests" / "corpus" / "histories";
constexpr const char* kLevels[] = {"rc", "ra", "cc", "pc", "psi", "si", "ser"};

struct KnownHistory {
  std::string file;
  std::string format;
  std::vector<std::string> verdicts;  // by level: ok, violated, or - for none stated
};

std::vector<KnownHistory> known_histories() {
  std::vector<KnownHistory> rows;
  std::ifstream table(kFolder / "expected.tsv");
  std::string line;
  std::getline(table, line);  // the names of the columns
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    KnownHistory row;
    fields >> row.file >> row.format;
    for (std::size_t i = 0; i < std::size(kLevels); ++i) fields >> row.verdicts.emplace_back();
    rows.push_back(std::move(row));
  }
  return rows;
}

History read_known(const KnownHistory& row) {
  auto h = read_history((kFolder / row.file).string());
  if (!h) ADD_FAILURE() << render(h.error());
  return *std::move(h);
}

TEST(KnownHistories, AreAllInTheTable) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name != "README.md" && name != "expected.tsv") files.insert(name);
  }
  std::set<std::string> rows;
  for (const KnownHistory& row : known_histories()) rows.insert(row.file);
  EXPECT_EQ(rows, files);
  EXPECT_EQ(rows.size(), 66U);
}

TEST(KnownHistories, AreRecognisedByContent) {
  std::set<std::string> formats;
  for (const KnownHistory& row : known_histories()) {
    SCOPED_TRACE(row.file);
    const auto format = find_format(row.format);
    ASSERT_TRUE(format.ok()) << render(format.error());
    const auto named = read_history((kFolder / row.file).string(), *format);
    ASSERT_TRUE(named.ok()) << render(named.error());
    EXPECT_GT(named->num_events(), 0U);
    EXPECT_EQ(read_known(row).num_events(), named->num_events());
    formats.insert(row.format);
  }
  // Logs of cobra and dbcop's binary form are encoded by encoded_histories_test.cpp.
  EXPECT_EQ(formats, (std::set<std::string>{"awdit-test", "dbcop", "elle", "isopredict", "plume"}));
}

TEST(KnownHistories, HaveTheirKnownVerdicts) {
  std::size_t verdicts = 0;
  for (const KnownHistory& row : known_histories()) {
    SCOPED_TRACE(row.file);
    const History h = read_known(row);
    for (std::size_t i = 0; i < std::size(kLevels); ++i) {
      if (row.verdicts[i] == "-") continue;
      ++verdicts;
      EXPECT_EQ(judged(h, kLevels[i]), row.verdicts[i] == "ok" ? "consistent" : row.verdicts[i])
          << kLevels[i];
    }
  }
  EXPECT_EQ(verdicts, 462U);  // seven levels each
}

// Every order of the transactions tried, every axiom evaluated literally.
TEST(KnownHistories, AgreeWithBruteForceWhereTheyAreSmall) {
  std::size_t compared = 0;
  for (const KnownHistory& row : known_histories()) {
    SCOPED_TRACE(row.file);
    const History h = read_known(row);
    if (!h.faults().empty()) continue;
    BruteForce oracle(h);
    for (std::size_t i = 0; i < std::size(kLevels); ++i) {
      const auto level = LevelSet::built_in().find(kLevels[i]);
      ASSERT_TRUE(level.ok()) << render(level.error());
      if (!is_small_enough(h, (*level)->framework)) continue;
      ++compared;
      EXPECT_EQ(oracle.decide(**level) ? "ok" : "violated", row.verdicts[i]) << kLevels[i];
    }
  }
  EXPECT_EQ(compared, 235U);
}

}  // namespace
}  // namespace isoscope
