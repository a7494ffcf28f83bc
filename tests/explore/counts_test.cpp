// The programs with known numbers of histories.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "explore/explore.h"
#include "program/program.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::explore {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = source_dir();

struct Row {
  std::string program;  // its path within the tree
  std::string level;
  std::uint64_t histories = 0;
  std::uint64_t failures = 0;
};

Exploration explored(const fs::path& file, const std::string& level_name, Algorithm algorithm) {
  const auto text = read_whole(file.string());
  EXPECT_TRUE(text.ok());
  const auto program = parse_program(*text);
  EXPECT_TRUE(program.ok());
  const LevelSet& levels = LevelSet::built_in();
  const auto plan = make_plan(*program, **levels.find(level_name), levels, algorithm, {});
  EXPECT_TRUE(plan.ok());
  return explore(*program, *plan, {});
}

// The rows of tests/corpus/programs/expected.tsv whose numbers are known.
std::vector<Row> pinned_rows() {
  std::vector<Row> rows;
  std::ifstream in(kSource / "tests" / "corpus" / "programs" / "expected.tsv");
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Row row;
    std::string histories;
    std::string failures;
    fields >> row.program >> row.level >> histories >> failures;
    if (histories == "-") continue;
    row.histories = std::stoull(histories);
    row.failures = std::stoull(failures);
    rows.push_back(row);
  }
  return rows;
}

TEST(ExploreCounts, AreTheKnownOnes) {
  const std::vector<Row> rows = pinned_rows();
  EXPECT_EQ(rows.size(), 106U);  // 18 programs at 6 levels; two numbers at rc are not known
  for (const Row& row : rows) {
    SCOPED_TRACE(row.program + " at " + row.level);
    const Exploration all = explored(kSource / row.program, row.level, Algorithm::Best);
    EXPECT_EQ(all.histories, row.histories);
    EXPECT_EQ(all.violating, row.failures);
    if (row.level == "rc" || row.level == "ra" || row.level == "cc") {
      if (!row.program.ends_with("mixed-levels.txn")) {
        EXPECT_EQ(all.end_states, all.histories);
        EXPECT_EQ(all.blocked, 0U);
      }
    }
  }
}

TEST(ExploreCounts, AreTheSameByEveryAlgorithm) {
  std::size_t compared = 0;
  for (const Row& row : pinned_rows()) {
    if (row.histories > 3000) continue;
    ++compared;
    SCOPED_TRACE(row.program + " at " + row.level);
    const fs::path file = kSource / row.program;
    EXPECT_EQ(explored(file, row.level, Algorithm::Ce).histories, row.histories);
    EXPECT_EQ(explored(file, row.level, Algorithm::ByTxn).histories, row.histories);
  }
  EXPECT_EQ(compared, 96U);  // of the 106
}

struct Litmus {
  const char* program;
  std::uint64_t rc, ra, cc, pc, psi, si, ser;
};
// By hand and by brute force; psi stands in no row of the table.
constexpr Litmus kLitmus[] = {
    {"lost-update", 3, 3, 3, 3, 2, 2, 2},       {"write-skew", 3, 3, 3, 3, 3, 3, 2},
    {"long-fork", 16, 16, 16, 14, 16, 14, 14},  {"causality-violation", 6, 6, 5, 5, 5, 5, 5},
    {"read-only-anomaly", 8, 8, 7, 7, 7, 7, 6},
};

TEST(ExploreCounts, OfClassicalAnomaliesAreThoseOfTheBooks) {
  for (const Litmus& litmus : kLitmus) {
    const fs::path file =
        kSource / "examples" / "programs" / (std::string(litmus.program) + ".txn");
    const std::pair<const char*, std::uint64_t> rows[] = {
        {"rc", litmus.rc},   {"ra", litmus.ra}, {"cc", litmus.cc},  {"pc", litmus.pc},
        {"psi", litmus.psi}, {"si", litmus.si}, {"ser", litmus.ser}};
    for (const auto& [level, histories] : rows) {
      SCOPED_TRACE(std::string(litmus.program) + " at " + level);
      EXPECT_EQ(explored(file, level, Algorithm::Best).histories, histories);
    }
  }
}

}  // namespace
}  // namespace isoscope::explore
