// Statements that once were recorded as something that they are not, in both ways to learn reads:
// from the server's log, and by appending. One recording of each; every statement is a line of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <map>

#include "record/appended_run.h"
#include "record/gatekeeper.h"
#include "record/resolve.h"
#include "record/running_proxy.h"
#include "support/postgres_server.h"

namespace isoscope::record {
namespace {

using testing::HasSubstr;

constexpr const char* kTables = R"(
CREATE TABLE pair (a text, b text, v int, PRIMARY KEY (a, b));
INSERT INTO pair VALUES ('x,y', 'z', 0), ('x', 'y,z', 0);
CREATE TABLE quiz (id int PRIMARY KEY, s text);
INSERT INTO quiz VALUES (1, 'x]'), (2, 'x)'), (3, 'a b'), (4, 'a  b');
CREATE TABLE figure (id int PRIMARY KEY, v int, w int GENERATED ALWAYS AS (v * 2) STORED);
INSERT INTO figure VALUES (1, 5);
CREATE TABLE amount (id numeric PRIMARY KEY, v int);
INSERT INTO amount VALUES (1.0, 0);
CREATE TABLE stock (id int PRIMARY KEY, v int);
INSERT INTO stock VALUES (1, 0), (2, 0);
CREATE TABLE price (id int PRIMARY KEY, v int);
INSERT INTO price VALUES (1, 0);
CREATE TABLE sign (v int, name text PRIMARY KEY);
INSERT INTO sign VALUES (0, 'a\b'), (0, E'c\td'), (0, 'e'), (0, '');
CREATE TABLE ric (id int PRIMARY KEY, v int);
INSERT INTO ric VALUES (1, 0);
CREATE SCHEMA sale;
CREATE TABLE sale.item (id int PRIMARY KEY, v int);
INSERT INTO sale.item VALUES (1, 0);
CREATE TABLE "sale.item" (id int PRIMARY KEY, v int);
INSERT INTO "sale.item" VALUES (1, 0);
CREATE TABLE member (id int PRIMARY KEY, mail text);
CREATE UNIQUE INDEX one_mail ON member (mail);
CREATE TABLE pg_mine (id int PRIMARY KEY, v int);
CREATE TABLE latin (id int PRIMARY KEY, s text);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
CREATE FUNCTION total() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT sum(v) FROM stock';
CREATE FUNCTION twice(figure) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT sum(v) FROM stock';
CREATE FUNCTION seen(int, int) RETURNS bool LANGUAGE sql STABLE
  AS 'SELECT EXISTS (SELECT 1 FROM stock WHERE id = $1 AND v = $2)';
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = seen);
CREATE TYPE c AS (x int);
CREATE FUNCTION conv(int) RETURNS c LANGUAGE sql STABLE
  AS 'SELECT ROW(v)::c FROM stock WHERE id = $1';
CREATE CAST (int AS c) WITH FUNCTION conv(int))";

// A request, and what its line has; empty: nothing at all.
struct Step {
  const char* sql;
  const char* has;
};

