// Programs whose anomalies hang on one thing that is easily overlooked: a read that a constraint or
// a clause makes, a lock that is not taken, a value that may be NULL. Whoever overlooks it proves
// them serializable.
#include <gtest/gtest.h>

#include "audit_of.h"

namespace isoscope::audit {
namespace {

const std::string kTables =
    "CREATE TABLE acc (id integer PRIMARY KEY, bal integer NOT NULL, kind integer);\n"
    "CREATE TABLE item (id integer PRIMARY KEY, val integer, note integer);\n";

std::string function(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p integer, q integer, ps integer[]) RETURNS integer LANGUAGE plpgsql AS $$ DECLARE x "
         "integer; n integer := 0; BEGIN " +
         body + " END; $$;\n";
}

AuditReport audited(const std::string& text, const std::string& level) {
  const sql::Application app = app_of(text);
  const Problem problem = problem_of(app, level);
  Budget budget = Budget::seconds(20);
  return audit(problem, {.max_length = 2, .prove = true}, budget);
}

void expect_anomaly(const std::string& text, const std::string& level) {
  SCOPED_TRACE(level + "\n" + text);
  EXPECT_EQ(name_of(audited(text, level).outcome), "anomaly");
}

// Write skew: one function decides by `look` whether to add to acc, and another adds to what was
// looked at, if acc is as it was.
std::string skew(const std::string& look, const std::string& change) {
  return function("looks", look + " RETURN n;") +
         function("changes", "SELECT bal INTO x FROM acc WHERE id = 1; IF x = 0 THEN " + change +
                                 " END IF; RETURN 0;");
}

TEST(AuditTraps, DeleteLooksWhetherTheRowIsThereIfWhereSaysMore) {
  expect_anomaly(kTables + skew("DELETE FROM item WHERE id = p AND val = 1; UPDATE acc SET bal = 1 "
                                "WHERE id = 1;",
                                "INSERT INTO item VALUES (p, 1, q);"),
                 "si");
}

TEST(AuditTraps, DeleteReadsWhatItReturns) {
  expect_anomaly(kTables +
                     skew("DELETE FROM item WHERE id = p RETURNING val INTO x; IF x = 1 THEN "
                          "UPDATE acc SET bal = 1 WHERE id = 1; END IF;",
                          "UPDATE item SET val = 1 WHERE id = p;") +
                     function("fill", "INSERT INTO item VALUES (p, q, 0); RETURN 0;"),
                 "si");
}

TEST(AuditTraps, InsertOnConflictReadsWhatItReturns) {
  expect_anomaly(
      kTables +
          skew("INSERT INTO item VALUES (p, 5, 5) ON CONFLICT (id) DO UPDATE SET note = 3 "
               "RETURNING val INTO x; IF x = 5 THEN UPDATE acc SET bal = 1 WHERE id = 1; END "
               "IF;",
               "UPDATE item SET val = 1 WHERE id = p;") +
          function("fill", "INSERT INTO item VALUES (p, q, 0); RETURN 0;"),
      "si");
}

TEST(AuditTraps, InsertOnConflictMayMeetTheRowOfAUniqueValue) {
  expect_anomaly(
      "CREATE TABLE usr (id integer PRIMARY KEY, mail integer UNIQUE, hits integer NOT NULL);\n" +
          function("hit",
                   "INSERT INTO usr VALUES (p, q, 0) ON CONFLICT (mail) DO UPDATE SET hits = "
                   "usr.hits + 1 RETURNING hits INTO x; RETURN x;"),
      "cc");
}

TEST(AuditTraps, InsertOnConflictObeysChecks) {
  expect_anomaly(
      "CREATE TABLE two (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT "
      "NULL, CHECK (a + b <= 5));\n" +
          function("left",
                   "INSERT INTO two VALUES (p, 1, 1) ON CONFLICT (id) DO UPDATE "
                   "SET a = q; RETURN 0;") +
          function("right", "UPDATE two SET b = q WHERE id = p; RETURN 0;"),
      "si");
}

TEST(AuditTraps, SelectLocksNoMoreThanItReturns) {
  expect_anomaly(kTables + function("drop",
                                    "SELECT bal INTO x FROM acc WHERE kind >= p FOR UPDATE; "
                                    "SELECT count(*) INTO n FROM acc WHERE bal > 0 AND "
                                    "kind >= p; IF n > 1 THEN UPDATE acc SET bal = 0 WHERE "
                                    "id = q; END IF; RETURN n;"),
                 "si");
}

TEST(AuditTraps, OffsetMayFindNothing) {
  expect_anomaly(kTables + skew("SELECT id INTO x FROM item WHERE val = 1 ORDER BY id OFFSET 1; IF "
                                "x IS NULL THEN UPDATE acc SET bal = 1 WHERE id = 1; END IF;",
                                "INSERT INTO item VALUES (p, 1, q);"),
                 "si");
}

TEST(AuditTraps, CountOfAColumnLeavesNullsOut) {
  expect_anomaly(kTables + function("fill", "INSERT INTO item VALUES (p, NULL, 0); RETURN 0;") +
                     skew("SELECT count(*) INTO x FROM item WHERE note = 0; SELECT count(val) INTO "
                          "n FROM item WHERE note = 0; IF x > 0 AND n = 0 THEN UPDATE acc SET bal "
                          "= 1 WHERE id = 1; END IF;",
                          "UPDATE item SET val = 1 WHERE id = p;"),
                 "si");
}

TEST(AuditTraps, SumOfNullsIsNull) {
  expect_anomaly(
      kTables + function("fill", "INSERT INTO item VALUES (p, NULL, 0); RETURN 0;") +
          skew("SELECT count(*) INTO n FROM item WHERE note = 0; SELECT sum(val) INTO x "
               "FROM item WHERE note = 0; IF n > 0 AND x IS NULL THEN UPDATE acc SET bal "
               "= 1 WHERE id = 1; END IF;",
               "UPDATE item SET val = 1 WHERE id = p;"),
      "si");
}

TEST(AuditTraps, MinThatIsNotAskedForSaysNothing) {
  expect_anomaly(
      "CREATE TABLE seq (id integer PRIMARY KEY, next integer NOT NULL);\n"
      "CREATE TABLE part (owner integer, nr integer, PRIMARY KEY (owner, nr));\n" +
          function(
              "add",
              "UPDATE seq SET next = next + 1 WHERE id = p RETURNING next INTO x; INSERT INTO "
              "part VALUES (p, x); IF x = 1 THEN SELECT min(nr) INTO n FROM part WHERE owner = "
              "p; RAISE EXCEPTION 'no'; END IF; RETURN x;"),
      "pc");
}

TEST(AuditTraps, FoundIsFalseAtTheStart) {
  expect_anomaly(kTables + function("add",
                                    "IF p = 1 THEN UPDATE acc SET kind = 1 WHERE id = q; END "
                                    "IF; IF NOT FOUND THEN UPDATE acc SET bal = bal + 1 "
                                    "WHERE id = q; END IF; RETURN 0;"),
                 "cc");
}

TEST(AuditTraps, FoundIsLeftAloneByExists) {
  expect_anomaly(kTables + function("add",
                                    "UPDATE acc SET kind = 1 WHERE id = q; IF NOT EXISTS (SELECT 1 "
                                    "FROM item WHERE id = p) AND FOUND THEN UPDATE acc SET bal = "
                                    "bal + 1 WHERE id = q; END IF; RETURN 0;"),
                 "cc");
}

TEST(AuditTraps, FoundTellsWhetherALoopHadARound) {
  expect_anomaly(kTables + function("add",
                                    "FOR n IN 1 .. p LOOP x := n; END LOOP; IF FOUND THEN "
                                    "UPDATE acc SET bal = bal + 1 WHERE id = q; END IF; "
                                    "RETURN 0;"),
                 "cc");
}

TEST(AuditTraps, ArraysNeedNotBeNull) {
  expect_anomaly(kTables + function("add",
                                    "IF ps IS NULL THEN RETURN 0; END IF; UPDATE acc SET bal "
                                    "= bal + 1 WHERE id = ps[1]; RETURN 0;"),
                 "cc");
}

TEST(AuditTraps, NothingIsInAnEmptyArray) {
  expect_anomaly(kTables + function("add",
                                    "IF NOT (x = ANY(ps)) THEN UPDATE acc SET bal = bal + 1 "
                                    "WHERE id = q; END IF; RETURN 0;"),
                 "cc");
}

TEST(AuditTraps, LoopsInReverseReadFirstWhatTheyWriteLast) {
  expect_anomaly(kTables + function("shift",
                                    "FOR n IN REVERSE 2 .. 1 LOOP SELECT bal INTO x FROM acc WHERE "
                                    "id = p + 2 - n; UPDATE acc SET bal = x + 1 WHERE id = p + n; "
                                    "END LOOP; RETURN x;"),
                 "cc");
}

TEST(AuditTraps, ForeignKeysReadTheColumnsOfChildren) {
  expect_anomaly(
      "CREATE TABLE par (id integer PRIMARY KEY);\n"
      "CREATE TABLE chi (id integer PRIMARY KEY, up integer REFERENCES par (id));\n" +
          function("drop", "DELETE FROM par WHERE id = p; RETURN 0;") +
          function("move", "UPDATE chi SET up = q WHERE id = p; RETURN 0;"),
      "si");
}

TEST(AuditTraps, ForeignKeysToUniqueColumnsReadTheirTargets) {
  // The search gives up on it, as it looks at more rows than matter; a proof would be wrong.
  const AuditReport report = audited(
      "CREATE TABLE par (id integer PRIMARY KEY, code integer UNIQUE);\n"
      "CREATE TABLE chi (id integer PRIMARY KEY, up integer REFERENCES par (code));\n" +
          function("rename", "UPDATE par SET code = q WHERE id = p; RETURN 0;") +
          function("move", "UPDATE chi SET up = q WHERE id = p; RETURN 0;"),
      "si");
  EXPECT_FALSE(report.proof->holds);
  EXPECT_FALSE(report.search.is_proof());
}

TEST(AuditTraps, RowsMayReferToThemselves) {
  expect_anomaly(
      "CREATE TABLE tree (id integer PRIMARY KEY, up integer NOT NULL REFERENCES tree "
      "(id), val integer NOT NULL);\n" +
          function("plant", "INSERT INTO tree VALUES (p, p, 0); RETURN 0;") +
          function("grow", "UPDATE tree SET val = val + 1 WHERE id = p; RETURN 0;"),
      "cc");
}

}  // namespace
}  // namespace isoscope::audit
