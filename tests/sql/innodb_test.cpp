// What InnoDB's levels allow and PostgreSQL's do not, and the reverse; and which programs can be
// executed so at all. That this is what the server does: innodb_live_test.cpp.
#include <gtest/gtest.h>

#include <set>

#include "sql/read/assertions.h"
#include "sql/server/innodb_fragment.h"
#include "sql/server/schedules.h"

namespace isoscope::sql::server {
namespace innodb_tests {
namespace {

constexpr PgLevel kRc = PgLevel::ReadCommitted;
constexpr PgLevel kRr = PgLevel::RepeatableRead;

std::string function(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; n int; BEGIN\n" + body +
         "\nRETURN x; END $$;\n";
}
const std::string kTable = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);\n";
const std::string kRows = "INSERT INTO t VALUES (1, 10), (2, 20);\n";
const std::string kBoth = "-- session a: f(1)\n-- session b: f(2)\n";
const std::string kCross = "-- session a: f(1)\n-- session b: g(2)\n";

std::unique_ptr<SqlProgram> program_of(const std::string& text) {
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << app.error().what;
  EXPECT_TRUE(app->problems.empty()) << app->problems.front().what;
  auto program = SqlProgram::create(*std::move(app));
  EXPECT_TRUE(program.ok()) << program.error().what;
  return *std::move(program);
}

struct Explored {
  Schedules all;
  std::set<std::string> ends;  // of the calls with their results, and the rows
};

Explored explored(const std::string& text, PgLevel level, ServerKind server = ServerKind::MariaDb) {
  const auto program = program_of(text);
  const std::vector<PgLevel> levels(program->outline().calls.size(), level);
  if (server == ServerKind::MariaDb) {
    const auto gaps = check_innodb(*program);
    EXPECT_TRUE(gaps.ok()) << gaps.error().what;
  }
  const Machine machine(*program, levels, {}, false, server);
  Explored found;
  found.all = explore(machine, {}, {.wants_outcomes = true});
  EXPECT_FALSE(found.all.fault) << found.all.fault->what;
  for (const RunOutcome& outcome : found.all.outcomes) {
    std::string end;
    for (const CallEnd& call : outcome.end.calls)
      end += call.is_committed ? print(call.locals[0]) + " " : call.failure.sqlstate + " ";
    for (const auto& row : outcome.end.rows.front())
      end += print(row[0]) + ":" + print(row[1]) + " ";
    found.ends.insert(end);
  }
  return found;
}

TEST(Innodb, LosesAnUpdateSilentlyAtRepeatableRead) {
  const std::string text =
      kTable +
      function("f", "SELECT v INTO x FROM t WHERE id = 1; UPDATE t SET v = x + p WHERE id = 1;") +
      kRows + kBoth;
  EXPECT_EQ(explored(text, kRr).ends,
            (std::set<std::string>{"10 11 1:13 2:20 ", "12 10 1:13 2:20 ", "10 10 1:11 2:20 ",
                                   "10 10 1:12 2:20 "}));
  for (const std::string& end : explored(text, kRr, ServerKind::Postgres).ends)
    EXPECT_FALSE(end.starts_with("10 10")) << end;
}

TEST(Innodb, KeepsUpdatesThatAreOneStatementOrLockFirst) {
  for (const std::string body :
       {"UPDATE t SET v = v + p WHERE id = 1;",
        "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE; UPDATE t SET v = x + p WHERE id = 1;"}) {
    SCOPED_TRACE(body);
    for (const PgLevel level : {kRc, kRr}) {
      const Explored found = explored(kTable + function("f", body) + kRows + kBoth, level);
      EXPECT_EQ(found.all.deadlocks, 0U);
      for (const std::string& end : found.ends) EXPECT_TRUE(end.ends_with("1:13 2:20 ")) << end;
    }
  }
}

// The snapshot is that of the first plain read, not of the first statement.
TEST(Innodb, TakesItsSnapshotAtTheFirstPlainRead) {
  const std::string text =
      kTable +
      function("f",
               "UPDATE t SET v = v + 1 WHERE id = 1; SELECT v INTO x FROM t WHERE id = 2;\n"
               "SELECT v INTO n FROM t WHERE id = 2; x := 1000 * x + n;") +
      function("g", "UPDATE t SET v = 21 WHERE id = 2;") + kRows + kCross;
  EXPECT_EQ(explored(text, kRr).ends,
            (std::set<std::string>{"20020 NULL 1:11 2:21 ", "21021 NULL 1:11 2:21 "}));
  EXPECT_TRUE(explored(text, kRc).ends.contains("20021 NULL 1:11 2:21 "));
}

TEST(Innodb, LocksTheGapWhereARowIsMissing) {
  const std::string text = kTable +
                           function("f",
                                    "SELECT v INTO x FROM t WHERE id = 5 FOR UPDATE;\n"
                                    "SELECT count(*) INTO n FROM t; x := n;") +
                           function("g", "INSERT INTO t VALUES (7, 1);") + kRows + kCross;
  // The INSERT waits until a has ended, or was there before.
  EXPECT_EQ(explored(text, kRr).ends,
            (std::set<std::string>{"2 NULL 1:10 2:20 7:1 ", "3 NULL 1:10 2:20 7:1 "}));
  const std::string both = kTable +
                           function("f",
                                    "SELECT v INTO x FROM t WHERE id = 5 FOR UPDATE;\n"
                                    "INSERT INTO t VALUES (4 + p, 1);") +
                           kRows + kBoth;
  EXPECT_GT(explored(both, kRr).all.deadlocks, 0U);
  EXPECT_EQ(explored(both, kRc).all.deadlocks, 0U);
}

TEST(Innodb, InsertsWaitForEachOther) {
  const std::string text = kTable + function("f", "INSERT INTO t VALUES (5, p);") + kRows + kBoth;
  EXPECT_EQ(explored(text, kRr).ends,
            (std::set<std::string>{"NULL 1062 1:10 2:20 5:1 ", "1062 NULL 1:10 2:20 5:2 "}));
}

TEST(Innodb, AnUpdateThatChangesNothingFindsNothing) {
  const std::string text = kTable +
                           function("f",
                                    "UPDATE t SET v = 10 WHERE id = 1;\n"
                                    "IF FOUND THEN x := 1; ELSE x := 0; END IF;") +
                           kRows + "-- session a: f(1)\n";
  EXPECT_EQ(explored(text, kRr).ends, (std::set<std::string>{"0 1:10 2:20 "}));
  EXPECT_EQ(explored(text, kRr, ServerKind::Postgres).ends,
            (std::set<std::string>{"1 1:10 2:20 "}));
}

struct Refused {
  std::string tables, body, what;
};

TEST(Innodb, RefusesWhatItCannotExecuteWithItsPlace) {
  const std::string text = "CREATE TABLE t (id text PRIMARY KEY, v int NOT NULL);\n";
  const std::vector<Refused> cases = {
      {kTable, "UPDATE t SET v = 1;", "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "UPDATE t SET v = 1 WHERE id > 1;",
       "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "DELETE FROM t WHERE v = 1;",
       "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "SELECT v INTO x FROM t WHERE v = 1 FOR UPDATE;",
       "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "UPDATE t SET v = 1 WHERE id = 1 AND id = 2;",
       "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "UPDATE t SET v = 1 WHERE id = 1 AND id < p;",
       "which rows of t MariaDB locks here depends on its plan"},
      {kTable, "UPDATE t SET id = 9 WHERE id = 1;",
       "a change of the primary key is not executed as MariaDB does"},
      {kTable, "UPDATE t SET v = (SELECT max(v) FROM t) WHERE id = 1;",
       "sub-queries of a statement that writes or locks are not executed as MariaDB does: they "
       "lock, too"},
      {kTable, "INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING;",
       "ON CONFLICT is not executed as MariaDB does"},
      {kTable, "SELECT v INTO x FROM t WHERE id = 1 FOR KEY SHARE;",
       "FOR KEY SHARE is not executed as MariaDB does"},
      {kTable, "SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE NOWAIT;",
       "NOWAIT or SKIP LOCKED is not executed as MariaDB does"},
      {kTable, "PERFORM pg_advisory_xact_lock(1);",
       "an advisory lock of PostgreSQL is not executed as MariaDB does"},
      {kTable, "BEGIN UPDATE t SET v = 1 WHERE id = 1; EXCEPTION WHEN OTHERS THEN x := 1; END;",
       "an EXCEPTION block is not executed as MariaDB does"},
      {text, "UPDATE t SET v = 1 WHERE id = 'a';", "the primary key of t is no whole number"},
      {"CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE);\n", "UPDATE t SET v = 1 WHERE id = 1;",
       "t has a further unique key, whose locks on MariaDB are not modelled"},
      {"CREATE TABLE t (id int PRIMARY KEY, v int REFERENCES t (id));\n",
       "UPDATE t SET v = 1 WHERE id = 1;",
       "t has a foreign key, whose locks on MariaDB are not modelled"},
      {"CREATE TABLE t (id serial PRIMARY KEY, v int);\n", "INSERT INTO t (v) VALUES (1);",
       "t has a column that the database fills, whose locks on MariaDB are not modelled"},
  };
  for (const Refused& each : cases) {
    SCOPED_TRACE(each.body);
    const auto program =
        program_of(each.tables + function("f", each.body) + "-- session a: f(1)\n");
    const auto checked = check_innodb(*program);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().what, each.what);
    EXPECT_EQ(checked.error().where.line, 3);
  }
}

TEST(Innodb, NamesWhatMeansAnotherThingThere) {
  const auto gaps = [](const std::string& body) {
    const auto program = program_of(kTable + function("f", body) + "-- session a: f(1)\n");
    const auto checked = check_innodb(*program);
    EXPECT_TRUE(checked.ok()) << checked.error().what;
    return checked->empty() ? std::string() : checked->front().what;
  };
  EXPECT_EQ(gaps("UPDATE t SET v = v / 2 WHERE id = 1;"), "/ may mean another thing on MariaDB");
  EXPECT_EQ(gaps("SELECT v INTO x FROM t WHERE id = 1;"), "");
  // Whether deleted rows are purged decides what is locked.
  EXPECT_NE(gaps("DELETE FROM t WHERE id = 1;"), "");
}

}  // namespace
}  // namespace innodb_tests
}  // namespace isoscope::sql::server
