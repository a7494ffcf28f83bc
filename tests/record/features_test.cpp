// What is recorded of single features of PostgreSQL's: statements go through a proxy one after the
// other, and the events of each transaction are compared with what they must be.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <map>

#include "record/gatekeeper.h"
#include "record/resolve.h"
#include "record/running_proxy.h"
#include "record/server_log.h"
#include "support/postgres_server.h"

namespace isoscope::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RecordFeatures : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    server_ = PostgresServer::start(why_not);
    if (!server_) GTEST_SKIP() << why_not;
  }
  void TearDown() override {
    for (auto& [name, connection] : sessions_) PQfinish(connection);
  }

  // Makes tables, before the recording.
  void given(const std::string& sql) {
    PGconn* connection = PQconnectdb(server_->dsn().c_str());
    PGresult* result = PQexec(connection, sql.c_str());
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
  }
  void start() {
    auto log = ServerLog::open(server_->dsn());
    ASSERT_TRUE(log) << log.error().what;
    log_.emplace(std::move(*log));
    proxy_ = std::make_unique<RunningProxy>(server_->port(), &gates_);
  }
  // One request of a session.
  void run(const std::string& sql, const std::string& session = "a") {
    PGconn*& connection = sessions_[session];
    if (connection == nullptr)
      connection = PQconnectdb(
          (PostgresServer::dsn(proxy_->port()) + " application_name=" + session).c_str());
    PQclear(PQexec(connection, sql.c_str()));
  }
  // Sends a request that waits for a lock; finish() takes its answer.
  void send(const std::string& sql, const std::string& session) {
    run("SELECT 1", session);
    ASSERT_EQ(PQsendQuery(sessions_[session], sql.c_str()), 1);
    PGconn* watcher = PQconnectdb(server_->dsn().c_str());
    for (bool waits = false; !waits;) {
      PGresult* result = PQexec(watcher, "SELECT 1 FROM pg_locks WHERE NOT granted");
      waits = PQntuples(result) > 0;
      PQclear(result);
    }
    PQfinish(watcher);
  }
  void finish(const std::string& session) {
    while (PGresult* result = PQgetResult(sessions_[session])) PQclear(result);
  }
  // By transaction: "r t[1] T0, w t[1].v=5 | …", with "gap: why" in the place of what is not known.
  std::vector<std::string> recorded() {
    proxy_->stop();
    std::vector<std::pair<std::string, RecordedTxn>> txns;
    for (auto& [client, txn] : proxy_->txns()) txns.emplace_back(client.application, txn);
    auto resolved = resolve(txns, *log_, gates_);
    if (!resolved) return {resolved.error().what};
    std::vector<std::string> lines;
    for (const ResolvedTxn& txn : resolved->txns) {
      std::string line;
      for (std::size_t i = 0; i < txn.events.size(); ++i) {
        if (i > 0) line += " | ";
        for (const Gap& gap : txn.txn.gaps) {
          if (gap.statement == i + 1) line += "gap: " + gap.why;
        }
        for (const RunEvent& event : txn.events[i]) {
          constexpr const char* kLetters[] = {"r", "w", "i", "d", "l", "ls", "lk"};
          if (!line.empty() && !line.ends_with("| ")) line += ", ";
          line += fmt::format("{} {}", kLetters[static_cast<std::size_t>(event.kind)], event.key);
          if (event.kind == RunEvent::Kind::Read) line += " " + event.from;
          if (event.is_coarse) line += " coarse";
          if (event.kind == RunEvent::Kind::Write) line += "=" + event.value.substr(0, 9);
        }
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::unique_ptr<PostgresServer> server_;
  std::optional<ServerLog> log_;
  Gatekeeper gates_;
  std::unique_ptr<RunningProxy> proxy_;
  std::map<std::string, PGconn*> sessions_;
};

TEST_F(RecordFeatures, PartitionedTablesAreOneTable) {
  given(
      "CREATE TABLE p (id int, v int, PRIMARY KEY (id)) PARTITION BY RANGE (id);"
      "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);"
      "CREATE TABLE p2 (v int, id int NOT NULL);"
      "ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10) TO (20);"
      "INSERT INTO p VALUES (1, 5), (11, 6)");
  start();
  run("UPDATE p SET v = 7 WHERE id = 11");
  run("SELECT v FROM p WHERE id = 11");
  run("UPDATE p SET id = 2 WHERE id = 11");
  run("SELECT count(*) FROM p WHERE v = 7");
  run("SELECT v FROM p1 WHERE id = 2");
  EXPECT_THAT(recorded(), ElementsAre("r p[11] T0, w p[11].v=7, w p[11]{where v = 7}=yes",
                                      "r p[11] T0, r p[11].v T1",
                                      "r p[11] T0, r p[2] T0, d p[11], w p[11]{where v = 7}=no, i "
                                      "p[2], i p[2].id, i p[2].v, i p[2]{where v = 7}",
                                      "r p[11]{where v = 7} T3, r p[2]{where v = 7} T3",
                                      "gap: a partition that is named itself"));
}

TEST_F(RecordFeatures, LargeValuesThatDidNotChangeAreKept) {
  given(
      "CREATE TABLE t (id int PRIMARY KEY, big text, v int);"
      "ALTER TABLE t ALTER big SET STORAGE EXTERNAL;"
      "INSERT INTO t SELECT i, repeat('x', 20000), 0 FROM generate_series(1, 2) i");
  start();
  run("UPDATE t SET v = 1 WHERE id = 1");
  run("SELECT id FROM t WHERE length(big) = 20000");
  run("UPDATE t SET big = 'small' WHERE id = 1");
  run("SELECT id FROM t WHERE length(big) = 20000");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], testing::StartsWith("r t[1] T0, w t[1].v=1"));
  EXPECT_EQ(lines[1], "r t[1]{where length(big) = 20000 select id} T0");
  EXPECT_THAT(lines[2], HasSubstr("w t[1]{where length(big) = 20000 select id}=no"));
  EXPECT_EQ(lines[3], "r t[1]{where length(big) = 20000 select id} T3");
}

