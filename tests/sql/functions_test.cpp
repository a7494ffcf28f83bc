// Heads of functions: parameters, results, names, languages.
#include <gmock/gmock.h>

#include "sql/front_end.h"

namespace isoscope::sql {
namespace {

TEST(Functions, HaveParametersFirst) {
  const Application app = application_of(
      in_plpgsql("a integer, OUT b text, c text[], d numeric", "BEGIN b := c[1]; END"));
  const Function& f = app.functions[0];
  EXPECT_EQ(f.num_parameters, 3U);
  EXPECT_EQ(f.variables[1].name, "c");
  EXPECT_TRUE(f.variables[1].is_array);
  EXPECT_EQ(f.variables[1].type, Type::Text);
  EXPECT_EQ(f.variables[3].name, "b");
  EXPECT_EQ(f.returns, Type::Text);
  EXPECT_EQ(Outline(app, f).of(f.body), "b := c[1]\nreturn b\n");
}

TEST(Functions, TakeARowAsItsColumns) {
  const Application app = application_of(std::string(kTables) +
                                         "CREATE FUNCTION f(p integer, r account) RETURNS integer "
                                         "LANGUAGE plpgsql AS $$ BEGIN RETURN r.id + p; END $$");
  const Function& f = app.functions[0];
  ASSERT_GT(f.num_parameters, 2U);
  EXPECT_EQ(f.variables[0].name, "p");
  EXPECT_EQ(f.variables[1].name, "r.id");
  EXPECT_EQ(Outline(app, f).of(f.body), "return (r.id + p)\n");
}

TEST(Functions, ReadCatalogsOfTheSystemWithANote) {
  const Application app = application_of(
      "CREATE FUNCTION f(p text) RETURNS boolean LANGUAGE sql AS $$ SELECT EXISTS (SELECT FROM "
      "pg_catalog.pg_roles WHERE rolname = p) $$");
  ASSERT_EQ(app.notes.size(), 1U);
  EXPECT_EQ(app.notes[0].kind, NoteKind::Gap);
  EXPECT_THAT(app.notes[0].what, testing::HasSubstr("pg_roles are not known"));
}

TEST(Functions, ReturnValues) {
  const Application app = application_of(
      "CREATE FUNCTION f(p integer) RETURNS integer AS 'BEGIN RETURN p + 1; END' LANGUAGE plpgsql;"
      "CREATE PROCEDURE g() AS 'BEGIN RETURN; END' LANGUAGE plpgsql;");
  EXPECT_EQ(Outline(app, app.functions[0]).of(app.functions[0].body), "return (p + 1)\n");
  EXPECT_EQ(app.functions[0].returns, Type::Integer);
  EXPECT_EQ(Outline(app, app.functions[1]).of(app.functions[1].body), "return\n");
  EXPECT_FALSE(app.functions[1].returns);
}

TEST(Functions, ReturnRows) {
  EXPECT_EQ(outline_of(std::string(kTables) +
                       "CREATE FUNCTION f() RETURNS TABLE (i integer, o text) LANGUAGE plpgsql AS\n"
                       "$$ BEGIN RETURN QUERY SELECT id, owner FROM account; i := 1; RETURN NEXT;\n"
                       "END $$"),
            "for (result 1), (result 2) in account #0.id #0.owner\n"
            "  row array((result 1), (result 2))\n"
            "i := 1\n"
            "row array(i, o)\n");
  EXPECT_EQ(outline_of(std::string(kTables) +
                       "CREATE FUNCTION f(p integer) RETURNS SETOF integer LANGUAGE plpgsql AS\n"
                       "$$ BEGIN RETURN NEXT p; RETURN NEXT p + 1; RETURN; END $$"),
            "row p\n"
            "row (p + 1)\n"
            "return\n");
}

TEST(Functions, MayBePlainSql) {
  EXPECT_EQ(outline_of(std::string(kTables) +
                       "CREATE FUNCTION f(p integer, integer) RETURNS integer LANGUAGE sql AS '\n"
                       "UPDATE account SET balance = balance - $2 WHERE id = f.p;\n"
                       "SELECT balance, owner FROM account WHERE id = $1 AND owner = ''me'''"),
            "update account[(#0.id = p)] balance = (#0.balance - $2)\n"
            "select account[((#0.id = p) and (#0.owner = 'me'))] #0.balance #0.owner ->"
            " (result 1), (result 2)\n"
            "return (result 1)\n");
  EXPECT_EQ(outline_of(std::string(kTables) +
                       "CREATE FUNCTION f(p integer) RETURNS bigint LANGUAGE sql AS\n"
                       "$$ INSERT INTO entry (amount) VALUES (p) RETURNING no $$"),
            "insert entry amount = p returning #0.no -> (returned)\n"
            "return (returned)\n");
  EXPECT_EQ(outline_of(std::string(kTables) +
                       "CREATE FUNCTION f() RETURNS SETOF integer LANGUAGE sql AS\n"
                       "$$ SELECT id FROM account $$"),
            "for (result 1) in account #0.id\n"
            "  row (result 1)\n");
}

// As the server does: 42702. A name in ORDER BY may be that of an output.
TEST(Functions, RefuseANameThatIsAColumnAndAVariable) {
  const std::string clash = "BEGIN DELETE FROM account WHERE id = f.id; END";
  EXPECT_THAT(problem_in(in_plpgsql("id integer", clash)),
              ::testing::HasSubstr("'id' is a column and a variable"));
  EXPECT_THAT(problem_in(in_plpgsql("",
                                    "DECLARE id integer; n integer; BEGIN SELECT count(*) INTO "
                                    "n FROM account GROUP BY id; END")),
              ::testing::HasSubstr("'id' is a column and a variable"));
  EXPECT_EQ(outline_of(in_plpgsql("id integer", "#variable_conflict use_column\n" + clash)),
            "delete account[(#0.id = id)]\n");
  EXPECT_THAT(problem_in(in_plpgsql("id integer", "#variable_conflict use_variable\n" + clash)),
              ::testing::HasSubstr("use_variable is not modelled"));
  EXPECT_EQ(problem_in(in_plpgsql("",
                                  "DECLARE id integer; n integer; BEGIN SELECT account.id INTO "
                                  "n FROM account ORDER BY id; END")),
            problem_in(in_plpgsql("",
                                  "DECLARE n integer; BEGIN SELECT account.id INTO n FROM "
                                  "account ORDER BY account.id; END")));
}

TEST(Functions, ResolveVariablesByNesting) {
  const Application app = application_of(
      in_plpgsql("x integer",
                 "<<top>>\nDECLARE\n  y integer := x;\nBEGIN\n  DECLARE\n    y text := 'in';\n"
                 "  BEGIN\n    y := 'b';\n    top.y := 2;\n  END;\n  y := 1;\nEND"));
  const Function& f = app.functions[0];
  ASSERT_EQ(f.body.size(), 2U);  // the declaration, and the block with a label
  const std::span<const Statement> block = f.body[1].body();
  const auto target = [](const Statement& s) { return s.targets().front(); };
  ASSERT_EQ(block.size(), 4U);
  EXPECT_EQ(f.variables[target(f.body[0]).index].type, Type::Integer);
  EXPECT_EQ(target(block[0]), target(block[1]));
  EXPECT_EQ(f.variables[target(block[0]).index].type, Type::Text);
  EXPECT_EQ(target(f.body[0]), target(block[2]));
  EXPECT_EQ(target(f.body[0]), target(block[3]));
}

TEST(Functions, StartTheVariablesOfABlockAnewInEachRound) {
  EXPECT_EQ(outline_of(in_plpgsql("",
                                  "BEGIN\nFOR i IN 1 .. 2 LOOP\nDECLARE\n  v integer;\nBEGIN\n"
                                  "v := 1;\nEND;\nEND LOOP;\nEND")),
            "for i in 1 .. 2\n"
            "  v := NULL\n"
            "  v := 1\n");
}

TEST(Functions, TakeTypesOfOtherThings) {
  const Application app =
      application_of(in_plpgsql("p account.owner%TYPE",
                                "DECLARE v p%TYPE := p; w account.id%TYPE; BEGIN w := 1; "
                                "END"));
  EXPECT_EQ(app.functions[0].variables[0].type, Type::Text);
  EXPECT_EQ(app.functions[0].variables[1].type, Type::Text);
  EXPECT_EQ(app.functions[0].variables[2].type, Type::Integer);
}

TEST(Functions, KnowParametersByNumberAndAlias) {
  EXPECT_EQ(outline_of(in_plpgsql("integer, x integer",
                                  "DECLARE a ALIAS FOR $2; v integer; BEGIN\n"
                                  "v := a + $1; x := $2; a := 1; END")),
            "v := (x + $1)\n"
            "x := x\n"
            "x := 1\n");
}

TEST(Functions, ReturnWholeRecords) {
  EXPECT_EQ(
      outline_of(std::string(kTables) +
                 "CREATE FUNCTION f() RETURNS account LANGUAGE plpgsql AS\n"
                 "$$ DECLARE r account; BEGIN SELECT * INTO r FROM account; RETURN r; END $$"),
      "select account #0.id #0.owner #0.balance -> r.id, r.owner, r.balance\n"
      "return array(r.id, r.owner, r.balance)\n");
}

TEST(Functions, HaveALevelFromTheCommentAbove) {
  const Application app = application_of(
      "-- @isolation si\n-- and more\nCREATE FUNCTION f() RETURNS void LANGUAGE sql AS '';\n"
      "-- @isolation ser\n\nCREATE FUNCTION g() RETURNS void LANGUAGE sql AS '';");
  EXPECT_EQ(app.functions[0].level, "si");
  EXPECT_EQ(app.functions[1].level, "");
  EXPECT_EQ(app.functions[0].place, (Place{3, 1}));
}

}  // namespace
}  // namespace isoscope::sql
