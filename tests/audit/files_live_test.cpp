// Every SQL file of the tests and examples held against PostgreSQL, at each of its levels: what
// audit shows of it happens there, and random concurrent runs do not break what it proves or calls
// none. Left out: files that the server refuses, and those with values that differ from run to run.
//
// ISOSCOPE_FILE_RUNS is the number of runs against each proof (dozens in the nightly tests).
#include <array>
#include <filesystem>

#include "live_functions.h"
#include "server_oracle.h"

namespace isoscope::audit {
namespace {

constexpr std::size_t kGroups = 4;  // of files, so that they run side by side

class FilesLive : public LiveFunctions, public testing::WithParamInterface<std::size_t> {
 protected:
  struct Count {
    std::size_t played = 0;     // anomalies
    std::size_t unstepped = 0;  // a statement has no gate (cascades), or a row no key
    std::size_t proofs = 0;     // that runs tried to break
    std::size_t runs = 0;
  };

  static std::vector<std::string> files() {
    std::vector<std::string> all;
    for (const char* folder : {"/tests/regress", "/tests/corpus/apps", "/examples/audit"}) {
      for (const auto& entry : std::filesystem::directory_iterator(source_dir() + folder)) {
        if (entry.path().extension() == ".sql") all.push_back(entry.path().string());
      }
    }
    std::ranges::sort(all);
    return all;
  }

  // In an empty schema, with gates. False if the server does not take it.
  bool is_created(const std::string& text, const sql::Application& app) {
    admin_->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    admin_->run(SteppedCalls::kGate);
    admin_->run(with_gates(text, app));
    return !admin_->failed();
  }

  void compare(const std::string& text, const sql::Application& app, const Level& level,
               std::uint64_t seed) {
    const Problem problem{app, {&level, {}}};
    if (!check_problem(problem)) return;
    Budget budget = Budget::seconds(5);
    const AuditReport report = audit(problem, {.max_length = 3, .prove = true}, budget);
    if (report.outcome == AuditOutcome::Unknown || !is_created(text, app)) return;
    if (has_values_of_the_moment(text, app)) return;
    if (report.outcome == AuditOutcome::Anomaly) {
      for (const FoundAnomaly& anomaly : report.search.anomalies) {
        SCOPED_TRACE(describe_run(app, anomaly.scenario));
        if (!is_filled(app, anomaly.scenario.rows)) {
          ++count_.unstepped;
          continue;
        }
        const std::string trouble = play(problem, anomaly);
        const bool is_stuck = trouble.find("does not come to") != std::string::npos;
        if (!is_stuck) {
          EXPECT_EQ(trouble, "");
        }
        ++(is_stuck ? count_.unstepped : count_.played);
      }
      return;
    }
    // What was left out of a file may do anything.
    if (!app.problems.empty()) return;
    ++count_.proofs;
    Rng rng(seed);
    for (std::uint64_t run = from_environment("ISOSCOPE_FILE_RUNS", 3); run > 0; --run)
      try_to_break(problem, rng);
  }

  // That a call may return.
  static bool has_values_of_the_moment(const std::string& text, const sql::Application& app) {
    const bool has_fresh = std::ranges::any_of(app.tables, [](const sql::Table& table) {
      return std::ranges::any_of(table.columns,
                                 [](const sql::Column& column) { return column.is_fresh; });
    });
    if (has_fresh && text.find("RETURNING") != std::string::npos) return true;
    return std::ranges::any_of(
        std::array{"nextval", "currval", "lastval", "now()", "random", "_timestamp"},
        [&](const char* word) { return text.find(word) != std::string::npos; });
  }

  // False if the server refuses them: CHECKs, types, rows without a key.
  bool is_filled(const sql::Application& app, const std::vector<sql::InitialRow>& rows) {
    const std::string sql = rows_of(app, rows);
    admin_->run(sql);
    const bool filled = !admin_->failed();
    if (!filled) admin_->run("SET session_replication_role = origin");
    return filled;
  }

  // All rows, without the values that sequences gave.
  std::string rows_but_for_fresh_values(const sql::Application& app) {
    std::string all;
    for (const sql::Table& table : app.tables) {
      std::string columns;
      for (const sql::Column& column : table.columns) {
        if (!column.is_fresh) columns += (columns.empty() ? "" : ", ") + quoted(column.name);
      }
      all += admin_->run("SELECT string_agg(r::text, ' ' ORDER BY r) FROM (SELECT " + columns +
                         " FROM " + quoted(table.name) + ") AS r") +
             ";";
    }
    return all;
  }

  void try_to_break(const Problem& problem, Rng& rng) {
    const Scenario scenario = RandomRuns(problem, rng.below(1'000'000)).next(2, 3);
    if (!is_filled(problem.app, scenario.rows)) return;
    const auto prepare = [&] {
      reset(problem.app, scenario.rows);
      for (ScenarioCallId c; scenario.prepares(c); ++c)
        admin_->run("SELECT " + print(problem.app, scenario.calls[c]));
    };
    std::vector<Call> calls;
    for (const ScenarioCallId c : scenario.of_cycle())
      calls.push_back(
          {print(problem.app, scenario.calls[c]), level_name(problem, scenario.calls[c].function)});
    prepare();
    run_randomly(calls, rng);
    const auto rows = [&] { return rows_but_for_fresh_values(problem.app); };
    const std::string end = rows();
    ++count_.runs;
    std::string answers;
    for (const Call& call : calls)
      answers += call.text + " = " + call.answer.value_or("failed") + "; ";
    EXPECT_TRUE(has_serial_order(prepare, rows, calls, end))
        << "prefix " << scenario.prefix << describe_run(problem.app, scenario) << "\n"
        << answers << end;
  }

  Count count_;
};

TEST_P(FilesLive, AgreeWithTheServer) {
  const std::vector<std::string> all = files();
  for (std::size_t i = GetParam(); i < all.size(); i += kGroups) {
    const auto text = read_whole(all[i]);
    ASSERT_TRUE(text.ok());
    const auto app = sql::parse_application(*text);
    if (!app || app->functions.empty()) continue;
    for (const Level* level : {&pg_read_committed(), &pg_repeatable_read(), &pg_serializable()}) {
      SCOPED_TRACE(all[i] + " at " + level->name);
      compare(*text, *app, *level, i);
    }
  }
  std::printf("%zu anomalies played and %zu not, %zu runs against %zu proofs\n", count_.played,
              count_.unstepped, count_.runs, count_.proofs);
  EXPECT_GT(count_.played, count_.unstepped);
  EXPECT_GT(count_.runs, 0U);
}

INSTANTIATE_TEST_SUITE_P(, FilesLive, testing::Range(std::size_t{0}, kGroups));

}  // namespace
}  // namespace isoscope::audit