TEST_F(RecordFeatures, WhatASavepointUndidIsNotWritten) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)");
  start();
  for (const char* sql : {"BEGIN", "UPDATE t SET v = 1 WHERE id = 1", "SAVEPOINT s",
                          "UPDATE t SET v = 2 WHERE id = 2", "SELECT v FROM t WHERE id = 2",
                          "SELECT v FROM t WHERE id = 3", "ROLLBACK TO s",
                          "SELECT v FROM t WHERE id = 2", "SELECT v FROM t WHERE id = 1", "COMMIT"})
    run(sql);
  run("UPDATE t SET v = 9");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  // The second row is read again after the savepoint; what was read of the own version is no event.
  EXPECT_EQ(lines[0],
            "r t[1] T0, w t[1].v=1 |  | r t[2] T0 |  | r t[3] T0, r t[3].v T0 |  | r t[2] T0, r "
            "t[2].v T0 | ");
}

// ROLLBACK TO gives locks back, so that later transactions did not wait for them.
TEST_F(RecordFeatures, WhatASavepointLockedIsNotLocked) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)");
  start();
  for (const char* sql : {"BEGIN", "SAVEPOINT s", "SELECT v FROM t WHERE id = 1 FOR UPDATE",
                          "ROLLBACK TO s", "SELECT v FROM t WHERE id = 2 FOR UPDATE", "COMMIT"})
    run(sql);
  run("UPDATE t SET v = 9 WHERE id = 1");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], testing::StartsWith(" | r t[1] T0, r t[1].v T0 | "));
  EXPECT_THAT(lines[0], HasSubstr("t[2]"));
}

// What a transaction inserts and deletes again it has not written, nor the value of a unique key.
TEST_F(RecordFeatures, AUniqueValueThatWasTakenAndGivenBackIsNotWritten) {
  given("CREATE TABLE t (id int PRIMARY KEY, e text UNIQUE)");
  start();
  run("BEGIN; INSERT INTO t VALUES (1, 'a'); DELETE FROM t WHERE id = 1; COMMIT");
  run("INSERT INTO t VALUES (1, 'a')");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("r t[e=a] T0"));
}

