// `isoscope record` as a user runs it, before a private server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_isoscope.h"
#include "cli/spawned_isoscope.h"
#include "support/input.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RecordCli : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    server_ = PostgresServer::start(why_not);
    if (!server_) GTEST_SKIP() << why_not;
    folder_.add("do.sql", "DO $$ BEGIN END $$;");  // a gap
  }
  // Records a piece of shell in the folder.
  Ran record(const std::string& options, const std::string& command) const {
    return run_isoscope_in(folder_.path(), "record --dsn '" + server_->dsn() + "' -o run.jsonl " +
                                               options + " -- sh -c '" + command + "'");
  }
  std::vector<json> lines() const {
    std::vector<json> all;
    const std::string text = folder_.text_of("run.jsonl");
    LineReader reader = LineReader::over(text);
    for (std::string_view line; reader.next(line);) all.push_back(json::parse(line));
    return all;
  }

  TempFolder folder_;
  std::unique_ptr<PostgresServer> server_;
};

TEST_F(RecordCli, RecordsStatementsOfACommandAndReturnsItsExitCode) {
  folder_.add("app.sql",
              "CREATE TABLE t (id int PRIMARY KEY, v int);\n"
              "INSERT INTO t VALUES (1, 0);\n"
              "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
              "SELECT v FROM t WHERE id = 1;\n"
              "SAVEPOINT a;\n"
              "UPDATE t SET v = v + 1 WHERE id = 1;\n"
              "ROLLBACK TO a;\n"
              "COMMIT;\n"
              "BEGIN; SELECT 1/0; COMMIT;\n"
              "SELECT count(*) FROM t \\bind \\g\n");
  const Ran ran = record("", "psql -qXAt -f app.sql; echo $DATABASE_URL; exit 7");
  EXPECT_EQ(ran.exit_code, 7) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("postgresql://postgres@127.0.0.1:"));
  EXPECT_THAT(ran.out, HasSubstr("recorded "));
  const std::vector<json> all = lines();
  ASSERT_GE(all.size(), 5U);
  EXPECT_EQ(all[0]["format"], "isoscope-history/1");
  const json& repeatable = all[3];
  EXPECT_EQ(repeatable["session"], "psql");
  EXPECT_EQ(repeatable["status"], "committed");
  EXPECT_EQ(repeatable["isolation"], "repeatable read");
  std::vector<std::string> texts;
  for (const json& statement : repeatable["stmts"]) texts.push_back(statement["sql"]);
  EXPECT_THAT(texts, ElementsAre("SELECT v FROM t WHERE id = 1", "SAVEPOINT a",
                                 "UPDATE t SET v = v + 1 WHERE id = 1", "ROLLBACK TO a"));
  EXPECT_EQ(all[4]["status"], "aborted");
  EXPECT_EQ(all[4]["error"], "22012");
  EXPECT_EQ(all[1]["isolation"], "read committed");
}

// As on a service where the role may not read the log: the application runs as ever, and nothing is
// claimed of it.
TEST_F(RecordCli, WithoutTheRightToReplicateSaysWhatIsLost) {
  PGconn* connection = PQconnectdb(server_->dsn().c_str());
  PQclear(PQexec(connection,
                 "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0);"
                 "CREATE ROLE plain LOGIN; GRANT ALL ON t TO plain"));
  PQfinish(connection);
  folder_.add("app.sql", "UPDATE t SET v = 5 WHERE id = 1;\nSELECT v FROM t WHERE id = 1;\n");
  const Ran ran = run_isoscope_in(folder_.path(),
                                  "record --dsn '" + server_->dsn() +
                                      " user=plain' --reads log -o run.jsonl -- sh -c 'psql -qXAt "
                                      "-f app.sql'");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("5\n"));
  EXPECT_THAT(ran.err, HasSubstr("reads and writes are not recorded: the role of --dsn may not "
                                 "replicate"));
  EXPECT_THAT(ran.out, HasSubstr("statements 2, understood 0"));
  const std::vector<json> all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1]["status"], "committed");
  EXPECT_EQ(all[1]["gaps"].size(), 1U);
  const Ran checked = run_isoscope_in(folder_.path(), "check run.jsonl --level ser");
  EXPECT_EQ(checked.exit_code, 3);
}

