// Anomalies that audit shows at InnoDB's levels, played on a MariaDB: each schedule ends there with
// the variables and rows that audit says.
#include "audit/server_levels.h"
#include "audit/small_runs.h"
#include "audit_of.h"
#include "force/server.h"
#include "sql/server_play.h"
#include "support/mariadb_server.h"

namespace isoscope::audit {
namespace {

struct MariaDbCase {
  std::string name;
  std::string functions;
  // Anomalies at each level; 0 where the level rules all of them out.
  std::size_t at_read_committed = 1;
  std::size_t at_repeatable_read = 1;
  friend void PrintTo(const MariaDbCase& test, std::ostream* out) { *out << test.name; }
};

const std::string kTables =
    "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);\n"
    "CREATE TABLE c (id integer PRIMARY KEY, w integer NOT NULL);\n";

std::string function(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
         "DECLARE x integer; y integer;\nBEGIN\n" +
         body + "RETURN x;\nEND; $$;\n";
}

std::vector<MariaDbCase> cases() {
  const std::string look = "SELECT v INTO x FROM t WHERE id = p;\n";
  const std::string take = "IF x > 0 THEN UPDATE t SET v = x - 1 WHERE id = p; END IF;\n";
  const std::string add = "UPDATE t SET v = v + 1 WHERE id = p;\n";
  const std::string again = "SELECT v INTO y FROM t WHERE id = p;\n";
  return {
      {"LostUpdate", function("take", look + take)},
      {"LostUpdateBehindALateLock",
       function("take", look + "SELECT v INTO y FROM t WHERE id = p FOR UPDATE;\n" + take)},
      {"GuardOfAnOldRead",
       function("take", look + "IF x > 0 THEN UPDATE t SET v = v - 1 WHERE id = p; END IF;\n")},
      {"WriteSkew", function("leave",
                             "SELECT count(*) INTO x FROM t WHERE v = 1;\n"
                             "IF x > 1 THEN UPDATE t SET v = 0 WHERE id = p; END IF;\n")},
      {"TwoReads", function("twice", look + again) + function("add", add), 1, 0},
      {"CopyCrosswise", function("there",
                                 "SELECT v INTO x FROM t WHERE id = 1;\n"
                                 "UPDATE c SET w = x WHERE id = 1;\n") +
                            function("back",
                                     "SELECT w INTO x FROM c WHERE id = 1;\n"
                                     "UPDATE t SET v = x WHERE id = 1;\n")},
      {"CountAndInsert", function("book",
                                  "SELECT count(*) INTO x FROM c;\n"
                                  "IF x = 0 THEN INSERT INTO c VALUES (p, 1); END IF;\n")},
      {"TwoTables",
       function("both_of", look + "SELECT w INTO y FROM c WHERE id = p;\n") +
           function("move",
                    "UPDATE t SET v = v - 1 WHERE id = p;\n"
                    "UPDATE c SET w = w + 1 WHERE id = p;\n"),
       1, 0},
  };
}

class MariaDbLive : public testing::TestWithParam<MariaDbCase> {
 protected:
  static void SetUpTestSuite() {
    process_ = MariaDbServer::start(why_not_);
    if (!process_) return;
    auto opened = force::open_server(process_->dsn());
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    server_ = *std::move(opened);
  }
  static void TearDownTestSuite() {
    server_.reset();
    process_.reset();
  }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << why_not_;
  }

  static void run(const std::string& sql) {
    const force::Answer answer = server_->run(sql);
    ASSERT_FALSE(answer.has_failed()) << sql << ": " << answer.message;
  }
  static void reset(const sql::Application& app, const std::vector<sql::InitialRow>& rows) {
    run("COMMIT");
    for (const char* statement :
         {"DROP DATABASE IF EXISTS live", "CREATE DATABASE live", "USE live"})
      run(statement);
    for (std::size_t begin = 0; begin < kTables.size();) {
      const std::size_t end = kTables.find(";\n", begin);
      run(kTables.substr(begin, end - begin));
      begin = end + 2;
    }
    for (const sql::InitialRow& row : rows) {
      std::string values;
      for (const sql::Value& value : row.values)
        values += (values.empty() ? "" : ", ") + sql::print(value);
      run("INSERT INTO " + app.table(row.table).name + " VALUES (" + values + ")");
    }
    // As long as somebody may look at them, deleted rows are not purged.
    run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  }

  static void play(const SmallAnomaly& anomaly, const std::string& level) {
    const sql::server::Machine& machine = *anomaly.run.machine;
    reset(anomaly.run.program->app(), anomaly.run.rows);
    const sql::server::ServerAccess access{
        .open =
            [&](std::vector<force::ActorScript> actors) {
              for (force::ActorScript& actor : actors)
                actor.setup = {"USE live", "SET autocommit = 0",
                               "SET sql_mode = 'IGNORE_SPACE,STRICT_ALL_TABLES'",
                               "SET SESSION TRANSACTION ISOLATION LEVEL " + level};
              return server_->open(std::move(actors));
            },
        .query = [&](const std::string& sql) -> Result<std::vector<force::Row>> {
          server_->run("COMMIT");
          const force::Answer answer = server_->run(sql);
          if (answer.has_failed()) return Error{.what = answer.message};
          return answer.tables.at(0).rows;
        }};
    const auto played =
        play_on_server(machine, access, sql::server::turns_of(machine, anomaly.schedule));
    ASSERT_EQ(played.trouble, "") << played.story;
    sql::server::State state = machine.start();
    for (const sql::server::Choice& choice : anomaly.schedule) machine.take(state, choice);
    EXPECT_EQ(end_text(played.end), end_text(end_of(machine, state))) << played.story;
  }

  static inline std::unique_ptr<MariaDbServer> process_;
  static inline std::unique_ptr<force::Server> server_;
  static inline std::string why_not_;
};

TEST_P(MariaDbLive, EndsAsAuditSays) {
  const MariaDbCase& test = GetParam();
  sql::Application app = app_of(kTables + test.functions);
  ASSERT_TRUE(app.problems.empty()) << app.problems.front().what;
  ASSERT_TRUE(remove_refused_by_innodb(app).empty());
  const std::tuple<const Level*, std::string, std::size_t> levels[] = {
      {&mysql_read_committed(), "READ COMMITTED", test.at_read_committed},
      {&mysql_repeatable_read(), "REPEATABLE READ", test.at_repeatable_read}};
  for (const auto& [level, name, count] : levels) {
    SCOPED_TRACE(name);
    Budget budget = Budget::seconds(60);
    const SmallRunsReport report =
        search_small_runs({app, {level, {}}}, {.max_calls = 2, .all = true}, budget);
    EXPECT_EQ(report.anomalies.size(), count);
    for (const SmallAnomaly& anomaly : report.anomalies) {
      play(anomaly, name);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, MariaDbLive, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace isoscope::audit