// Rows that serve as a mutex: nobody writes them, and their locks keep others out all the same.
TEST_F(RecordFeatures, LocksOfRowsThatNobodyWroteAreRecorded) {
  given(
      "CREATE TABLE c (id int PRIMARY KEY, name text);"
      "INSERT INTO c VALUES (1, 'a'), (2, 'b'), (3, 'b')");
  start();
  run("SELECT id FROM c WHERE id = 1 FOR UPDATE");
  run("SELECT id FROM c WHERE name = 'b' FOR SHARE");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("c[1]"));
  EXPECT_THAT(lines[1], HasSubstr("c[2]"));
  EXPECT_THAT(lines[1], HasSubstr("c[3]"));
}

// Who sets the value that is there already has written it: in another order it would have been
// another value. A condition keeps its answer.
TEST_F(RecordFeatures, SettingTheValueThatIsThereIsAWrite) {
  given(
      "CREATE TABLE job (id int PRIMARY KEY, state text, n int);"
      "INSERT INTO job VALUES (1, 'free', 0), (2, 'free', 0)");
  start();
  run("UPDATE job SET state = 'taken' WHERE id = 1");
  run("UPDATE job SET state = 'taken' WHERE id = 1", "b");
  run("SELECT state FROM job WHERE id = 1");
  run("SELECT count(*) FROM job WHERE state = 'free'");
  run("SELECT state FROM job WHERE n = 0");
  run("BEGIN; UPDATE job SET n = 5 WHERE id = 1", "b");
  run("UPDATE job SET state = 'free' WHERE id = 2", "b");
  run("COMMIT", "b");
  run("INSERT INTO job VALUES (2, 'free', 0) ON CONFLICT (id) DO UPDATE SET state = 'free'");
  run("SELECT state, n FROM job WHERE id = 2");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0],
            "r job[1] T0, w job[1].state=taken, w job[1]{where n = 0 select state}=yes,'take, w "
            "job[1]{where state = 'free'}=no");
  EXPECT_EQ(lines[1],
            "r job[1] T0, w job[1].state=taken, w job[1]{where n = 0 select state}=yes,'take");
  EXPECT_EQ(lines[2], "r job[1] T0, r job[1].state T2");
  EXPECT_EQ(lines[3], "r job[1]{where state = 'free'} T1, r job[2]{where state = 'free'} T0");
  EXPECT_THAT(lines[4], HasSubstr("r job[1]{where n = 0 select state} T2"));
  EXPECT_THAT(lines[5], HasSubstr("w job[1].n=5"));
  EXPECT_THAT(lines[5], testing::Not(HasSubstr("w job[1].state")));
  EXPECT_THAT(lines[5], HasSubstr("w job[2].state=free"));
  EXPECT_THAT(lines[6], HasSubstr("w job[2].state=free"));
  EXPECT_EQ(lines[7], "r job[2] T0, r job[2].state T7, r job[2].n T0");
}

TEST_F(RecordFeatures, ForeignKeysReadTheirParents) {
  given(
      "CREATE TABLE parent (id int PRIMARY KEY, v int);"
      "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);"
      "INSERT INTO parent VALUES (1, 0), (2, 0)");
  start();
  run("INSERT INTO parent VALUES (3, 0)");
  run("INSERT INTO child VALUES (1, 3)");
  run("DELETE FROM parent WHERE id = 2");
  run("UPDATE child SET parent = 1 WHERE id = 1");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], HasSubstr("r parent[3] T1, lk parent[3]"));
  EXPECT_THAT(lines[2], HasSubstr("r parent[2] T0"));
  EXPECT_THAT(lines[3], HasSubstr("w child[1].parent=1"));
}

// The check of the foreign key does not find the child that an earlier statement has deleted.
TEST_F(RecordFeatures, WhoDeletesChildAndParentReadsItsOwnWork) {
  given(
      "CREATE TABLE parent (id int PRIMARY KEY, v int);"
      "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);"
      "INSERT INTO parent VALUES (1, 0); INSERT INTO child VALUES (1, 1)");
  start();
  run("BEGIN; DELETE FROM child WHERE id = 1; DELETE FROM parent WHERE id = 1; COMMIT");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("d parent[1]"));
  EXPECT_THAT(lines[0], testing::Not(HasSubstr("r child[1]{")));
}

