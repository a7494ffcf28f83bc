// Advisory locks: what the front end takes for them, and what they do to schedules.
#include <gtest/gtest.h>

#include <set>

#include "sql/read/assertions.h"
#include "sql/server/schedules.h"
#include "sql/well_formed.h"

namespace isoscope::sql::server {
namespace advisory_tests {
namespace {

constexpr PgLevel kRc = PgLevel::ReadCommitted;
constexpr PgLevel kRr = PgLevel::RepeatableRead;

std::string function(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE x int; ok boolean; BEGIN\n" + body +
         "\nRETURN x; END $$;\n";
}

struct Explored {
  Schedules all;
  std::set<std::string> ends;  // how calls end, and the values of the rows
};

Explored explored(const std::string& functions, const std::string& sessions, PgLevel level) {
  const std::string text = "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);\n" + functions +
                           "INSERT INTO t VALUES (1, 10), (2, 10);\n" + sessions;
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok()) << app.error().what;
  EXPECT_TRUE(app->problems.empty()) << app->problems.front().what;
  EXPECT_EQ(find_flaw(*app), "");
  auto claims = parse_assertions(text, *app);
  EXPECT_TRUE(claims.ok()) << claims.error().what;
  const auto program = SqlProgram::create(*std::move(app));
  EXPECT_TRUE(program.ok()) << program.error().what;
  const Machine machine(**program, std::vector<PgLevel>((*program)->outline().calls.size(), level));
  Explored found;
  found.all = explore(machine, *claims, {.wants_outcomes = true});
  EXPECT_FALSE(found.all.fault) << found.all.fault->what;
  for (const RunOutcome& outcome : found.all.outcomes) {
    std::string end;
    for (const CallEnd& call : outcome.end.calls) {
      end += call.is_committed ? "commit" : call.failure.sqlstate;
      for (const Value& value : call.locals) end += " " + print(value);
      end += ", ";
    }
    for (const auto& row : outcome.end.rows.front()) end += print(row[1]) + " ";
    found.ends.insert(end);
  }
  return found;
}

const std::string kSkew =
    "SELECT sum(v) INTO x FROM t;\n"
    "IF x >= 20 THEN UPDATE t SET v = v - 10 WHERE id = p; END IF;";
const std::string kTwo = "-- session a: f(1)\n-- session b: f(2)\n";
const std::string kClaim = "-- assert SELECT sum(v) >= 10 FROM t\n";

TEST(AdvisoryLocks, KeepTransactionsApartAtReadCommitted) {
  EXPECT_GT(explored(function("f", kSkew), kTwo + kClaim, kRc).all.violating, 0U);
  const Explored locked =
      explored(function("f", "PERFORM pg_advisory_xact_lock(7);\n" + kSkew), kTwo + kClaim, kRc);
  EXPECT_EQ(locked.all.violating, 0U);
  EXPECT_EQ(locked.all.deadlocks, 0U);
}

// The statement that takes the lock has taken the snapshot before.
TEST(AdvisoryLocks, DoNotHelpAtRepeatableRead) {
  const Explored locked =
      explored(function("f", "PERFORM pg_advisory_xact_lock(7);\n" + kSkew), kTwo + kClaim, kRr);
  EXPECT_GT(locked.all.violating, 0U);
}

TEST(AdvisoryLocks, OfOtherKeysOrSharedExcludeNobody) {
  for (const std::string lock : {"pg_advisory_xact_lock(p)", "pg_advisory_xact_lock_shared(1)",
                                 "pg_advisory_xact_lock(1, p)", "pg_advisory_xact_lock(NULL)"}) {
    SCOPED_TRACE(lock);
    const Explored locked =
        explored(function("f", "PERFORM " + lock + ";\n" + kSkew), kTwo + kClaim, kRc);
    EXPECT_GT(locked.all.violating, 0U);
  }
  // A pair of numbers is never the key that one number is.
  const Explored pair =
      explored(function("f", "PERFORM pg_advisory_xact_lock(1);\n" + kSkew) +
                   function("g", "PERFORM pg_advisory_xact_lock(0, 1);\n" + kSkew),
               "-- session a: f(1)\n-- session b: g(2)\n" + kClaim, kRc);
  EXPECT_GT(pair.all.violating, 0U);
}

TEST(AdvisoryLocks, OneThatIsTriedSaysWhetherItIsThere) {
  const Explored tried =
      explored(function("f",
                        "IF NOT pg_try_advisory_xact_lock(1) THEN RETURN 0; END IF;\n"
                        "UPDATE t SET v = v + 1 WHERE id = 1; x := 1;"),
               kTwo, kRc);
  EXPECT_EQ(tried.all.deadlocks, 0U);
  // Both one after the other, or one alone.
  EXPECT_EQ(tried.ends, (std::set<std::string>{"commit 1 1 NULL, commit 1 1 NULL, 12 10 ",
                                               "commit 1 1 NULL, commit 0 NULL NULL, 11 10 ",
                                               "commit 0 NULL NULL, commit 1 1 NULL, 11 10 "}));
}

TEST(AdvisoryLocks, InTwoOrdersDeadlock) {
  const std::string lock = "PERFORM pg_advisory_xact_lock(";
  const Explored found = explored(
      function("f", lock + "1); " + lock + "2);") + function("g", lock + "2); " + lock + "1);"),
      "-- session a: f(1)\n-- session b: g(1)\n", kRc);
  EXPECT_GT(found.all.deadlocks, 0U);
}

// c asks for a shared lock while b waits for the exclusive one: it goes behind b.
TEST(AdvisoryLocks, Queue) {
  auto app = parse_application(
      "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);\n" +
      function("f", "PERFORM pg_advisory_xact_lock_shared(1);") +
      function("g", "PERFORM pg_advisory_xact_lock(1);") +
      function("h", "ok := pg_try_advisory_xact_lock_shared(1);") +
      "-- session a: f(1)\n-- session b: g(1)\n-- session c: f(1)\n-- session d: h(1)\n");
  ASSERT_TRUE(app.ok());
  const auto program = SqlProgram::create(*std::move(app));
  const Machine machine(**program, std::vector<PgLevel>(4, kRc));
  State state = machine.start();
  EXPECT_EQ(machine.take(state, {{0}}).kind, StepDone::Kind::Answered);
  EXPECT_EQ(machine.take(state, {{1}}).kind, StepDone::Kind::Waits);
  EXPECT_EQ(machine.take(state, {{2}}).kind, StepDone::Kind::Waits);
  EXPECT_EQ(state.sessions[ProgramSession{2}].ahead, (std::vector<TxnNo>{TxnNo{2}}));
  // One that does not wait does not get it either.
  EXPECT_EQ(machine.take(state, {{3}}).kind, StepDone::Kind::Answered);
  EXPECT_EQ(state.txns[TxnNo{4}].log.back()->rows,
            (std::vector<std::vector<Value>>{{Value(false)}}));
  EXPECT_EQ(machine.take(state, {{0}}).kind, StepDone::Kind::Committed);
  EXPECT_EQ(machine.choices(state), (std::vector<Choice>{{{1}}}));
  EXPECT_EQ(machine.take(state, {{1}}).kind, StepDone::Kind::Answered);
  EXPECT_EQ(machine.take(state, {{1}}).kind, StepDone::Kind::Committed);
  EXPECT_EQ(machine.choices(state), (std::vector<Choice>{{{2}}}));
  EXPECT_EQ(machine.take(state, {{2}}).kind, StepDone::Kind::Answered);
}

// a waits for c, c stands behind b in the queue, b waits for a: the server lets c go before b.
TEST(AdvisoryLocks, ChangeTheOrderOfAQueueRatherThanDeadlock) {
  const Explored found = explored(
      function("f", "PERFORM pg_advisory_xact_lock_shared(1); PERFORM pg_advisory_xact_lock(2);") +
          function("g", "PERFORM pg_advisory_xact_lock(1);") +
          function("h",
                   "PERFORM pg_advisory_xact_lock(2);"
                   "PERFORM pg_advisory_xact_lock_shared(1);"),
      "-- session a: f(1)\n-- session b: g(1)\n-- session c: h(1)\n", kRc);
  EXPECT_EQ(found.all.deadlocks, 0U);
  EXPECT_EQ(found.ends.size(), 1U);
}

// Who has a shared lock gets the exclusive one before those that wait for it.
TEST(AdvisoryLocks, AreStrengthenedBeforeWaiters) {
  const Explored found = explored(
      function("f", "PERFORM pg_advisory_xact_lock_shared(1); PERFORM pg_advisory_xact_lock(1);") +
          function("g", "PERFORM pg_advisory_xact_lock(1);"),
      "-- session a: f(1)\n-- session b: g(1)\n", kRc);
  EXPECT_EQ(found.all.deadlocks, 0U);
}

TEST(AdvisoryLocks, AreGivenBackByABlockThatFails) {
  const std::string block =
      "BEGIN PERFORM pg_advisory_xact_lock(1); RAISE EXCEPTION 'no';\n"
      "EXCEPTION WHEN OTHERS THEN x := 5; END;\n"
      "UPDATE t SET v = v + 1 WHERE id = p;";
  const Explored found = explored(
      function("f", block) + function("g", "SELECT pg_try_advisory_xact_lock(1) INTO ok; x := 6;"),
      "-- session a: f(1)\n-- session b: g(1)\n", kRc);
  // b has it before, after, or while a runs on; never is it denied but inside of the block, which
  // is one step with what it fails by.
  EXPECT_TRUE(found.ends.contains("commit 5 5 NULL, commit 6 6 true, 11 10 "));
  const Explored crossed = explored(
      function("f", block + "UPDATE t SET v = v + 1 WHERE id = 2;") +
          function("g", "UPDATE t SET v = v + 1 WHERE id = 2; PERFORM pg_advisory_xact_lock(1);"),
      "-- session a: f(1)\n-- session b: g(1)\n", kRc);
  EXPECT_EQ(crossed.all.deadlocks, 0U);
}

TEST(AdvisoryLocks, SetFound) {
  const Explored found =
      explored(function("f",
                        "UPDATE t SET v = 0 WHERE id = 9; PERFORM pg_advisory_xact_lock(1);\n"
                        "IF FOUND THEN x := 1; ELSE x := 2; END IF;"),
               "-- session a: f(1)\n", kRc);
  EXPECT_EQ(found.ends, (std::set<std::string>{"commit 1 1 NULL, 10 10 "}));
}

TEST(AdvisoryLocks, StandInTransactionsWithoutFunctions) {
  const Explored found = explored(
      "-- transaction w\nBEGIN;\nSELECT pg_advisory_xact_lock(:k);\n"
      "UPDATE t SET v = v + 1 WHERE id = 1;\nCOMMIT;\n",
      "-- session a: w(1)\n-- session b: w(1)\n", kRc);
  EXPECT_EQ(found.all.deadlocks, 0U);
  EXPECT_EQ(found.ends.size(), 1U);
}

TEST(AdvisoryLocks, ThatMayNotBeTakenAreRefusedWithTheirPlace) {
  const auto refusal = [](const std::string& body) {
    auto app =
        parse_application("CREATE TABLE t (id int PRIMARY KEY, v int);\n" + function("f", body));
    EXPECT_TRUE(app.ok());
    if (app->problems.empty()) return std::string("taken");
    EXPECT_EQ(app->problems.front().where.line, 3) << body;
    return app->problems.front().what;
  };
  EXPECT_EQ(refusal("PERFORM pg_advisory_lock(1);"),
            "pg_advisory_lock is about locks that outlive the transaction, which are not modelled");
  EXPECT_EQ(refusal("PERFORM pg_advisory_unlock(1);"),
            "pg_advisory_unlock is about locks that outlive the transaction, which are not "
            "modelled");
  EXPECT_EQ(refusal("PERFORM pg_advisory_xact_lock(id) FROM t;"),
            "pg_advisory_xact_lock is called for each row here");
  EXPECT_EQ(refusal("SELECT id INTO x FROM t WHERE pg_try_advisory_xact_lock(1);"),
            "pg_try_advisory_xact_lock is called for each row here");
  EXPECT_EQ(refusal("PERFORM pg_advisory_xact_lock(1) WHERE p = 1;"),
            "whether pg_advisory_xact_lock is called here is not known");
  EXPECT_EQ(refusal("IF p = 1 AND pg_try_advisory_xact_lock(1) THEN x := 1; END IF;"),
            "whether pg_try_advisory_xact_lock is called here is not known");
  EXPECT_EQ(refusal("x := CASE WHEN p = 1 AND pg_try_advisory_xact_lock(1) THEN 1 END;"),
            "whether pg_try_advisory_xact_lock is called here is not known");
  EXPECT_EQ(refusal("PERFORM pg_advisory_xact_lock(1, 2, 3);"),
            "pg_advisory_xact_lock takes one number or two");
  EXPECT_EQ(refusal("PERFORM pg_advisory_xact_lock(hashtext('a'));"), "taken");
  EXPECT_EQ(refusal("ok := pg_try_advisory_xact_lock(1);"), "taken");
}

}  // namespace
}  // namespace advisory_tests
}  // namespace isoscope::sql::server
