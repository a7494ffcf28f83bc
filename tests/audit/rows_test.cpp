// Calls of other functions, triggers, views, EXCEPTION blocks, and statements that go through row
// sets, in audits.
#include <gmock/gmock.h>

#include "audit/model_notes.h"
#include "audit/server_levels.h"
#include "audit_of.h"

namespace isoscope::audit {
namespace rows_tests {
namespace {

using testing::HasSubstr;

const std::string kTables =
    "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, grp integer NOT NULL);\n"
    "CREATE TABLE item (id integer PRIMARY KEY, val integer NOT NULL, up integer);\n"
    "CREATE TABLE log (id integer PRIMARY KEY, n integer NOT NULL);\n";

std::string function(const std::string& head, const std::string& body) {
  return "CREATE FUNCTION " + head +
         " LANGUAGE plpgsql AS $$ DECLARE x integer; y integer; r record; BEGIN " + body +
         " END; $$;\n";
}

AuditOutcome at(const Level& level, const std::string& text) {
  const Problem problem{app_of(kTables + text), {&level, {}}};
  const auto ok = check_problem(problem);
  EXPECT_TRUE(ok.ok()) << (ok ? "" : render(ok.error()));
  return audited(problem, {.max_length = 2, .prove = true}).outcome;
}
AuditOutcome at_rc(const std::string& text) { return at(pg_read_committed(), text); }
AuditOutcome at_rr(const std::string& text) { return at(pg_repeatable_read(), text); }

// Why the last function of the text is not audited; empty if it is.
std::string refused(const std::string& text) {
  const sql::Application app = app_of(kTables + text);
  const auto why = refusal(app, app.functions.back(), true);
  return why ? why->what : "";
}

const std::string kLook =
    function("look(k integer) RETURNS integer",
             "SELECT bal INTO x FROM acc WHERE id = k; RETURN coalesce(x, 0);");

TEST(AuditCalls, SeesWhatAFunctionThatIsCalledReads) {
  EXPECT_EQ(at_rc(kLook + function("spend(p integer) RETURNS integer",
                                   "x := look(p); UPDATE acc SET bal = x - 1 WHERE id = p; "
                                   "RETURN x;")),
            AuditOutcome::Anomaly);
  EXPECT_EQ(at_rc(kLook), AuditOutcome::Serializable);
}

TEST(AuditCalls, SeesLocksOfAFunctionThatIsCalled) {
  const std::string spend =
      function("spend(p integer) RETURNS integer",
               "x := look(p); UPDATE acc SET bal = x - 1 WHERE id = p; RETURN x;");
  const std::string lock =
      function("look(k integer) RETURNS integer",
               "SELECT bal INTO x FROM acc WHERE id = k FOR UPDATE; RETURN x;");
  EXPECT_EQ(at_rc(lock + spend), AuditOutcome::Serializable);
}

TEST(AuditCalls, LeavesAFunctionByItsReturn) {
  // The UPDATE behind RETURN is never reached.
  const std::string early = function(
      "early(k integer) RETURNS integer",
      "SELECT bal INTO x FROM acc WHERE id = 1; RETURN x; UPDATE acc SET bal = 0 WHERE id = 2;");
  EXPECT_EQ(at_rr(early + function("f(p integer) RETURNS integer", "RETURN early(p);")),
            AuditOutcome::Serializable);
}

TEST(AuditCalls, RefusesACallInTheMiddleOfAStatement) {
  EXPECT_THAT(refused(kLook + function("f(p integer) RETURNS void",
                                       "UPDATE log SET n = look(p) WHERE id = p;")),
              HasSubstr("calls look(…)"));
  EXPECT_THAT(refused(kLook + function("f(p integer) RETURNS void",
                                       "IF p > 0 AND look(p) > 0 THEN DELETE FROM log; END IF;")),
              HasSubstr("calls look(…)"));
  EXPECT_EQ(refused(kLook +
                    function("f(p integer) RETURNS void", "INSERT INTO log VALUES (p, look(p));")),
            "");
}

std::string fired(const std::string& when, const std::string& body) {
  return "CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body +
         " RETURN NEW; END; $$;\nCREATE TRIGGER tr " + when +
         " ON acc FOR EACH ROW EXECUTE FUNCTION fired();\n";
}

TEST(AuditTriggers, SeesWhatTheyChange) {
  const std::string change =
      function("f(p integer, q integer) RETURNS void", "UPDATE acc SET bal = q WHERE id = p;");
  const std::string look = function("g() RETURNS integer",
                                    "SELECT n INTO x FROM log WHERE id = 1; SELECT n INTO y FROM "
                                    "log WHERE id = 1; RETURN x - y;");
  EXPECT_EQ(at_rc(change + look), AuditOutcome::Serializable);
  EXPECT_EQ(
      at_rc(fired("AFTER UPDATE", "UPDATE log SET n = NEW.bal WHERE id = 1;") + change + look),
      AuditOutcome::Anomaly);
}

TEST(AuditTriggers, SeesWhatTheyRaise) {
  // Who takes from one account looks at the other: write skew at REPEATABLE READ.
  const std::string take =
      function("f(p integer) RETURNS void", "UPDATE acc SET bal = bal - 1 WHERE id = p;");
  EXPECT_EQ(
      at_rr(fired("BEFORE UPDATE", "IF NEW.bal < 0 THEN RAISE EXCEPTION 'too little'; END IF;") +
            take),
      AuditOutcome::Serializable);
  EXPECT_EQ(at_rr(fired("AFTER UPDATE",
                        "IF (SELECT sum(bal) FROM acc) < 0 THEN RAISE EXCEPTION 'too little'; END "
                        "IF;") +
                  take),
            AuditOutcome::Anomaly);
}

TEST(AuditViews, SeesTheirTables) {
  const std::string view =
      "CREATE VIEW by_group AS SELECT grp, sum(bal) AS total FROM acc GROUP BY "
      "grp;\n";
  const std::string move = function(
      "f(p integer, g integer) RETURNS void",
      "SELECT total INTO x FROM by_group WHERE grp = g; IF x > 0 THEN UPDATE acc SET bal = "
      "bal - 1 WHERE id = p; END IF;");
  EXPECT_NE(at_rr(view + move), AuditOutcome::Serializable);
  EXPECT_EQ(at(pg_serializable(), view + move), AuditOutcome::Serializable);
}

TEST(AuditRowSets, KnowsTheOneRowOfReturning) {
  const std::string with =
      function("f(p integer) RETURNS integer",
               "WITH w AS (UPDATE acc SET bal = bal - 1 WHERE id = p AND bal > 0 RETURNING bal) "
               "SELECT bal INTO x FROM w; IF x IS NULL THEN RAISE EXCEPTION 'no'; END IF; RETURN "
               "x;");
  EXPECT_EQ(at_rc(with), AuditOutcome::Serializable);
}

TEST(AuditRowSets, SeesWhatOuterJoinsAndGroupsRead) {
  const std::string join =
      function("f(p integer) RETURNS void",
               "SELECT count(i.id) INTO x FROM acc a LEFT JOIN item i ON i.up = a.id WHERE a.id = "
               "p; UPDATE log SET n = x WHERE id = p;");
  const std::string add =
      function("g(p integer, q integer) RETURNS void",
               "SELECT n INTO x FROM log WHERE id = q; INSERT INTO item VALUES (p, x, q);");
  EXPECT_EQ(at_rr(join + add), AuditOutcome::Anomaly);
  EXPECT_EQ(at_rr(join), AuditOutcome::Serializable);
}

TEST(AuditRowSets, KnowsThatACountInALoopIsOneRow) {
  // A loop over count(*) was taken for one over rows, whose count is NULL: the UPDATE never was.
  EXPECT_EQ(at_rr(function("f(p integer, q integer) RETURNS void",
                           "FOR r IN SELECT count(*) AS c FROM item LOOP IF r.c = 0 THEN INSERT "
                           "INTO item VALUES (p, q, q); END IF; END LOOP;")),
            AuditOutcome::Anomaly);
}

TEST(AuditRowSets, RefusesStatementsThatLookAtWhatTheyChange) {
  EXPECT_THAT(
      refused(function("f(p integer) RETURNS void",
                       "WITH w AS (DELETE FROM item WHERE id = p RETURNING val) INSERT INTO "
                       "log SELECT p, count(*) FROM item;")),
      HasSubstr("the same statement changes"));
  EXPECT_EQ(refused(function("f(p integer) RETURNS void",
                             "INSERT INTO item SELECT id + 1, val, up FROM item WHERE up = p;")),
            "");
}

TEST(AuditSubqueries, AreProvedWithInAndNotIn) {
  const std::string spend = function(
      "spend(p integer) RETURNS void",
      "IF p NOT IN (SELECT id FROM acc) OR 7 IN (SELECT up FROM item) THEN RETURN; END IF; "
      "UPDATE acc SET bal = bal - 1 WHERE id = p;");
  EXPECT_EQ(at_rc(spend), AuditOutcome::Serializable);
  EXPECT_EQ(at_rr(spend), AuditOutcome::Serializable);
}

// What SET computes is computed of the row as it is by then: no call read it before.
TEST(AuditSubqueries, OfEachRowLeaveWhatIsSetUnread) {
  EXPECT_EQ(at_rc(function("spend(p integer) RETURNS void",
                           "UPDATE acc SET bal = bal - 1 WHERE id = p AND grp IN (SELECT up FROM "
                           "item);")),
            AuditOutcome::Unknown);
}

TEST(AuditHandlers, AreNeverPartOfAGoodAnswer) {
  // Who catches a serialization failure goes on as no serial order does.
  const std::string safe = function(
      "safe(p integer) RETURNS boolean",
      "BEGIN UPDATE acc SET bal = bal - 1 WHERE id = p; EXCEPTION WHEN OTHERS THEN RETURN false; "
      "END; RETURN true;");
  for (const Level* level : {&pg_read_committed(), &pg_repeatable_read(), &pg_serializable()})
    EXPECT_EQ(at(*level, safe), AuditOutcome::Unknown);
}

TEST(AuditHandlers, ThatRaiseInAnyCaseOnlyAbort) {
  const auto withdraw = [](const std::string& handler) {
    return function(
        "withdraw(p integer) RETURNS boolean",
        "BEGIN SELECT bal INTO x FROM acc WHERE id = p FOR UPDATE; UPDATE acc SET bal = "
        "x - 1 WHERE id = p; EXCEPTION " +
            handler + " END; RETURN true;");
  };
  EXPECT_EQ(at_rc(withdraw("WHEN OTHERS THEN RAISE EXCEPTION 'no';")), AuditOutcome::Serializable);
  EXPECT_EQ(
      at_rc(withdraw("WHEN check_violation THEN RAISE NOTICE 'no'; RAISE; WHEN OTHERS THEN IF "
                     "x > 0 THEN RAISE EXCEPTION 'no'; ELSE RAISE; END IF;")),
      AuditOutcome::Serializable);
  // These may go on: one branch, one condition, or what is around.
  EXPECT_EQ(at_rc(withdraw("WHEN OTHERS THEN IF x > 0 THEN RAISE EXCEPTION 'no'; END IF;")),
            AuditOutcome::Unknown);
  EXPECT_EQ(at_rc(withdraw("WHEN check_violation THEN NULL; WHEN OTHERS THEN RAISE;")),
            AuditOutcome::Unknown);
  EXPECT_EQ(at_rc(withdraw("WHEN OTHERS THEN WHILE x > 0 LOOP RAISE; END LOOP;")),
            AuditOutcome::Unknown);
  EXPECT_EQ(at_rc(withdraw("WHEN OTHERS THEN RETURN false; RAISE;")), AuditOutcome::Unknown);
  EXPECT_EQ(at_rc(withdraw("WHEN OTHERS THEN BEGIN RAISE; EXCEPTION WHEN OTHERS THEN NULL; END; "
                           "RAISE;")),
            AuditOutcome::Unknown);
}

TEST(AuditHandlers, ShowAnomaliesInWhichNothingFails) {
  EXPECT_EQ(
      at_rc(function("spend(p integer) RETURNS integer",
                     "BEGIN SELECT bal INTO x FROM acc WHERE id = p; UPDATE acc SET bal = x - "
                     "1 WHERE id = p; EXCEPTION WHEN OTHERS THEN RETURN -1; END; RETURN x;")),
      AuditOutcome::Anomaly);
}

}  // namespace
}  // namespace rows_tests
}  // namespace isoscope::audit
