// The audit against plain execution: random applications, and thousands of random runs of them.
#include "oracle.h"

#include <gtest/gtest.h>

#include "random_app.h"
#include "sql/random_sql.h"

namespace isoscope::audit {
namespace {

void compare(const std::string& text, const std::string& level, std::uint64_t seed, int num_runs,
             Tally& tally) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " at " + level + "\n" + text);
  const sql::Application app = app_of(text);
  compare(Problem{app, {level_of(level), {}}}, seed, {.num_runs = num_runs}, tally);
}

// Two tests, so that they run side by side.
void compare_small(std::uint64_t first, std::uint64_t last) {
  const std::vector<std::string> levels = {"ec", "cc", "pc", "ua", "psi", "si", "ser"};
  Tally tally;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    compare(RandomApp(seed).text(), levels[seed % levels.size()], seed, 300, tally);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(tally.proved, 30U);
  EXPECT_GT(tally.anomalies, 10U);
  EXPECT_LT(tally.unknown, 6U);
}

TEST(AuditOracle, AgreesWithRunsOfSmallApplications) { compare_small(1, 90); }
TEST(AuditOracle, AgreesWithRunsOfMoreSmallApplications) { compare_small(91, 180); }

TEST(AuditOracle, AgreesWithRunsOfWiderPrograms) {
  const std::vector<std::string> levels = {"ua", "psi", "si", "ser"};
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 14; ++seed) {
    compare(sql::RandomSql(seed).program(), levels[seed % levels.size()], seed, 200, tally);
    if (HasFailure()) return;
  }
  EXPECT_GT(tally.anomalies, 2U);
  EXPECT_LT(tally.unknown, 10U);
}

}  // namespace
}  // namespace isoscope::audit
