#include "audit/small_runs.h"

#include "audit/server_levels.h"
#include "audit_of.h"

namespace isoscope::audit {
namespace {

const std::string kAccount =
    "CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL);\n";

// SELECT … into v, then an UPDATE that writes v - 1.
std::string withdraw(const std::string& lock) {
  return kAccount +
         "CREATE FUNCTION withdraw(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
         "DECLARE v integer;\nBEGIN\n"
         "SELECT balance INTO v FROM account WHERE id = p" +
         lock +
         ";\nIF v > 0 THEN UPDATE account SET balance = v - 1 WHERE id = p; END IF;\nEND; $$;\n";
}

SmallRunsReport runs_of(const sql::Application& app, const Level& level) {
  Budget budget = Budget::seconds(60);
  return search_small_runs({app, {&level, {}}}, {.max_calls = 2}, budget);
}

TEST(SmallRuns, FindTheLostUpdateOfMariaDb) {
  const sql::Application app = app_of(withdraw(""));
  for (const Level* level : {&mysql_repeatable_read(), &mysql_read_committed()}) {
    const SmallRunsReport report = runs_of(app, *level);
    ASSERT_EQ(report.anomalies.size(), 1U) << level->name;
    EXPECT_EQ(report.anomalies[0].functions, (std::vector<sql::FunctionId>(2, sql::FunctionId{0})));
    EXPECT_EQ(report.anomalies[0].run.rows.size(), 1U);
    EXPECT_EQ(report.anomalies[0].run.machine->server(), sql::server::ServerKind::MariaDb);
  }
}

TEST(SmallRuns, FindNothingBehindALock) {
  const sql::Application app = app_of(withdraw(" FOR UPDATE"));
  for (const Level* level : {&mysql_repeatable_read(), &mysql_read_committed()}) {
    const SmallRunsReport report = runs_of(app, *level);
    EXPECT_TRUE(report.anomalies.empty()) << level->name;
    EXPECT_GT(report.runs, 0U);
    EXPECT_TRUE(report.is_complete);
  }
}

// The second of two plain reads is of another snapshot at READ COMMITTED only.
TEST(SmallRuns, TellTheLevelsApart) {
  const sql::Application app =
      app_of(kAccount +
             "CREATE FUNCTION look() RETURNS integer LANGUAGE plpgsql AS $$\n"
             "DECLARE v integer; w integer;\nBEGIN\n"
             "SELECT balance INTO v FROM account WHERE id = 1;\n"
             "SELECT balance INTO w FROM account WHERE id = 1;\nRETURN w - v;\nEND; $$;\n"
             "CREATE FUNCTION pay(p integer) RETURNS void LANGUAGE plpgsql AS $$ BEGIN\n"
             "UPDATE account SET balance = balance + 1 WHERE id = 1;\nEND; $$;\n");
  EXPECT_TRUE(runs_of(app, mysql_repeatable_read()).anomalies.empty());
  EXPECT_EQ(runs_of(app, mysql_read_committed()).anomalies.size(), 1U);
}

TEST(SmallRuns, LeaveOutWhatMariaDbMayLockOtherwise) {
  sql::Application app =
      app_of(withdraw("") +
             "CREATE FUNCTION clear() RETURNS void LANGUAGE plpgsql AS $$ BEGIN\n"
             "UPDATE account SET balance = 0 WHERE balance < 0;\nEND; $$;\n");
  const auto refused = remove_refused_by_innodb(app);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].function, "clear");
  EXPECT_EQ(app.functions.size(), 1U);
}

}  // namespace
}  // namespace isoscope::audit
