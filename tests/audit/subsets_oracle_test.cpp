// What `--subsets` says at PostgreSQL's levels, held against every schedule that explore has of
// random calls: of the functions of each set that is called serializable together, and of all
// functions at the lowest levels; as they are, and with reads FOR UPDATE.
//
// ISOSCOPE_AUDIT_SUBSETS is the number of programs, ISOSCOPE_AUDIT_SEED the first seed.
#include "audit/subsets.h"
#include "random_server_app.h"
#include "server_oracle.h"

namespace isoscope::audit {
namespace {

class SubsetsOracle : public testing::Test {
 protected:
  struct Count {
    std::size_t sets = 0;    // serializable together
    std::size_t lowest = 0;  // programs with lowest levels
    std::size_t apart = 0;   // sets that are not
    std::uint64_t runs = 0;  // histories that were looked at
  };

  void try_to_break(const Problem& problem, std::uint64_t seed, int num_runs) {
    RandomRuns runs(problem, seed);
    for (int i = 0; i < num_runs; ++i) {
      const Scenario scenario = runs.next(2, 3);
      AllSchedules all(problem, scenario, false);
      const std::string broken = all.unserializable();
      count_.runs += all.num_histories;
      ASSERT_EQ(broken, "") << "with prefix " << scenario.prefix
                            << describe_run(problem.app, scenario);
    }
  }

  void compare(const Problem& problem, std::uint64_t seed) {
    const std::vector<const Level*> levels = {&pg_read_committed(), &pg_repeatable_read(),
                                              &pg_serializable()};
    Budget budget = Budget::seconds(20);
    const Subsets subsets = find_subsets(problem, levels, {.max_length = 3}, budget);
    for (const Subsets::Functions& set : subsets.together) {
      std::vector<std::string> names;
      std::vector<const Level*> own;
      for (const sql::FunctionId f : set) {
        names.push_back(problem.app.function(f).name);
        own.push_back(&problem.levels.of(f));
      }
      const auto app = only(problem.app, names);
      ASSERT_TRUE(app.ok());
      const Problem part{
          *app, {problem.levels.base, own}, problem.conflicts, {}, problem.rows_at_start};
      SCOPED_TRACE(fmt::format("together: {}", fmt::join(names, ", ")));
      ++count_.sets;
      try_to_break(part, seed, 12);
      if (HasFatalFailure()) return;
    }
    count_.apart += subsets.apart.size();
    if (subsets.lowest.empty()) return;
    std::vector<const Level*> own;
    for (const sql::FunctionId f : problem.app.function_ids()) own.push_back(subsets.lowest[f]);
    const Problem low{
        problem.app, {levels.front(), own}, problem.conflicts, {}, problem.rows_at_start};
    SCOPED_TRACE("lowest levels" + names_of(low.levels, problem.app.functions.size()));
    ++count_.lowest;
    try_to_break(low, seed, 25);
  }

  Count count_;
};

TEST_F(SubsetsOracle, AgreesWithAllSchedules) {
  const std::uint64_t first = from_environment("ISOSCOPE_AUDIT_SEED", 1);
  const std::uint64_t number = from_environment("ISOSCOPE_AUDIT_SUBSETS", 6);
  for (std::uint64_t seed = first; seed < first + number && !HasFatalFailure(); ++seed) {
    const std::string text = RandomServerApp(seed, 4).text();
    const sql::Application app = app_of(text);
    Rng rng(seed);
    Problem problem{app, random_pg_levels(app.functions.size(), rng)};
    problem.rows_at_start = rng.chance(0.4);
    if (!check_problem(problem)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + " at" +
                 names_of(problem.levels, app.functions.size()) +
                 (problem.rows_at_start ? " with rows\n" : "\n") + text);
    compare(problem, seed);
    if (HasFatalFailure()) break;
    SCOPED_TRACE("with reads FOR UPDATE");
    const sql::Application promoted = with_promoted_reads(app);
    compare({promoted, problem.levels, problem.conflicts, {}, problem.rows_at_start}, seed);
  }
  std::printf("%zu sets together, %zu apart, %zu programs at lowest levels, %llu histories\n",
              count_.sets, count_.apart, count_.lowest,
              static_cast<unsigned long long>(count_.runs));
  EXPECT_GT(count_.sets, 0U);
  EXPECT_GT(count_.runs, 0U);
}

}  // namespace
}  // namespace isoscope::audit