const std::vector<Step> kSteps = {
    // A comma within a key of two columns was the one between them: two rows were one.
    {"UPDATE pair SET v = 1 WHERE a = 'x,y' AND b = 'z'", "w pair[x\\,y,z].v=1"},
    {"SELECT v FROM pair WHERE a = 'x' AND b = 'y,z'", ""},
    // Questions that differ in a bracket, or in blanks within a constant, were one.
    {"UPDATE quiz SET s = 'y' WHERE id = 2", "w quiz[2]{where s = 'x)' select id}=no"},
    {"SELECT id FROM quiz WHERE s = 'x]'", "r quiz[2]{where s = 'x\\)' select id} T0"},
    {"SELECT id FROM quiz WHERE s = 'x)'", "r quiz[2]{where s = 'x)' select id} T3"},
    {"UPDATE quiz SET s = 'b' WHERE id = 4", "w quiz[4]{where s = 'a  b' select id}=no"},
    {"SELECT id FROM quiz WHERE s = 'a b'", "r quiz[4]{where s = 'a b' select id} T0"},
    {"SELECT id FROM quiz WHERE s = 'a  b'", "r quiz[4]{where s = 'a  b' select id} T6"},
    // Functions that are called by other means than a call were not seen.
    {"SELECT 1 === 0", "gap: an operator or a cast"},
    {"SELECT id FROM stock WHERE id === v", "gap: an operator or a cast"},
    {"SELECT 1::c", "gap: an operator or a cast"},
    {"SELECT (figure).twice FROM figure WHERE id = 1", "gap: a field of a record"},
    {"SELECT total() FROM pg_database LIMIT 1", "gap: a function"},
    {"SELECT total() FROM pg_class a JOIN pg_class b ON a.oid = b.oid", "gap: a function"},
    // Not every table that is called so is the server's.
    {"SELECT v FROM pg_mine WHERE id = 1", "gap: a table that is called like one"},
    {"SELECT relname FROM pg_class WHERE oid = 1", ""},
    // Places and whole rows are others in the table of versions.
    {"SELECT id FROM quiz WHERE ctid = '(0,1)'", "gap: a condition on the whole row or a system"},
    {"SELECT id FROM quiz WHERE quiz::text LIKE '%1)'",
     "gap: a condition on the whole row or a system"},
    // A column that is computed from one that is set is set too, if the value is the same.
    {"UPDATE figure SET v = 5 WHERE id = 1", "w figure[1].w=10"},
    // 1.00 is the key 1.0, and another text.
    {"DELETE FROM amount WHERE id = 1.00", "gap: a key whose equal values"},
    {"INSERT INTO amount VALUES (1.00, 5)", "gap: a key whose equal values"},
    // The integer of a key that is cast to something else is another one.
    {"UPDATE stock SET v = 1 WHERE id = 1", "w stock[1].v=1"},
    {"SELECT v FROM stock WHERE id = 2::bool::int", "r stock[1].v T22"},
    // A savepoint with quotes around its name is the one without.
    {"BEGIN; UPDATE stock SET v = 2 WHERE id = 1; SAVEPOINT \"s\"; UPDATE stock SET v = 3 WHERE id "
     "= 2; ROLLBACK TO s; COMMIT",
     "r stock[1] T0, w stock[1].v=2"},
    // What a cursor did not fetch, nobody has read.
    {"BEGIN; DECLARE c CURSOR FOR SELECT v FROM stock WHERE v > 0; FETCH 1 FROM c; COMMIT",
     "gap: a cursor that its transaction did not fetch"},
    {"BEGIN; DECLARE \"C\" CURSOR FOR SELECT v FROM stock WHERE v > 1; FETCH FORWARD 5 FROM \"C\"; "
     "COMMIT",
     "r stock[1]{where v > 1 select v} T24"},
    // What was written by a statement that tells no place in the log was also that of the one
    // before.
    {"BEGIN; UPDATE stock SET v = 9 WHERE id = 2; INSERT INTO stock VALUES (50, 1), (51, 1); "
     "COMMIT",
     "r stock[2] T0, w stock[2].v=9, "},
    // Two tables had the same name.
    {"UPDATE sale.item SET v = 1 WHERE id = 1", "w sale.item[1].v=1"},
    {"UPDATE \"sale.item\" SET v = 1 WHERE id = 1", "gap: a table with a dot"},
    // Names of tables in other letters, and within other names.
    {"ALTER TABLE PRICE ALTER v TYPE int USING v + 5", "gap: neither"},
    {"SELECT v FROM price WHERE id = 1", "gap: "},
    {"UPDATE ric SET v = 1 WHERE id = 1", "r ric[1] T0"},
    // Keys that COPY prints with escapes, in another column than the first.
    {"UPDATE sign SET v = 1 WHERE name = 'a\\b'", "w sign[a\\b].v=1"},
    {"UPDATE sign SET v = 1 WHERE name = 'c\td'", "w sign[c\td].v=1"},
    {"UPDATE sign SET v = 1 WHERE name = ''", "w sign[].v=1"},
    {"SELECT v FROM sign WHERE name = 'e'", ""},
    // Texts that the server reads otherwise.
    {"SET client_encoding = LATIN1", ""},
    {"SELECT id FROM latin WHERE s = '\xE9'", "gap: a text that is not in UTF8"},
    {"SET client_encoding = UTF8", ""},
    {"SET standard_conforming_strings = off", ""},
    {"SELECT id FROM latin WHERE s = 'a\\' OR id = 1 -- '", "gap: a text that is not in UTF8"},
    {"SET standard_conforming_strings = on", ""},
    // Foreign keys that are turned off read nothing.
    {"SET session_replication_role = replica", ""},
    {"INSERT INTO child VALUES (1, 9)", "gap: "},
};

