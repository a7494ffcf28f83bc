// What PostgreSQL's levels let happen that snapshot isolation by the book does not, and what the
// model must not prove because it leaves something out.
#include "audit/server_levels.h"

#include <gtest/gtest.h>

#include "audit/advise.h"
#include "audit_of.h"

namespace isoscope::audit {
namespace {

Problem on_server(const sql::Application& app, const Level& base,
                  const std::vector<std::string>& serializable = {}) {
  Problem problem{app, {&base, std::vector<const Level*>(app.functions.size(), nullptr)}};
  for (const std::string& name : serializable)
    problem.levels.own[app.find_function(name)->index] = &pg_serializable();
  const auto ok = check_problem(problem);
  EXPECT_TRUE(ok.ok()) << (ok ? "" : render(ok.error()));
  return problem;
}

std::string_view verdict(const Problem& problem, bool prove = true, std::size_t cycle = 3) {
  Budget budget = Budget::seconds(60);
  return name_of(audit(problem, {.max_length = cycle, .prove = prove}, budget).outcome);
}

std::string one_arg(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "(p integer) RETURNS integer LANGUAGE plpgsql AS $$ DECLARE n integer; BEGIN " + body +
         " RETURN n; END; $$;\n";
}

const std::string kShop =
    "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);\n"
    "CREATE TABLE line (id serial PRIMARY KEY, item integer REFERENCES item (id));\n";

// KEY SHARE, which a foreign key takes, does not keep others from changing the row.
TEST(AuditServerLevels, AForeignKeyDoesNotGuardTheStock) {
  const std::string sell = "SELECT stock INTO n FROM item WHERE id = p; IF n > 0 THEN ";
  const std::string take = "UPDATE item SET stock = n - 1 WHERE id = p; ";
  const std::string order = "INSERT INTO line (item) VALUES (p); END IF;";
  const sql::Application app = app_of(kShop + one_arg("sell", sell + take + order));
  EXPECT_EQ(verdict(problem_of(app, "pc")), "anomaly");
  const sql::Application by_lock =
      app_of(kShop + one_arg("sell",
                             "SELECT stock INTO n FROM item WHERE id = p FOR KEY SHARE; IF n > 0 "
                             "THEN " +
                                 take + order));
  EXPECT_EQ(verdict(problem_of(by_lock, "pc")), "anomaly");
  const sql::Application guarded =
      app_of(kShop + one_arg("sell",
                             "SELECT stock INTO n FROM item WHERE id = p FOR UPDATE; IF n > 0 "
                             "THEN " +
                                 take + order));
  EXPECT_EQ(verdict(problem_of(guarded, "pc")), "serializable");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read())), "serializable");
}

// The parent cannot go away, though: that is what KEY SHARE is for.
TEST(AuditServerLevels, AForeignKeyKeepsItsParent) {
  const sql::Application app =
      app_of(kShop + one_arg("order_it", "INSERT INTO line (item) VALUES (p);") +
             one_arg("remove", "DELETE FROM item WHERE id = p;"));
  const Problem problem = on_server(app, pg_repeatable_read());
  EXPECT_NE(verdict(problem), "anomaly");
}

// SERIALIZABLE protects only against SERIALIZABLE: with one function at it, the read-only anomaly
// of Smallbank stays.
TEST(AuditServerLevels, SerializableProtectsOnlyAmongItself) {
  const sql::Application app = app_in("examples/audit/smallbank.sql");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read()), false), "anomaly");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read(), {"write_check"}), false), "anomaly");
  EXPECT_EQ(verdict(on_server(app, pg_serializable())), "serializable");
  // By definition it would be enough.
  EXPECT_EQ(verdict(problem_of(app, "si", {"write_check=ser"})), "serializable");
}

TEST(AuditServerLevels, AdviceIsToRaiseEveryFunctionOfTheCycle) {
  const sql::Application app = app_in("examples/audit/smallbank.sql");
  const Problem problem = on_server(app, pg_repeatable_read());
  Budget budget = Budget::seconds(60);
  const Advice advice = advise(problem, {&pg_repeatable_read(), &pg_serializable()}, false,
                               {.max_length = 3}, budget);
  ASSERT_EQ(advice.levels.size(), app.functions.size());
  const auto level = [&](const std::string& name) {
    return advice.levels[*app.find_function(name)]->name;
  };
  for (const char* name : {"balance", "write_check", "transact_savings"})
    EXPECT_EQ(level(name), "pg-ser") << name;
  for (const char* name : {"deposit_checking", "amalgamate", "send_payment"})
    EXPECT_EQ(level(name), "pg-rr") << name;
}

