// Procedures that end their transactions: the front end, and the transactions of a call.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sql/read/assertions.h"
#include "sql/server/recorded.h"
#include "sql/server/schedules.h"
#include "sql/well_formed.h"

namespace isoscope::sql::server {
namespace procedure_tests {
namespace {

using ::testing::HasSubstr;

constexpr PgLevel kRc = PgLevel::ReadCommitted;
constexpr PgLevel kRr = PgLevel::RepeatableRead;

std::string procedure(const std::string& body, const std::string& options = "") {
  return "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v < 100));\n"
         "INSERT INTO t VALUES (1, 10), (2, 10);\n"
         "CREATE FUNCTION add_one() RETURNS void LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = v + "
         "1;"
         " END $$;\n"
         "CREATE PROCEDURE f(p int) LANGUAGE plpgsql " +
         options + " AS $$ DECLARE x int; r record; BEGIN\n" + body + "\nEND $$;\n";
}

Application app_of(const std::string& text) {
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << app.error().what;
  return *std::move(app);
}

std::string problem_of(const std::string& text) {
  const Application app = app_of(text);
  return app.problems.empty() ? "" : app.problems.front().what;
}

struct Explored {
  Schedules all;
  std::set<std::string> ends;  // of each transaction, then the values of the rows
};

Explored explored(const std::string& text, PgLevel level, bool is_reduced = true) {
  Application app = app_of(text);
  EXPECT_TRUE(app.problems.empty()) << app.problems.front().what;
  EXPECT_EQ(find_flaw(app), "");
  auto claims = parse_assertions(text, app);
  EXPECT_TRUE(claims.ok()) << claims.error().what;
  const auto program = SqlProgram::create(std::move(app));
  EXPECT_TRUE(program.ok()) << program.error().what;
  const Machine machine(**program, std::vector<PgLevel>((*program)->outline().calls.size(), level));
  Explored found;
  found.all = explore(machine, *claims, {.is_reduced = is_reduced, .wants_outcomes = true});
  for (const RunOutcome& outcome : found.all.outcomes) {
    std::string end;
    for (const CallEnd& call : outcome.end.calls) {
      if (call.is_left_out) continue;
      end += call.is_committed               ? "commit"
             : call.failure.sqlstate.empty() ? "rollback"
                                             : call.failure.sqlstate;
      for (const Value& value : call.locals) end += " " + print(value);
      end += ", ";
    }
    for (const auto& row : outcome.end.rows.front()) end += print(row[1]) + " ";
    found.ends.insert(end);
  }
  return found;
}

const std::string kOne = "-- session a: f(1)\n";

TEST(Procedures, AreOneTransactionForEachCommit) {
  EXPECT_THAT(explored(procedure("UPDATE t SET v = 1; COMMIT; UPDATE t SET v = 2 WHERE id = p;\n"
                                 "x := 7;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("commit, commit 7, 2 1 "));
}

TEST(Procedures, HaveNoTransactionBehindTheLastCommit) {
  EXPECT_THAT(explored(procedure("FOR i IN 1..2 LOOP UPDATE t SET v = v + i WHERE id = i; x := i; "
                                 "COMMIT; END LOOP;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("commit, commit 2 2, 11 12 "));
}

TEST(Procedures, TakeBackWhatTheyRollBackAndKeepVariables) {
  EXPECT_THAT(explored(procedure("UPDATE t SET v = 50 WHERE id = 1 RETURNING v INTO x; ROLLBACK;\n"
                                 "UPDATE t SET v = x WHERE id = 2;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("rollback, commit 50, 10 50 "));
}

TEST(Procedures, KeepWhatWasCommittedBeforeAnError) {
  EXPECT_THAT(explored(procedure("UPDATE t SET v = 50 WHERE id = 1; COMMIT;\n"
                                 "UPDATE t SET v = 60 WHERE id = 2; UPDATE t SET v = 100; COMMIT;\n"
                                 "UPDATE t SET v = 0;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("commit, 23514, 50 10 "));
}

TEST(Procedures, CannotEndATransactionUnderAHandler) {
  EXPECT_THAT(explored(procedure("BEGIN UPDATE t SET v = 1; COMMIT;\n"
                                 "EXCEPTION WHEN check_violation THEN x := 1; END;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("2D000, 10 10 "));
  EXPECT_THAT(explored(procedure("BEGIN UPDATE t SET v = 100;\n"
                                 "EXCEPTION WHEN check_violation THEN COMMIT; END;\n"
                                 "UPDATE t SET v = 3;") +
                           kOne,
                       kRc)
                  .ends,
              ::testing::ElementsAre("commit, commit NULL, 3 3 "));
}

TEST(Procedures, TakeASnapshotForEachTransaction) {
  const std::string body =
      "SELECT v INTO x FROM t WHERE id = 1;\n{}\n"
      "UPDATE t SET v = v + 1 WHERE id = 1;";
  const std::string sessions = "-- session a: f(1)\n-- session b: add_one()\n";
  // Without a COMMIT the other UPDATE may come between, and the call fails.
  const auto ends = [&](std::string_view between) {
    return explored(procedure(fmt::format(fmt::runtime(body), between)) + sessions, kRr).ends;
  };
  EXPECT_TRUE(ends("").contains("40001, commit, 11 11 "));
  for (const std::string& end : ends("COMMIT;")) {
    EXPECT_THAT(end, ::testing::AnyOf(HasSubstr("12 11"), HasSubstr("40001")));
    EXPECT_FALSE(end.starts_with("40001")) << "a part that only reads";
  }
}

// Between the parts others see what was committed; serially, too.
TEST(Procedures, ShowEachTransactionToInvariantsAndSerialOrders) {
  const std::string text =
      procedure(
          "UPDATE t SET v = v - 5 WHERE id = 1; COMMIT; UPDATE t SET v = v + 5 WHERE id = 2;") +
      "-- session a: f(1)\n-- session b: add_one()\n";
  const Explored plain = explored(text, kRc);
  for (const RunOutcome& outcome : plain.all.outcomes) EXPECT_EQ(outcome.is_serial, true);
  EXPECT_GT(explored(text + "-- invariant SELECT sum(v) >= 20 FROM t\n", kRc).all.violating, 0U);
  EXPECT_EQ(explored(text + "-- assert SELECT sum(v) = 22 FROM t\n", kRc).all.violating, 0U);
}

// Of steps that commute one order is explored: no end is lost by it.
TEST(Procedures, EndTheSameWaysIfEveryOrderIsExplored) {
  const std::string sessions = "-- session a: f(1)\n-- session b: f(2)\n-- session c: add_one()\n";
  for (const std::string body : {"UPDATE t SET v = v + 5 WHERE id = p; COMMIT; SELECT v INTO x "
                                 "FROM t WHERE id = 1; ROLLBACK;",
                                 "FOR r IN SELECT id FROM t LOOP UPDATE t SET v = v + p WHERE id = "
                                 "r.id; COMMIT; END LOOP;"}) {
    for (const PgLevel level : {kRc, kRr, PgLevel::Serializable}) {
      const Explored some = explored(procedure(body) + sessions, level);
      const Explored every = explored(procedure(body) + sessions, level, false);
      EXPECT_EQ(some.ends, every.ends) << body;
      EXPECT_EQ(some.all.histories, every.all.histories) << body;
    }
  }
}

TEST(Procedures, OfALoopWithTooManyCommitsAreALimit) {
  const Explored found = explored(
      procedure("FOR i IN 1..40 LOOP UPDATE t SET v = i WHERE id = 1; COMMIT; END LOOP;") + kOne,
      kRc);
  ASSERT_TRUE(found.all.fault);
  EXPECT_THAT(found.all.fault->what, HasSubstr("f(1) goes on after 32 transactions"));
}

TEST(Procedures, NameWhereTheServerLetsNoTransactionEnd) {
  EXPECT_THAT(problem_of("CREATE TABLE t (id int PRIMARY KEY);\nCREATE FUNCTION g() RETURNS void "
                         "LANGUAGE plpgsql AS $$ BEGIN ROLLBACK; END $$;"),
              HasSubstr("ROLLBACK in a function fails on the server (2D000)"));
  EXPECT_THAT(problem_of(procedure("COMMIT;", "SECURITY DEFINER")), HasSubstr("SECURITY DEFINER"));
  EXPECT_THAT(problem_of(procedure("COMMIT;", "SET search_path = public")), HasSubstr("SET or"));
  EXPECT_THAT(
      problem_of(procedure("FOR r IN UPDATE t SET v = 1 RETURNING id LOOP COMMIT; END LOOP;")),
      HasSubstr("in a loop over rows of a statement that writes"));
  EXPECT_THAT(problem_of(procedure("COMMIT;") +
                         "CREATE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL f(1); "
                         "END $$;"),
              HasSubstr("f ends its transaction in line"));
  EXPECT_THAT(
      problem_of(procedure("FOR r IN SELECT id FROM t FOR UPDATE LOOP ROLLBACK; END LOOP;")),
      HasSubstr("in a loop over a query that locks"));
  EXPECT_EQ(problem_of(procedure("COMMIT AND CHAIN;") +
                       "CREATE PROCEDURE g() LANGUAGE plpgsql AS $$ BEGIN CALL f(1); END $$;"),
            "");
}

// The server locks a row when the loop comes to it; here all are locked first.
TEST(Procedures, SayThatTheyLockTheRowsOfALoopOneByOne) {
  const Application app =
      app_of(procedure("FOR r IN SELECT id FROM t FOR UPDATE LOOP UPDATE t SET v = 1 WHERE id = "
                       "r.id; END LOOP;"));
  ASSERT_EQ(app.notes.size(), 1U);
  EXPECT_EQ(app.notes.front().kind, NoteKind::Gap);
  EXPECT_THAT(app.notes.front().what, HasSubstr("locks the rows of this loop one by one"));
}

TEST(Procedures, AreTransactionsOfTheirOwnInHistories) {
  Application app =
      app_of(procedure("UPDATE t SET v = 1; COMMIT; UPDATE t SET v = 2; ROLLBACK;") + kOne);
  const auto program = SqlProgram::create(std::move(app));
  ASSERT_TRUE(program.ok());
  const Machine machine(**program, std::vector<PgLevel>((*program)->outline().calls.size(), kRc));
  Rng rng(1);
  const RandomRun run = run_at_random(machine, {}, rng);
  const auto history = to_history(machine, run.state);
  ASSERT_TRUE(history.ok()) << history.error().what;
  ASSERT_EQ(history->num_txns(), 3U);  // with the initial one
  EXPECT_EQ(history->name(isoscope::TxnId{1}), "a[1]");
  EXPECT_EQ(history->name(isoscope::TxnId{2}), "a[1/2]");
  EXPECT_TRUE(history->is_committed(isoscope::TxnId{1}));
  EXPECT_FALSE(history->is_committed(isoscope::TxnId{2}));
}

}  // namespace
}  // namespace procedure_tests
}  // namespace isoscope::sql::server