class StrangeSql : public testing::TestWithParam<const char*> {
 protected:
  bool appends() const { return std::string_view(GetParam()) == "append"; }
  void start() {
    std::string why_not;
    server_ = PostgresServer::start(why_not, {.settings = {"max_prepared_transactions=4"}});
    if (!server_) GTEST_SKIP() << why_not;
    run(server_->dsn(), kTables);
    if (appends()) {
      auto begun = start_appending(server_->dsn());
      ASSERT_TRUE(begun) << begun.error().what;
      appender_ = std::move(begun->appender);
      log_.emplace(std::move(begun->rows));
    } else {
      auto log = ServerLog::open(server_->dsn());
      ASSERT_TRUE(log) << log.error().what;
      log_.emplace(std::move(*log));
    }
    gates_ = std::make_unique<Gatekeeper>(appender_.get());
    proxy_ = std::make_unique<RunningProxy>(server_->port(), gates_.get());
  }
  static void run(const std::string& dsn, const char* sql) {
    PGconn* connection = PQconnectdb(dsn.c_str());
    PGresult* result = PQexec(connection, sql);
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
  }
  std::vector<ResolvedTxn> resolved_txns() {
    proxy_->stop();
    std::vector<std::pair<std::string, RecordedTxn>> txns;
    for (auto& [client, txn] : proxy_->txns()) txns.emplace_back("s", txn);
    if (appends()) {
      auto finished = finish_appending(*appender_, *log_, txns);
      EXPECT_TRUE(finished) << finished.error().what;
      if (!finished) return {};
    }
    auto resolved = resolve(txns, *log_, *gates_);
    EXPECT_TRUE(resolved) << resolved.error().what;
    return resolved ? std::move(resolved->txns) : std::vector<ResolvedTxn>();
  }
  // By transaction: what its statements did, and their gaps.
  std::vector<std::string> recorded() {
    std::vector<std::string> lines;
    for (const ResolvedTxn& txn : resolved_txns()) lines.push_back(line_of(txn));
    return lines;
  }
  static std::string line_of(const ResolvedTxn& txn) {
    std::string line;
    for (const Gap& gap : txn.txn.gaps) line += "gap: " + gap.why + ", ";
    for (const std::vector<RunEvent>& events : txn.events) {
      for (const RunEvent& event : events) {
        constexpr const char* kLetters[] = {"r", "w", "i", "d", "l", "ls", "lk"};
        line += fmt::format("{} {}", kLetters[static_cast<std::size_t>(event.kind)], event.key);
        if (event.kind == RunEvent::Kind::Read) line += " " + event.from;
        if (event.kind == RunEvent::Kind::Write) line += "=" + event.value;
        line += ", ";
      }
    }
    return line;
  }

  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<Appender> appender_;
  std::optional<ServerLog> log_;
  std::unique_ptr<Gatekeeper> gates_;
  std::unique_ptr<RunningProxy> proxy_;
};

TEST_P(StrangeSql, IsRecordedAsItIsOrIsAGap) {
  start();
  if (!server_) return;
  PGconn* connection = PQconnectdb(PostgresServer::dsn(proxy_->port()).c_str());
  for (const Step& step : kSteps) {
    PGresult* result = PQexec(connection, step.sql);
    EXPECT_THAT(PQerrorMessage(connection), testing::StrEq("")) << step.sql;
    PQclear(result);
  }
  PQfinish(connection);
  const std::vector<std::string> lines = recorded();
  ASSERT_EQ(lines.size(), kSteps.size()) << testing::PrintToString(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (*kSteps[i].has == '\0') {
      EXPECT_EQ(lines[i], "") << "T" << i + 1 << " " << kSteps[i].sql;
    } else {
      EXPECT_THAT(lines[i], HasSubstr(kSteps[i].has)) << "T" << i + 1 << " " << kSteps[i].sql;
    }
  }
}

