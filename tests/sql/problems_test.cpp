// What the front end refuses: named, with its place, and without hiding the rest.
#include <gmock/gmock.h>

#include "sql/front_end.h"
#include "sql/read/pg_parse.h"

namespace isoscope::sql {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Problems, LeaveOtherFunctionsAlone) {
  const auto app = parse_application(
      "CREATE FUNCTION good() RETURNS void LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;\n"
      "CREATE FUNCTION bad() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n  EXECUTE 'x';\nEND $$;\n"
      "CREATE FUNCTION ugly() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n  x y z;\nEND $$;\n"
      "CREATE FUNCTION fine() RETURNS void LANGUAGE sql AS '';\n");
  ASSERT_TRUE(app.ok());
  ASSERT_EQ(app->functions.size(), 2U);
  EXPECT_EQ(app->find_function("fine"), FunctionId{1});
  EXPECT_FALSE(app->find_function("bad"));
  EXPECT_THAT(app->left_out, testing::ElementsAre("bad", "ugly"));
  ASSERT_EQ(app->problems.size(), 2U);
  EXPECT_EQ(render(app->problems[0].in("a.sql")),
            "a.sql:4:3: error: EXECUTE is not modelled: its text is not known\n"
            "    EXECUTE 'x';\n"
            "    ^ write the statement itself");
  EXPECT_EQ(app->problems[1].where, (Place{8, 3}));
}

TEST(Problems, NameStatementsThatAreNotModelled) {
  const auto is_refused = [](std::string_view statements, std::string_view what) {
    EXPECT_THAT(problem_in_statements(statements), StartsWith(what)) << statements;
  };
  is_refused("  CALL g();", "6:3 CALL of a procedure that is not in the file");
  is_refused("COMMIT;", "6:1 COMMIT in a function fails on the server (2D000)");
  is_refused("FOR r IN EXECUTE 'x' LOOP NULL; END LOOP;", "6:1 FOR … IN EXECUTE is not modelled");
  is_refused("SELECT balance FROM account;", "6:1 the result of this SELECT goes nowhere");
  is_refused("CREATE TABLE x (a integer);", "6:1 CREATE is not modelled");
}

TEST(Problems, NameQueriesThatAreNotModelled) {
  const auto is_refused = [](std::string_view query, std::string_view what) {
    EXPECT_THAT(problem_in_statements("SELECT " + std::string(query) + ";"), HasSubstr(what))
        << query;
  };
  is_refused("account.id INTO v FROM account FULL JOIN entry ON true", "FULL joins");
  is_refused("id INTO v FROM account EXCEPT SELECT 1", "INTERSECT and EXCEPT");
  is_refused("sum(id) OVER () INTO v FROM account", "window functions");
  is_refused("id, max(id) INTO v, w FROM account", "beside an aggregate");
  is_refused("x INTO v FROM json_each('{}') y", "json_each in FROM is not modelled");
  is_refused("max(id) INTO v FROM account GROUP BY ROLLUP (owner)", "GROUPING SETS");
  is_refused("a.id INTO v FROM account a LEFT JOIN entry ON true FOR UPDATE OF a",
             "FOR UPDATE and FOR SHARE are not modelled in such a query");
  EXPECT_THAT(
      problem_in_statements("WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM "
                            "x) SELECT n INTO v FROM x;"),
      HasSubstr("WITH RECURSIVE is not modelled"));
  EXPECT_THAT(problem_in_statements("v := f(1, 'a', NULL);"),
              HasSubstr("f calls itself, which is not modelled"));
}

TEST(Problems, PointAtUnknownNames) {
  EXPECT_EQ(problem_in_statements("SELECT balnce INTO v FROM account;"),
            "6:8 unknown name 'balnce' | did you mean 'balance'?");
  EXPECT_EQ(problem_in_statements("\n  v := 1 +\n    wv;"),
            "8:5 unknown name 'wv' | did you mean 'v'?");
  EXPECT_EQ(problem_in_statements("UPDATE acount SET balance = 1;"),
            "6:8 unknown table 'acount' | did you mean 'account'?");
  EXPECT_EQ(problem_in_statements("UPDATE account SET blance = 1;"),
            "6:20 'account' has no column 'blance' | did you mean 'balance'?");
  EXPECT_EQ(problem_in_statements("PERFORM a.ownr FROM account a;"),
            "6:9 'a' has no column 'ownr' | did you mean 'owner'?");
  EXPECT_EQ(problem_in_statements("SELECT id INTO r FROM account; v := r.ib;"),
            "6:37 the record 'r' has no field 'ib' | did you mean 'id'?");
  EXPECT_THAT(problem_in_statements("SELECT id INTO v FROM account a, account b;"),
              StartsWith("6:8 'id' is a column of several tables here"));
}