// A key that a concurrent transaction freed can be taken without having seen that: at REPEATABLE
// READ the INSERT waits and succeeds. By definition the two writers of the row would conflict.
TEST(AuditServerLevels, AFreedKeyCanBeTaken) {
  const sql::Application app = app_of(
      "CREATE TABLE slot (id integer PRIMARY KEY);\n"
      "CREATE TABLE price (id integer PRIMARY KEY, amount integer NOT NULL);\n" +
      one_arg("leave", "UPDATE price SET amount = p WHERE id = 1; DELETE FROM slot WHERE id = 1;") +
      one_arg("take",
              "SELECT amount INTO n FROM price WHERE id = 1; INSERT INTO slot VALUES (1);"));
  EXPECT_EQ(verdict(problem_of(app, "si")), "serializable");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read())), "unknown");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read()), false), "unknown");
}

TEST(AuditServerLevels, AUniqueValueThatIsFreedCanBeTaken) {
  const sql::Application app = app_of(
      "CREATE TABLE slot (id integer PRIMARY KEY, name integer UNIQUE);\n"
      "CREATE TABLE price (id integer PRIMARY KEY, amount integer NOT NULL);\n" +
      one_arg("rename",
              "UPDATE price SET amount = p WHERE id = 1;"
              "UPDATE slot SET name = 2 WHERE id = 1;") +
      one_arg("take",
              "SELECT amount INTO n FROM price WHERE id = 1;"
              "UPDATE slot SET name = 1 WHERE id = 2;"));
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read())), "unknown");
}

// SERIALIZABLE takes no note of a UNIQUE value, or of rows that refer to one, at that moment.
TEST(AuditServerLevels, SerializableDoesNotNoticeWhatIsFreed) {
  const sql::Application values = app_of(
      "CREATE TABLE t (id integer PRIMARY KEY, u integer UNIQUE);\n" +
      one_arg("give", "UPDATE t SET u = NULL WHERE id = p;") +
      one_arg("take",
              "SELECT u INTO n FROM t WHERE id = p; IF n IS NOT NULL AND p <> 7 THEN UPDATE t "
              "SET u = n WHERE id = 7; END IF;"));
  EXPECT_EQ(verdict(on_server(values, pg_serializable())), "unknown");
  const sql::Application rows = app_of(
      "CREATE TABLE parent (id integer PRIMARY KEY);\n"
      "CREATE TABLE child (id integer PRIMARY KEY, of_parent integer NOT NULL REFERENCES "
      "parent);\n" +
      one_arg("drop_child", "DELETE FROM child WHERE id = p;") +
      one_arg("drop_parent",
              "SELECT of_parent INTO n FROM child WHERE id = 1; DELETE FROM parent WHERE id = p;"));
  for (const Level* level : {&pg_repeatable_read(), &pg_serializable()}) {
    EXPECT_EQ(verdict(on_server(rows, *level)), "unknown");
    Budget budget = Budget::seconds(60);
    const Advice advice =
        advise(on_server(rows, *level), {&pg_repeatable_read(), &pg_serializable()}, false,
               {.max_length = 2}, budget);
    EXPECT_TRUE(advice.levels.empty());
  }
}

// Two writers of one row conflict whatever their columns.
TEST(AuditServerLevels, RowsConflictNotColumns) {
  const sql::Application app = app_of(
      "CREATE TABLE pair (id integer PRIMARY KEY, a integer NOT NULL, b integer NOT NULL);\n" +
      one_arg("first",
              "SELECT a INTO n FROM pair WHERE id = 1; UPDATE pair SET b = n + 1 WHERE id "
              "= 1;") +
      one_arg("second",
              "SELECT b INTO n FROM pair WHERE id = 1; UPDATE pair SET a = n + 1 WHERE id "
              "= 1;"));
  EXPECT_EQ(verdict(problem_of(app, "si")), "anomaly");
  EXPECT_EQ(verdict(on_server(app, pg_repeatable_read())), "serializable");
}

TEST(AuditServerLevels, ServerLevelsMixOnlyWithEachOther) {
  const sql::Application app = corpus_app("bank");
  Problem problem{app, {&pg_repeatable_read(), std::vector<const Level*>(app.functions.size())}};
  problem.levels.own[0] = level_of("ser");
  EXPECT_FALSE(check_problem(problem).ok());
}

TEST(AuditServerLevels, HaveTheNamesOfTheServer) {
  for (const char* name : {"pg-rr", "REPEATABLE READ", "repeatable-read", "repeatable_read"})
    EXPECT_EQ(find_server_level(name), &pg_repeatable_read()) << name;
  EXPECT_EQ(find_server_level("Serializable"), &pg_serializable());
  EXPECT_EQ(find_server_level("READ COMMITTED"), &pg_read_committed());
  EXPECT_EQ(find_server_level("si"), nullptr);
}

struct LeftOut {
  std::string name;
  std::string schema;
  std::string body;

  friend void PrintTo(const LeftOut& test, std::ostream* out) { *out << test.name; }
};

