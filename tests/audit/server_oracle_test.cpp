// Proofs and empty searches at PostgreSQL's levels, held against every schedule that explore has of
// random calls.
#include "server_oracle.h"

#include "odd_apps.h"
#include "random_app.h"
#include "random_rows_app.h"
#include "random_server_app.h"
#include "random_wide_app.h"

namespace isoscope::audit {
namespace {

class ServerOracle : public testing::Test {
 protected:
  template <typename MakeText>
  Tally compare(std::uint64_t num_programs, const MakeText& make_text) {
    Tally tally;
    const std::uint64_t first = from_environment("ISOSCOPE_AUDIT_SEED", 1);
    num_programs = from_environment("ISOSCOPE_AUDIT_PROGRAMS", num_programs);
    for (std::uint64_t seed = first; seed < first + num_programs; ++seed) {
      const std::string text = make_text(seed);
      const sql::Application app = app_of(text);
      Rng rng(seed);
      Problem problem{app, random_pg_levels(app.functions.size(), rng)};
      problem.rows_at_start = rng.chance(0.4);
      SCOPED_TRACE("seed " + std::to_string(seed) + " at" +
                   names_of(problem.levels, app.functions.size()) +
                   (problem.rows_at_start ? " with rows\n" : "\n") + text);
      hold_against_schedules(problem, seed, {}, tally);
      if (HasFatalFailure()) break;
    }
    std::printf("%zu proved, %zu none, %zu anomalies, %zu unknown\n", tally.proved, tally.none,
                tally.anomalies, tally.unknown);
    return tally;
  }
};

TEST_F(ServerOracle, AgreesWithAllSchedulesNearTheBorder) {
  const Tally tally = compare(60, [](std::uint64_t seed) { return RandomServerApp(seed).text(); });
  EXPECT_GT(tally.proved, 0U);
  EXPECT_GT(tally.anomalies, 0U);
}

TEST_F(ServerOracle, AgreesWithAllSchedulesOfSmallApplications) {
  const Tally tally = compare(60, [](std::uint64_t seed) { return RandomApp(seed).text(); });
  EXPECT_GT(tally.proved, 0U);
  EXPECT_GT(tally.anomalies, 0U);
}

TEST_F(ServerOracle, AgreesWithAllSchedulesThatGoThroughRowSets) {
  const Tally tally = compare(60, [](std::uint64_t seed) { return RandomRowsApp(seed).text(); });
  EXPECT_GT(tally.proved, 0U);
  EXPECT_GT(tally.anomalies, 0U);
}

TEST_F(ServerOracle, AgreesWithAllSchedulesOfOddApplications) {
  Tally tally;
  for (const OddApp& odd : odd_apps()) {
    const sql::Application app = app_of(odd_tables() + odd.functions);
    for (const Level* level : {&pg_read_committed(), &pg_repeatable_read(), &pg_serializable()}) {
      for (const bool rows_at_start : {false, true}) {
        Problem problem{app, {level, {}}};
        problem.rows_at_start = rows_at_start;
        SCOPED_TRACE(odd.name + " at " + level->name + (rows_at_start ? " with rows" : ""));
        hold_against_schedules(problem, 1, {.num_runs = 40}, tally);
      }
    }
  }
  EXPECT_GT(tally.proved, 0U);
  EXPECT_GT(tally.anomalies, 0U);
}

// All themes but the one of numbers that the database makes up: serial orders number otherwise.
TEST_F(ServerOracle, AgreesWithAllSchedulesThatUseMoreOfSql) {
  const Tally tally = compare(60, [](std::uint64_t seed) {
    constexpr int kThemes[] = {0, 1, 2, 3, 4, 5, 7, 8};
    Rng rng(seed);
    std::vector<int> themes;
    for (std::size_t i = 1 + rng.below(3); i > 0; --i)
      themes.push_back(kThemes[rng.below(std::size(kThemes))]);
    return RandomWideApp(seed, themes).text();
  });
  EXPECT_GT(tally.proved, 0U);
  EXPECT_GT(tally.anomalies, 0U);
}

}  // namespace
}  // namespace isoscope::audit