// By another connection: no statement of the recording names the table.
TEST_P(StrangeSql, RowsThatAreRewrittenPastTheRecorderAreAGap) {
  start();
  if (!server_) return;
  run(PostgresServer::dsn(proxy_->port()), "UPDATE price SET v = 7 WHERE id = 1");
  run(server_->dsn(), "ALTER TABLE price ALTER v TYPE int USING v + 5");
  run(PostgresServer::dsn(proxy_->port()), "UPDATE price SET v = 1 WHERE v = 12");
  run(PostgresServer::dsn(proxy_->port()), "UPDATE stock SET v = 1 WHERE id = 1");
  const std::vector<std::string> lines = recorded();
  ASSERT_EQ(lines.size(), 3U) << testing::PrintToString(lines);
  EXPECT_THAT(lines[1], HasSubstr("gap: a table that was written anew"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("gap")));
}

// What was called, or kept values apart, is not in the catalog any more.
TEST_P(StrangeSql, WhatIsDroppedPastTheRecorderIsAGap) {
  start();
  if (!server_) return;
  const std::string through = PostgresServer::dsn(proxy_->port());
  run(through, "UPDATE stock SET v = 1 WHERE id = 1");
  run(through, "INSERT INTO stock SELECT 7, total()");
  run(through, "DELETE FROM stock WHERE id = total()");
  run(through, "INSERT INTO member VALUES (1, 'a')");
  run(server_->dsn(), "DROP FUNCTION total(); DROP INDEX one_mail");
  const std::vector<std::string> lines = recorded();
  ASSERT_GE(lines.size(), 4U) << testing::PrintToString(lines);
  EXPECT_THAT(lines[2], HasSubstr("gap: a function that may read or write inside"));
  EXPECT_THAT(lines[3], HasSubstr("gap: a table that was altered during the run"));
}

// A function that was made and dropped by the application itself, under a name of the server's.
TEST_P(StrangeSql, FunctionsOfAMomentAreAGap) {
  start();
  if (!server_) return;
  const std::string through = PostgresServer::dsn(proxy_->port());
  run(through,
      "CREATE FUNCTION ascii(int) RETURNS bigint LANGUAGE sql AS 'SELECT sum(v) FROM stock'");
  run(through, "DELETE FROM stock WHERE id = ascii(1)");
  run(through, "DROP FUNCTION ascii(int)");
  const std::vector<std::string> lines = recorded();
  ASSERT_EQ(lines.size(), 3U) << testing::PrintToString(lines);
  EXPECT_THAT(lines[1], HasSubstr("gap: a function that may read or write inside"));
}

// It commits when somebody says so: the next of its session need not see it.
TEST_P(StrangeSql, PreparedTransactionsLeaveTheirSession) {
  start();
  if (!server_) return;
  PGconn* connection = PQconnectdb(PostgresServer::dsn(proxy_->port()).c_str());
  for (const char* sql : {"BEGIN; UPDATE stock SET v = 7 WHERE id = 1; PREPARE TRANSACTION 'one'",
                          "SELECT v FROM stock WHERE id = 1", "COMMIT PREPARED 'one'",
                          "SELECT v FROM stock WHERE id = 1"}) {
    PQclear(PQexec(connection, sql));
    EXPECT_THAT(PQerrorMessage(connection), testing::StrEq("")) << sql;
  }
  PQfinish(connection);
  const std::vector<ResolvedTxn> txns = resolved_txns();
  ASSERT_EQ(txns.size(), 4U);
  for (std::size_t i = 1; i < txns.size(); ++i) {
    EXPECT_NE(txns[0].session, txns[i].session);
    EXPECT_LE(txns[i].txn.end, txns[0].txn.end);
  }
  if (appends()) return;
  EXPECT_THAT(line_of(txns[1]), HasSubstr("r stock[1].v T0"));
  EXPECT_THAT(line_of(txns[3]), HasSubstr("r stock[1].v T1"));
}

INSTANTIATE_TEST_SUITE_P(Ways, StrangeSql, testing::Values("log", "append"),
                         [](const auto& way) { return std::string(way.param); });

}  // namespace
}  // namespace isoscope::record