// Of a row that it has written, a transaction still reads what others gave it.
TEST_F(RecordFeatures, ReadsWhatItHasNotWrittenInARowOfItsOwn) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int, w int); INSERT INTO t VALUES (1, 0, 0)");
  start();
  run("UPDATE t SET v = 7 WHERE id = 1");
  run("BEGIN; UPDATE t SET w = 5 WHERE id = 1; SELECT v FROM t WHERE id = 1;"
      " SELECT id FROM t WHERE v = 7; COMMIT");
  run("BEGIN; UPDATE t SET v = 7 WHERE id = 1; SELECT v FROM t WHERE id = 1; COMMIT");
  run("BEGIN; UPDATE t SET w = 6 WHERE id = 1; UPDATE t SET v = v + 1 WHERE id = 1; COMMIT");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], HasSubstr("r t[1].v T1"));
  EXPECT_THAT(lines[1], HasSubstr("r t[1]{where v = 7 select id} T1"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("r t[1].v")));
  EXPECT_THAT(lines[3], HasSubstr("r t[1].v T3"));
}

// FOR UPDATE of a parent keeps children out, whether or not anybody writes the parent.
TEST_F(RecordFeatures, ForeignKeysLockParentsThatNobodyWrote) {
  given(
      "CREATE TABLE parent (id int PRIMARY KEY, v int);"
      "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);"
      "INSERT INTO parent VALUES (1, 0), (2, 0)");
  start();
  run("INSERT INTO child VALUES (1, 1), (2, 1)");
  run("UPDATE child SET parent = 2 WHERE id = 1");
  run("UPDATE child SET parent = 2 WHERE id = 1");  // the same parent: nothing is checked
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("lk parent[1]"));
  EXPECT_THAT(lines[1], HasSubstr("lk parent[2]"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("lk ")));
}

// A child that came after the snapshot of the DELETE, and went with it: it is read as it was then.
TEST_F(RecordFeatures, CascadesReadWhatCameMeanwhile) {
  given(
      "CREATE TABLE parent (id int PRIMARY KEY);"
      "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE);"
      "INSERT INTO parent VALUES (7)");
  start();
  run("BEGIN; INSERT INTO child VALUES (1, 7)", "b");
  send("DELETE FROM parent WHERE id = 7", "a");
  run("COMMIT", "b");
  finish("a");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 3U);  // SELECT 1 is one too
  // Both end at once, and the proxy may see either first.
  const bool is_last = lines[2].find("d parent[7]") != std::string::npos;
  const std::string& deleting = lines[is_last ? 2 : 1];
  EXPECT_THAT(deleting,
              HasSubstr(fmt::format("r child[1]{{where parent = 7}} T{}", is_last ? 2 : 3)));
  EXPECT_THAT(deleting, testing::Not(HasSubstr("|")));
}

// As Django's get() of a row that is locked.
TEST_F(RecordFeatures, ALimitThatLeavesNothingOutIsNone) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)");
  start();
  run("UPDATE t SET v = 1");
  run("SELECT v FROM t WHERE id = 1 LIMIT 21 FOR UPDATE");
  run("SELECT v FROM t LIMIT 1 FOR UPDATE");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "r t[1] T0, l t[1], r t[1].v T1");
  EXPECT_EQ(lines[2], "gap: a LIMIT that leaves rows out");
}

// The old row of the snapshot and the new one of its own: the old one was left out.
TEST_F(RecordFeatures, AKeyThatWasFreedAndTakenShowsTwoRows) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)");
  start();
  run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  run("SELECT v FROM t WHERE id = 2");
  run("DELETE FROM t WHERE id = 1", "b");
  run("INSERT INTO t VALUES (1, 5)");
  run("SELECT id FROM t WHERE id IN (SELECT id FROM t)");
  run("COMMIT");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("gap: a key that was freed after its snapshot"));
}

// PostgreSQL runs READ UNCOMMITTED as READ COMMITTED: who has waited takes the current row.
TEST_F(RecordFeatures, ReadUncommittedTakesTheCurrentRowAfterAWait) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)");
  start();
  for (const std::string level : {"READ COMMITTED", "READ UNCOMMITTED"}) {
    run("BEGIN; UPDATE t SET v = 1 WHERE id = 1", "writer");
    run("BEGIN ISOLATION LEVEL " + level, "waiter");
    send("UPDATE t SET v = v + 1 WHERE id = 1", "waiter");
    run("COMMIT", "writer");
    finish("waiter");
    run("COMMIT", "waiter");
  }
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], " | r t[1] T0 | r t[1] T0, r t[1].v T1, w t[1].v=2");
  EXPECT_EQ(lines[3], " | r t[1] T0 | r t[1] T0, r t[1].v T3, w t[1].v=2");
}

