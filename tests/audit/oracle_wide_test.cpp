// The audit against plain execution, with more of SQL, mixed levels, conflicts by row, functions
// that are serial, and rows at the start.
#include <gtest/gtest.h>

#include "oracle.h"
#include "random_wide_app.h"

namespace isoscope::audit {
namespace {

// Holds proofs only: programs with loops over rows may need more rounds than a search looks at.
void compare_wide(std::uint64_t first, std::uint64_t last) {
  const std::vector<std::string> levels = {"ec", "cc", "pc", "ua", "psi", "si", "si", "ser"};
  Tally tally;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string text = RandomWideApp(seed).text();
    const sql::Application app = app_of(text);
    const std::size_t num_functions = app.functions.size();
    Rng rng(seed);
    std::string how;
    const auto any_level = [&] {
      const std::string& name = levels[rng.below(levels.size())];
      how += " " + name;
      return level_of(name);
    };
    Problem problem{app, {any_level(), {}}};
    if (rng.chance(0.2)) {
      for (std::size_t f = 0; f < num_functions; ++f) problem.levels.own.push_back(any_level());
    }
    if (rng.chance(0.25)) problem.conflicts = Conflicts::Rows;
    const auto any_function = [&] {
      return sql::FunctionId{static_cast<std::uint32_t>(rng.below(num_functions))};
    };
    if (rng.chance(0.15)) problem.serial.emplace_back(any_function(), any_function());
    problem.rows_at_start = rng.chance(0.25);
    SCOPED_TRACE("seed " + std::to_string(seed) + " at" + how + "\n" + text);
    const OracleOptions options{
        .bound = 2, .num_runs = 300, .seconds = 1, .only_proofs = true, .with_histories = true};
    compare(problem, seed, options, tally);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(tally.proved, 8U);
  EXPECT_GT(tally.anomalies, 4U);
}

TEST(AuditOracle, AgreesWithRunsThatUseMoreOfSql) { compare_wide(1, 40); }
TEST(AuditOracle, AgreesWithMoreRunsThatUseMoreOfSql) { compare_wide(41, 80); }

}  // namespace
}  // namespace isoscope::audit