class AuditGaps : public testing::TestWithParam<LeftOut> {};

// Without what is left out, each would be proved.
TEST_P(AuditGaps, AreNeverPartOfAProof) {
  const sql::Application app = app_of(GetParam().schema + one_arg("f", GetParam().body));
  for (const bool prove : {true, false}) {
    Budget budget = Budget::seconds(20);
    const AuditReport report =
        audit(problem_of(app, "si"), {.max_length = 2, .prove = prove}, budget);
    EXPECT_EQ(name_of(report.outcome), "unknown");
    EXPECT_NE(report.limit.find("leaves something out"), std::string::npos) << report.limit;
  }
}

const std::string kTable = "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);\n";
const std::string kAdd = "UPDATE t SET v = v + 1 WHERE id = p;";

INSTANTIATE_TEST_SUITE_P(
    , AuditGaps,
    testing::Values(
        LeftOut{"Real", "CREATE TABLE t (id integer PRIMARY KEY, v real NOT NULL);\n", kAdd},
        LeftOut{"Quotient", "CREATE TABLE t (id integer PRIMARY KEY, v numeric NOT NULL);\n",
                "UPDATE t SET v = v / 3 WHERE id = p;"},
        LeftOut{"TextOfANumeric", "CREATE TABLE t (id integer PRIMARY KEY, v numeric NOT NULL);\n",
                "UPDATE t SET v = v + 1 WHERE id = p AND v::text <> '1.0';"},
        LeftOut{"PartialIndex", kTable + "CREATE UNIQUE INDEX i ON t (v) WHERE v > 0;\n", kAdd},
        LeftOut{"ExpressionIndex", kTable + "CREATE UNIQUE INDEX i ON t ((v % 2));\n", kAdd},
        LeftOut{"Exclude", kTable + "ALTER TABLE t ADD EXCLUDE (v WITH =);\n", kAdd},
        LeftOut{"SkipLocked", kTable,
                "SELECT v INTO n FROM t WHERE id = p FOR UPDATE SKIP LOCKED; " + kAdd},
        LeftOut{"UnknownFunction", kTable, "UPDATE t SET v = other(v) WHERE id = p;"},
        LeftOut{"OrderOfTexts", kTable, "IF 'a' < 'B' THEN " + kAdd + " END IF;"},
        LeftOut{"Collation", "CREATE TABLE t (id text COLLATE ci PRIMARY KEY, v integer);\n",
                "UPDATE t SET v = 1 WHERE id = 'x';"},
        LeftOut{"OddUuid", "CREATE TABLE t (id uuid PRIMARY KEY, v integer);\n",
                "UPDATE t SET v = 1 WHERE id = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';"},
        LeftOut{"CutTexts", kTable, "IF 'abcd'::varchar(3) = 'abc' THEN " + kAdd + " END IF;"},
        LeftOut{"Dates", "CREATE TABLE t (id integer PRIMARY KEY, v date NOT NULL);\n",
                "UPDATE t SET v = v + 1 WHERE id = p;"},
        LeftOut{"RowSecurity", kTable + "CREATE POLICY p ON t USING (v > 0);\n", kAdd}),
    [](const auto& test) { return test.param.name; });

// What many files begin with takes nothing away.
TEST(AuditGapsAreNone, InDropsOfWhatIsNotThere) {
  const sql::Application app =
      app_of("DROP TABLE IF EXISTS t CASCADE; DROP FUNCTION IF EXISTS f(integer);\n" + kTable +
             one_arg("f", kAdd));
  EXPECT_EQ(verdict(problem_of(app, "si")), "serializable");
}

// A key that no function changes has nothing done ON UPDATE of it.
TEST(AuditGapsAreNone, InOnUpdateOfKeysThatStay) {
  const sql::Application app = app_of(
      kTable +
      "CREATE TABLE c (id integer PRIMARY KEY, t integer REFERENCES t ON UPDATE CASCADE);\n" +
      one_arg("f", kAdd));
  EXPECT_EQ(verdict(problem_of(app, "si")), "serializable");
}

// random() is another number each time: a branch may go both ways in two calls.
TEST(AuditVolatile, ValuesDifferFromCallToCall) {
  const std::string text =
      "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);\n" +
      one_arg("f",
              "SELECT v INTO n FROM t WHERE id = 1; IF txid_current() > 5 THEN UPDATE t SET v "
              "= n WHERE id = 2; END IF;") +
      one_arg("g",
              "SELECT v INTO n FROM t WHERE id = 2; IF txid_current() <= 5 THEN UPDATE t SET "
              "v = n WHERE id = 1; END IF;");
  const sql::Application app = app_of(text);
  EXPECT_NE(verdict(problem_of(app, "si")), "serializable");
}

}  // namespace
}  // namespace isoscope::audit