TEST_F(RecordFeatures, RefusedAndUndoneInsertsReadTheirKey) {
  given("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)");
  start();
  run("INSERT INTO t VALUES (2, 0)");
  run("INSERT INTO t VALUES (2, 1)", "b");  // 23505
  run("BEGIN; INSERT INTO t VALUES (3, 0)");
  run("SELECT v FROM t WHERE id = 3");
  run("ROLLBACK");
  run("INSERT INTO t VALUES (3, 5)", "b");
  run("BEGIN; UPDATE t SET id = 9 WHERE id = 1");
  run("SELECT v FROM t WHERE id = 9");
  run("ROLLBACK");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[4],
            "gap: a primary key that was changed and rolled back | gap: rows of its own that were "
            "rolled back later");
  EXPECT_EQ(lines[1], "r t[2] T1");
  EXPECT_EQ(lines[2], "r t[3] T0 | ");
  EXPECT_THAT(lines[3], HasSubstr("r t[3] T0"));
}

// Whether a row has no partner must not be asked of versions that were not there together.
TEST_F(RecordFeatures, AnOuterJoinReadsRowsWithoutAPartner) {
  given(
      "CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE u (id int PRIMARY KEY, t int);"
      "INSERT INTO t VALUES (1, 0), (2, 0)");
  start();
  run("SELECT t.id FROM t LEFT JOIN u ON u.t = t.id WHERE u.id IS NULL AND t.n = 0");
  run("UPDATE t SET n = 5 WHERE id = 2");
  run("INSERT INTO u VALUES (7, 2)");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("r t[2]{t in from t LEFT JOIN u ON u.t = t.id where"));
  EXPECT_THAT(lines[0], HasSubstr("r u[7]{u in from"));
  EXPECT_THAT(lines[1], HasSubstr("w t[2]{t in from"));
  EXPECT_THAT(lines[2], HasSubstr("i u[7]{u in from"));
}

// Of a row that finds its partners in the snapshot whatever version it has, it is certain that the
// query depends on it; of one that would find them at another time only, it is not.
TEST_F(RecordFeatures, AJoinReadsExactlyWhatItsSnapshotJoins) {
  given(
      "CREATE TABLE o (id int PRIMARY KEY, c int, v int);"
      "CREATE TABLE c (id int PRIMARY KEY, ok boolean);"
      "INSERT INTO o VALUES (1, 1, 0), (2, 2, 0); INSERT INTO c VALUES (1, true), (2, false)");
  start();
  run("SELECT v FROM o JOIN c ON c.id = o.c WHERE c.ok");
  run("UPDATE o SET v = 5 WHERE id IN (1, 2)");
  run("UPDATE c SET ok = true WHERE id = 2");
  run("SELECT v FROM o JOIN c ON c.id = o.c WHERE c.ok");
  run("SELECT v FROM o WHERE c IN (SELECT id FROM c WHERE ok)");
  run("SELECT v FROM o WHERE v = 5 UNION ALL SELECT id FROM c");
  run("WITH w AS (SELECT v FROM o) SELECT v FROM w");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_THAT(lines[0], HasSubstr("r o[1]{o in from o JOIN c ON c.id = o.c where (c.ok) select c, "
                                  "v} T0, "));
  EXPECT_THAT(lines[0], HasSubstr("r o[2]{o in from o JOIN c ON c.id = o.c where (c.ok) select c, "
                                  "v} T0 coarse"));
  EXPECT_THAT(lines[3], HasSubstr("r o[2]{o in from o JOIN c ON c.id = o.c where (c.ok) select c, "
                                  "v} T2"));
  EXPECT_THAT(lines[3], testing::Not(HasSubstr("coarse")));
  EXPECT_THAT(lines[4], HasSubstr("coarse"));
  EXPECT_THAT(lines[5], HasSubstr("r o[2]{o in from o where (v = 5) select "));
  EXPECT_THAT(lines[5], testing::Not(HasSubstr("coarse")));
  EXPECT_THAT(lines[6], HasSubstr("coarse"));
}