// On a server that writes no log to be read, for a role that may not replicate: statements tell.
TEST(RecordWithoutALog, FindsTheLostUpdateOfASerialRun) {
  std::string why_not;
  auto server = PostgresServer::start(why_not, {.settings = {"wal_level=replica"}});
  if (!server) GTEST_SKIP() << why_not;
  PGconn* connection = PQconnectdb(server->dsn().c_str());
  PQclear(PQexec(connection,
                 "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 5);"
                 "CREATE ROLE plain LOGIN; GRANT ALL ON t TO plain"));
  PQfinish(connection);
  TempFolder folder;
  folder.add("buy.sql",
             "BEGIN;\nSELECT v FROM t WHERE id = 1 \\gset\n"
             "UPDATE t SET v = :v - 1 WHERE id = 1;\nCOMMIT;\n");
  const Ran ran = run_isoscope_in(
      folder.path(), "record --dsn '" + server->dsn() +
                         " user=plain' -o run.jsonl -- sh -c 'psql -qXAt -f buy.sql && psql -qXAt "
                         "-f buy.sql && psql -qXAt -c \"SELECT v FROM t WHERE id = 1\"'");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("3\n"));
  EXPECT_THAT(ran.out, HasSubstr("statements 5, understood 5")) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("note: the server's log cannot be used: the server runs with "
                                 "wal_level = replica (start it with wal_level = logical); what "
                                 "statements read and wrote is reported by a column"));
  const Ran checked = run_isoscope_in(folder.path(), "check run.jsonl --level pg-rc --level ser");
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  const Ran predicted =
      run_isoscope_in(folder.path(), "predict run.jsonl --level pg-rc --sessions transaction");
  EXPECT_EQ(predicted.exit_code, 1) << predicted.out;
  EXPECT_THAT(predicted.out, HasSubstr("lost update on t.v"));
  const Ran kept =
      run_isoscope_in(folder.path(), "predict run.jsonl --level pg-rr --sessions transaction");
  EXPECT_THAT(kept.out, HasSubstr("the first updater wins (40001)"));
  EXPECT_THAT(kept.out, Not(HasSubstr("lost update")));
}

// What another connection writes past the recorder is noticed, and nothing is claimed then.
TEST(RecordWithoutALog, IsUnknownWhenOthersWrite) {
  std::string why_not;
  auto server = PostgresServer::start(why_not, {.settings = {"wal_level=replica"}});
  if (!server) GTEST_SKIP() << why_not;
  PGconn* connection = PQconnectdb(server->dsn().c_str());
  PQclear(PQexec(connection,
                 "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 5);"
                 "CREATE ROLE plain LOGIN; GRANT ALL ON t TO plain"));
  PQfinish(connection);
  const TempFolder folder;
  const std::string direct = " psql -qXAt -h 127.0.0.1 -p " + std::to_string(server->port()) +
                             " -U postgres postgres -c \"UPDATE t SET v = 9\" && ";
  const std::string update = "psql -qXAt -c \"UPDATE t SET v = v - 1 WHERE id = 1\" && ";
  const Ran ran = run_isoscope_in(folder.path(), "record --json --dsn '" + server->dsn() +
                                                     " user=plain' -o run.jsonl -- sh -c '" +
                                                     update + direct + update + "true'");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["reads"], "append");
  EXPECT_EQ(answer["understood"], 0);
  for (const char* question : {"check run.jsonl --level pg-rc", "check run.jsonl --level ser",
                               "predict run.jsonl --level pg-rc --sessions transaction"})
    EXPECT_EQ(run_isoscope_in(folder.path(), question).exit_code, 3) << question;
}

TEST_F(RecordCli, AnswersInJson) {
  const Ran ran = record("--json", "psql -qXAtf do.sql");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["command"], "record");
  EXPECT_EQ(answer["verdict"], "recorded");
  EXPECT_EQ(answer["reads"], "log");
  EXPECT_EQ(answer["transactions"], 1);
  EXPECT_EQ(answer["sessions"], 1);
  EXPECT_EQ(answer["statements"], 1);
  EXPECT_EQ(answer["understood"], 0);
  EXPECT_EQ(answer["gaps"].size(), 1U);
}

TEST_F(RecordCli, NeverCallsARunWithGapsConsistent) {
  const Ran ran = record("--quiet", "psql -qXAtf do.sql");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  const Ran check = run_isoscope_in(folder_.path(), "check run.jsonl --level ser");
  EXPECT_EQ(check.exit_code, 3) << check.out;
  EXPECT_THAT(check.out, HasSubstr("gap"));
  const Ran predict = run_isoscope_in(folder_.path(), "predict run.jsonl --level cc");
  EXPECT_EQ(predict.exit_code, 3) << predict.out << predict.err;
  const Ran stats = run_isoscope_in(folder_.path(), "stats run.jsonl");
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
  EXPECT_THAT(stats.out, HasSubstr("gaps 1"));
}

TEST_F(RecordCli, RecordsUntilInterrupted) {
  const int port = free_port();
  SpawnedIsoscope isoscope(folder_, {"record", "--dsn", server_->dsn(), "-o", "run.jsonl",
                                     "--listen", "127.0.0.1:" + std::to_string(port)});
  const std::string dsn = PostgresServer::dsn(port) + " application_name=alice";
  for (int i = 0; i < 200 && PQping(dsn.c_str()) != PQPING_OK; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  PGconn* connection = PQconnectdb(dsn.c_str());
  ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  PQclear(PQexec(connection, "SELECT 1"));
  PQclear(PQexec(connection, "BEGIN; SELECT 2"));
  isoscope.send(SIGINT);
  const auto status = isoscope.wait(20);
  PQfinish(connection);
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 0) << folder_.text_of("stderr");
  const std::vector<json> all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1]["session"], "alice");
  EXPECT_EQ(all[1]["status"], "committed");
  EXPECT_EQ(all[2]["status"], "aborted");
}