TEST(Problems, PointAtWrongTypesAndNumbers) {
  EXPECT_THAT(problem_in_statements("IF p THEN v := 1; END IF;"),
              StartsWith("6:4 a condition takes a boolean, but this is an integer"));
  EXPECT_THAT(problem_in_statements("SELECT id = 1 INTO v FROM account;"),
              StartsWith("6:11 'v' takes an integer, but this is a boolean"));
  EXPECT_THAT(problem_in_statements("SELECT id, owner INTO v FROM account;"),
              StartsWith("6:1 2 values for 1 variables"));
  EXPECT_THAT(problem_in_statements("INSERT INTO account (id) VALUES (1, 2);"),
              StartsWith("6:1 2 values for 1 columns of 'account'"));
  EXPECT_THAT(problem_in_statements("v := ps;"), HasSubstr("an array"));
  EXPECT_THAT(problem_in_statements("INSERT INTO account VALUES (1, 'a', 2) ON CONFLICT (owner)"
                                    " DO NOTHING;"),
              HasSubstr("names no key of 'account'"));
}

TEST(Problems, PointAtSyntaxErrors) {
  EXPECT_THAT(problem_in_statements("SELECT id INTO v FROM account;\n"
                                    "  SELECT id INTO v\n    FROM FROM account;"),
              StartsWith("8:10 syntax error at or near \"FROM\""));
  EXPECT_THAT(problem_in_statements("v := 1;\n  zz := 2;"),
              StartsWith("7:3 \"zz\" is not a known variable"));
  EXPECT_THAT(problem_in_statements("v := (1;"), StartsWith("6:8 mismatched parentheses"));
  EXPECT_THAT(problem_in_statements("v := 1 +;"), StartsWith("6:"));
}

TEST(Problems, PointIntoQuotedBodies) {
  EXPECT_EQ(problem_in(std::string(kTables) + "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS\n"
                                              "  'UPDATE account SET owner = ''a'' WHERE idd = 1'"),
            "4:43 unknown name 'idd' | did you mean 'id'?");
}

TEST(Problems, NameHeadsThatAreNotModelled) {
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT 1; "
                         "END"),
              StartsWith("1:1 f has a body in the style BEGIN ATOMIC"));
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS integer LANGUAGE plpgsql BEGIN ATOMIC SELECT "
                         "1; END"),
              StartsWith("1:1 f has a body in the style BEGIN ATOMIC"));
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS integer LANGUAGE c AS 'a', 'b'"),
              StartsWith("1:1 f is in LANGUAGE c"));
  EXPECT_THAT(problem_in("CREATE TABLE t (a integer);\n"
                         "CREATE FUNCTION f(r t[]) RETURNS void LANGUAGE sql AS ''"),
              StartsWith("2:21 a parameter that is such a row"));
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS void LANGUAGE sql AS '';\n"
                         "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS ''"),
              StartsWith("2:1 function 'f' is declared twice"));
}

TEST(Problems, RefuseDeletesThatReachTooFar) {
  const auto deleting = [](const std::string& others) {
    return problem_in("CREATE TABLE t (a integer PRIMARY KEY);\n" + others +
                      "\nCREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM t'");
  };
  EXPECT_EQ(deleting("CREATE TABLE u (b integer REFERENCES t ON DELETE CASCADE);"), "no problem");
  EXPECT_EQ(deleting("ALTER TABLE t ADD up integer REFERENCES t ON DELETE SET NULL;"),
            "no problem");
  EXPECT_THAT(deleting("ALTER TABLE t ADD up integer REFERENCES t ON DELETE CASCADE;"),
              StartsWith("3:51 this DELETE changes other rows of t (ON DELETE)"));
  EXPECT_THAT(
      deleting("CREATE TABLE u (b integer REFERENCES t ON DELETE CASCADE, c integer "
               "REFERENCES t);"),
      StartsWith("3:51 this DELETE changes rows of u (ON DELETE) whose foreign key u_c_fkey "
                 "refuses it"));
  EXPECT_THAT(
      deleting("CREATE TABLE u (b integer REFERENCES t ON DELETE CASCADE); CREATE FUNCTION "
               "g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$; CREATE "
               "TRIGGER g BEFORE DELETE ON u FOR EACH ROW EXECUTE FUNCTION g();"),
      StartsWith("3:51 this DELETE changes rows of u (ON DELETE), which has the BEFORE "
                 "DELETE trigger g"));
}