TEST_F(RecordFeatures, AWholeRowInAJoinIsAllItsColumns) {
  given(
      "CREATE TABLE o (id int PRIMARY KEY, c int, v int); CREATE TABLE c (id int PRIMARY KEY);"
      "CREATE FUNCTION total(o) RETURNS int LANGUAGE sql AS 'SELECT $1.v';"
      "INSERT INTO o VALUES (1, 1, 0); INSERT INTO c VALUES (1)");
  start();
  run("SELECT md5(o::text) FROM o JOIN c ON c.id = o.c");
  run("SELECT o.total FROM o JOIN c ON c.id = o.c");
  run("SELECT o.xmin FROM o JOIN c ON c.id = o.c");
  run("UPDATE o SET v = 7 WHERE id = 1");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], HasSubstr("select id, c, v} T0"));
  EXPECT_EQ(lines[1], "gap: a column that the table does not have");
  EXPECT_EQ(lines[2], "gap: a column that the table does not have");
  EXPECT_THAT(lines[3], HasSubstr("w o[1]{o in from"));
}

// What a text means as a time, the client's settings decide.
TEST_F(RecordFeatures, TimesAreReadAsTheClientMeansThem) {
  given(
      "CREATE TABLE ev (id int PRIMARY KEY, at timestamptz);"
      "INSERT INTO ev VALUES (1, '2026-11-17 06:00:00+00')");
  start();
  run("SET TimeZone = 'America/New_York'");
  run("SELECT count(*) FROM ev WHERE at BETWEEN '2026-11-17 08:00' AND '2026-11-17 13:00'");
  run("SELECT count(*) FROM ev WHERE at BETWEEN '2026-11-17 08:00' AND '2026-11-17 13:00'", "b");
  run("SELECT count(*) FROM ev WHERE at < 'now'", "b");
  run("UPDATE ev SET at = '2026-11-17 15:00:00+00' WHERE id = 1", "b");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 5U);
  const std::string question = "ev[1]{where at BETWEEN '2026-11-17 08:00' AND '2026-11-17 13:00'";
  EXPECT_EQ(lines[1], "r " + question + " in America/New_York} T0");
  EXPECT_THAT(lines[2], testing::StartsWith("r " + question));
  EXPECT_THAT(lines[3], HasSubstr("gap: the condition cannot be evaluated again: it names the "
                                  "present time"));
  EXPECT_THAT(lines[4], HasSubstr("w " + question + " in America/New_York}=yes"));
}

TEST_F(RecordFeatures, DefaultsAndChecksThatCallFunctionsMayReadMore) {
  given(
      "CREATE TABLE o (id int PRIMARY KEY, v int); INSERT INTO o VALUES (1, 1);"
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT max(v) FROM o';"
      "CREATE FUNCTION g(int) RETURNS boolean LANGUAGE sql AS 'SELECT $1 < max(v) FROM o';"
      "CREATE TABLE d (id int PRIMARY KEY, w int DEFAULT f());"
      "CREATE TABLE k (id int PRIMARY KEY CHECK (g(id)));"
      "CREATE TABLE s (id serial PRIMARY KEY, at timestamptz DEFAULT now())");
  start();
  run("INSERT INTO d (id) VALUES (1)");
  run("INSERT INTO k VALUES (0)");
  run("INSERT INTO s VALUES (DEFAULT)");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("gap: a table with a default or a check that calls a function"));
  EXPECT_THAT(lines[1], HasSubstr("gap: a table with a default or a check that calls a function"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("gap")));
}

// COMMIT checks a deferred foreign key, by what there is then.
TEST_F(RecordFeatures, DeferredForeignKeysAreReadAtTheEnd) {
  given(
      "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, parent "
      "int "
      "REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  start();
  run("BEGIN; INSERT INTO child VALUES (1, 5)");
  run("SELECT count(*) FROM parent WHERE id = 5");
  run("INSERT INTO parent VALUES (5)", "b");
  run("COMMIT");
  const auto lines = recorded();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], testing::EndsWith(" | r parent[5] T0 | r parent[5] T1, lk parent[5]"));
}

}  // namespace
}  // namespace isoscope::record