// Two clients read a row and then write what they computed from it.
TEST_F(RecordCli, ShowsALostUpdateOfTheVeryRun) {
  PGconn* setup = PQconnectdb(server_->dsn().c_str());
  PQclear(PQexec(setup, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)"));
  PQfinish(setup);
  for (const bool interleaved : {true, false}) {
    const int port = free_port();
    SpawnedIsoscope isoscope(folder_, {"record", "--dsn", server_->dsn(), "-o", "run.jsonl",
                                       "--listen", "127.0.0.1:" + std::to_string(port)});
    const std::string dsn = PostgresServer::dsn(port);
    for (int i = 0; i < 200 && PQping(dsn.c_str()) != PQPING_OK; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    PGconn* clients[] = {PQconnectdb((dsn + " application_name=alice").c_str()),
                         PQconnectdb((dsn + " application_name=bob").c_str())};
    const auto run = [&](int client, const char* sql) { PQclear(PQexec(clients[client], sql)); };
    const std::pair<int, const char*> steps[] = {{0, "BEGIN"},
                                                 {0, "SELECT v FROM t WHERE id = 1"},
                                                 {1, "BEGIN"},
                                                 {1, "SELECT v FROM t WHERE id = 1"},
                                                 {0, "UPDATE t SET v = 1 WHERE id = 1; COMMIT"},
                                                 {1, "UPDATE t SET v = 2 WHERE id = 1; COMMIT"}};
    for (const int only : {0, 1}) {
      for (const auto& [client, sql] : steps) {
        if (interleaved ? only == 0 : client == only) run(client, sql);
      }
    }
    for (PGconn* client : clients) PQfinish(client);
    isoscope.send(SIGINT);
    ASSERT_TRUE(isoscope.wait(20));
    const Ran check = run_isoscope_in(folder_.path(), "check run.jsonl --level ser");
    const std::string run_text = folder_.text_of("run.jsonl");
    EXPECT_EQ(check.exit_code, interleaved ? 1 : 0) << check.out << check.err << run_text;
    EXPECT_THAT(interleaved ? check.out : run_text,
                HasSubstr(interleaved ? "lost update" : R"(["r","t[1].v",{"from":"T1"}])"))
        << run_text;
  }
}

// A recorder that is killed leaves what had ended, as a whole file.
TEST_F(RecordCli, LeavesAWholeFileWhenItIsKilled) {
  const int port = free_port();
  SpawnedIsoscope isoscope(folder_, {"record", "--dsn", server_->dsn(), "-o", "run.jsonl",
                                     "--listen", "127.0.0.1:" + std::to_string(port)});
  const std::string dsn = PostgresServer::dsn(port);
  for (int i = 0; i < 200 && PQping(dsn.c_str()) != PQPING_OK; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  PGconn* connection = PQconnectdb(dsn.c_str());
  for (int i = 0; i < 50; ++i) PQclear(PQexec(connection, "SELECT 1"));
  isoscope.send(SIGKILL);
  isoscope.wait(10);
  PQfinish(connection);
  EXPECT_GE(lines().size(), 45U);
}

TEST_F(RecordCli, SaysWhatItCannotDo) {
  const auto said = [&](const std::string& arguments) {
    const Ran ran = run_isoscope_in(folder_.path(), "record " + arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    return ran.err;
  };
  const std::string dsn = "--dsn '" + server_->dsn() + "' ";
  EXPECT_THAT(said("--dsn 'nonsense here' -o run.jsonl -- true"), HasSubstr("connection string"));
  EXPECT_THAT(said("--dsn 'host=127.0.0.1 port=1' -o run.jsonl -- true"),
              HasSubstr("cannot connect"));
  EXPECT_THAT(said("--dsn '" + server_->dsn() + " sslmode=require' -o run.jsonl -- true"),
              HasSubstr("SSL"));
  EXPECT_THAT(said(dsn + "-o run.jsonl --tls-cert a.crt -- true"), HasSubstr("belong together"));
  EXPECT_THAT(said(dsn + "-o run.jsonl --tls-cert a.crt --tls-key a.key -- true"),
              HasSubstr("cannot use the certificate a.crt"));
  EXPECT_THAT(said(dsn + "-- true"), HasSubstr("-o run.jsonl"));
  EXPECT_THAT(said(dsn + "-o run.jsonl --listen 0.0.0.0:1 -- true"), HasSubstr("loopback"));
  EXPECT_THAT(said(dsn + "-o run.jsonl -- no-such-command"), HasSubstr("no-such-command"));
}

}  // namespace
}  // namespace isoscope