TEST(Problems, RefuseUpdatesThatReachTooFar) {
  const auto updating = [](const std::string& others, const std::string& set = "b = 1") {
    return problem_in("CREATE TABLE t (a integer PRIMARY KEY, b integer UNIQUE);\n" + others +
                      "\nCREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'UPDATE t SET " + set +
                      "'");
  };
  const std::string child = "CREATE TABLE u (c integer UNIQUE REFERENCES t (b) ON UPDATE CASCADE);";
  EXPECT_EQ(updating(child), "no problem");
  EXPECT_EQ(updating("ALTER TABLE t ADD up integer REFERENCES t (b) ON UPDATE SET NULL;"),
            "no problem");
  EXPECT_THAT(updating("ALTER TABLE t ADD up integer REFERENCES t (b) ON UPDATE SET NULL;",
                       "b = 1, up = 1"),
              StartsWith("3:51 this UPDATE changes other rows of t (ON UPDATE)"));
  EXPECT_THAT(
      updating("ALTER TABLE t ADD up integer UNIQUE REFERENCES t (b) ON UPDATE CASCADE; CREATE "
               "TABLE u (c integer REFERENCES t (up) ON UPDATE CASCADE);"),
      StartsWith("3:51 this UPDATE changes other rows of t (ON UPDATE)"));
  EXPECT_THAT(updating("CREATE TABLE u (c integer REFERENCES t (b) ON UPDATE CASCADE, d integer "
                       "REFERENCES t (b));"),
              StartsWith("3:51 this UPDATE changes rows of u (ON UPDATE) whose foreign key "
                         "u_d_fkey refuses it"));
  EXPECT_THAT(updating(child + "CREATE TABLE x (c integer REFERENCES t (b) ON UPDATE CASCADE, "
                               "FOREIGN KEY (c) REFERENCES u (c) ON UPDATE CASCADE);"),
              StartsWith("3:51 this UPDATE changes rows of x whose foreign key x_c_fkey refers to "
                         "rows that it changes too"));
  EXPECT_THAT(updating("CREATE TABLE u (c integer REFERENCES t (b) ON UPDATE CASCADE, FOREIGN KEY "
                       "(c) REFERENCES t (b) ON UPDATE SET NULL);"),
              StartsWith("3:51 this UPDATE changes the same columns of u in two ways"));
  const std::string note =
      "CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;";
  EXPECT_THAT(updating(child + note + "CREATE TRIGGER g AFTER UPDATE ON u EXECUTE FUNCTION g();"),
              StartsWith("3:51 this UPDATE changes rows of u (ON UPDATE), which has the trigger g "
                         "FOR EACH STATEMENT"));
  // A BEFORE trigger that gives the key another value reaches as far.
  EXPECT_THAT(
      updating("ALTER TABLE t ADD up integer REFERENCES t (b) ON UPDATE SET NULL; CREATE "
               "FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.b := 1; "
               "NEW.up := 1; RETURN NEW; END $$; CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW "
               "EXECUTE FUNCTION g();",
               "a = 1"),
      StartsWith("3:51 this UPDATE changes other rows of t (ON UPDATE)"));
  EXPECT_THAT(problem_in("CREATE TABLE t (a integer PRIMARY KEY, b integer UNIQUE);\n" + child +
                         "\nCREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'INSERT INTO t VALUES "
                         "(1, 1) ON CONFLICT (a) DO UPDATE SET b = 2'"),
              StartsWith("3:51 ON CONFLICT with ON UPDATE of a foreign key is not modelled"));
}

TEST(Problems, RefuseTriggersOfStatementsThatAreNotModelled) {
  const auto updating = [](const std::string& body, const std::string& trigger,
                           const std::string& statement = "UPDATE t SET b = 1") {
    return problem_in(
        "CREATE TABLE t (a integer PRIMARY KEY, b integer);\n"
        "CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
        body + " END $$; CREATE TRIGGER g " + trigger +
        " EXECUTE FUNCTION g();\n"
        "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS '" +
        statement + "'");
  };
  EXPECT_EQ(updating("RETURN NULL;", "AFTER UPDATE ON t"), "no problem");
  EXPECT_THAT(updating("RETURN NULL;", "BEFORE UPDATE ON t"),
              StartsWith("3:51 this fires the trigger g: BEFORE triggers FOR EACH STATEMENT"));
  EXPECT_THAT(updating("RETURN NULL;", "AFTER UPDATE ON t REFERENCING NEW TABLE AS x"),
              StartsWith("3:51 this fires the trigger g: REFERENCING NEW TABLE"));
  EXPECT_THAT(
      updating("IF NEW.b > 1 THEN RAISE EXCEPTION 'x'; END IF; RETURN NULL;", "AFTER UPDATE ON t"),
      StartsWith("3:51 the trigger g FOR EACH STATEMENT uses NEW or OLD"));
  EXPECT_THAT(updating("RETURN NULL;", "AFTER UPDATE ON t WHEN (true)"),
              StartsWith("3:51 this fires the trigger g: WHEN of a trigger FOR EACH STATEMENT"));
  EXPECT_THAT(updating("RETURN NULL;", "AFTER UPDATE ON t",
                       "WITH x AS (UPDATE t SET b = 1 RETURNING b) SELECT * FROM x"),
              StartsWith("3:56 the trigger g FOR EACH STATEMENT is not modelled where RETURNING"));
  EXPECT_THAT(updating("UPDATE t SET b = 2; RETURN NULL;", "AFTER UPDATE ON t"),
              StartsWith("3:51 g cannot be modelled"));
}

TEST(Problems, RefuseTriggersBeforeDeleteThatAreNotModelled) {
  const auto with_trigger = [](const std::string& body, const std::string& statement) {
    return problem_in(
        "CREATE TABLE t (a integer PRIMARY KEY, b integer);\n"
        "CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
        body +
        " END $$;\n"
        "CREATE TRIGGER g BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION gone();\n"
        "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS '" +
        statement + "'");
  };
  EXPECT_THAT(with_trigger("UPDATE t SET b = 1; RETURN OLD;", "DELETE FROM t WHERE a = 1"),
              HasSubstr("changes the table that it belongs to"));
  EXPECT_THAT(with_trigger("RETURN OLD;", "DELETE FROM t USING t u WHERE t.a = u.b"),
              HasSubstr("USING with the BEFORE DELETE trigger g is not modelled"));
  EXPECT_THAT(with_trigger("RETURN NEW;", "DELETE FROM t WHERE a = 1"),
              HasSubstr("returns neither OLD nor NULL"));
}

TEST(Problems, RefuseChangesOfTheCatalogsOfTheSystem) {
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM pg_proc'"),
              HasSubstr("'pg_proc' is a catalog of the system"));
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM "
                         "pg_locks'"),
              HasSubstr("unknown table 'pg_locks'"));
}

TEST(Problems, RefuseTextsThatWouldHarmTheParser) {
  const auto what_of = [](const std::string& text) {
    const auto app = parse_application(text);
    return app ? "fine" : app.error().what;
  };
  const auto repeat = [](std::string_view piece, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += piece;
    return text;
  };
  EXPECT_EQ(what_of("SELECT " + repeat("1+", 100'000) + "1"), "this statement nests too deeply");
  EXPECT_EQ(what_of("SELECT " + repeat("(", 5'000)), "this statement nests too deeply");
  EXPECT_EQ(what_of("SELECT " + repeat("not ", 50'000) + "true"),
            "this statement nests too deeply");
  EXPECT_EQ(what_of(std::string(5 << 20, ' ')), "the text is longer than 4 MB");
  EXPECT_EQ(what_of(std::string("SELECT \0 1", 10)), "a zero byte in the text");
  EXPECT_EQ(what_of("SELECT '\xff'"), "this is not UTF-8");
  EXPECT_THAT(problem_in("CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN " +
                         repeat("IF true THEN ", 300) + repeat("END IF; ", 300) + "END $$"),
              HasSubstr("nest too deeply"));
  EXPECT_THAT(
      problem_in("CREATE FUNCTION f() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN " +
                 repeat("NOT ", 1'000) + "true; END $$"),
      HasSubstr("nests too deeply"));
  EXPECT_EQ(what_of(""), "fine");
}

TEST(Parser, CountsBytesInPlaces) {
  const auto tree = parse_sql("SELECT 'é',\n 'ü' 1");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().where, (Place{2, 7}));
}

}  // namespace
}  // namespace isoscope::sql
