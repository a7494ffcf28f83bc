// Rows at the start, sessions, and values.
#include <gmock/gmock.h>

#include "sql/front_end.h"

namespace isoscope::sql {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kProgram =
    std::string(kTables) +
    "CREATE FUNCTION f(a integer, b text) RETURNS void LANGUAGE sql AS '';\n"
    "CREATE FUNCTION g(a integer[], b boolean) RETURNS void LANGUAGE sql AS '';\n";

std::vector<std::string> printed(std::span<const Value> values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(print(value));
  return texts;
}

std::string workload_problem(std::string_view text) {
  Application app = application_of(kProgram);
  const auto added = add_workload(app, text);
  if (added) return "no problem";
  EXPECT_TRUE(app.sessions.empty() && app.initial_rows.empty());
  return fmt::format("{}:{} {} | {}", added.error().where.line, added.error().where.column,
                     added.error().what, added.error().hint);
}

TEST(Workload, HasRowsAtTheStart) {
  const Application app =
      application_of(kProgram +
                     "INSERT INTO account VALUES (1, 'a', 100), (-2, NULL, +5);\n"
                     "INSERT INTO entry (amount) VALUES (7), (8);");
  ASSERT_EQ(app.initial_rows.size(), 4U);
  EXPECT_THAT(printed(app.initial_rows[0].values), ElementsAre("1", "'a'", "100"));
  EXPECT_THAT(printed(app.initial_rows[1].values), ElementsAre("-2", "NULL", "5"));
  EXPECT_THAT(printed(app.initial_rows[2].values), ElementsAre("1", "NULL", "7"));
  EXPECT_THAT(printed(app.initial_rows[3].values), ElementsAre("2", "NULL", "8"));
  EXPECT_EQ(app.initial_rows[0].place, (Place{5, 29}));
}

TEST(Workload, FillsRowsWithDefaults) {
  const Application app = application_of(
      "CREATE TABLE t (a integer PRIMARY KEY, b text DEFAULT 'x', c integer);\n"
      "INSERT INTO t (a) VALUES (1); INSERT INTO t VALUES (2, DEFAULT, 3);");
  EXPECT_THAT(printed(app.initial_rows[0].values), ElementsAre("1", "'x'", "NULL"));
  EXPECT_THAT(printed(app.initial_rows[1].values), ElementsAre("2", "'x'", "3"));
}

TEST(Workload, HasSessionsInComments) {
  const Application app =
      application_of(kProgram +
                     "-- session alice: f(1, 'it''s; @x'); g(ARRAY[1, -2], true) @si\n"
                     "--   session bob:  g('{3}', NULL)@ser ;\n"
                     "SELECT '-- session not: f(1)';");
  ASSERT_EQ(app.sessions.size(), 2U);
  EXPECT_EQ(app.sessions[0].name, "alice");
  ASSERT_EQ(app.sessions[0].calls.size(), 2U);
  EXPECT_EQ(app.sessions[0].calls[0].function, FunctionId{0});
  EXPECT_EQ(app.sessions[0].calls[0].level, "");
  EXPECT_EQ(app.sessions[0].calls[0].place, (Place{5, 19}));
  EXPECT_THAT(printed(app.sessions[0].calls[0].arguments), ElementsAre("1", "'it''s; @x'"));
  EXPECT_EQ(app.sessions[0].calls[1].level, "si");
  EXPECT_THAT(printed(app.sessions[0].calls[1].arguments), ElementsAre("ARRAY[1, -2]", "true"));
  EXPECT_EQ(app.sessions[1].calls[0].level, "ser");
  EXPECT_THAT(printed(app.sessions[1].calls[0].arguments), ElementsAre("ARRAY[3]", "NULL"));
}

TEST(Workload, MayBeAFileOfItsOwn) {
  Application app = application_of(kProgram);
  const auto added = add_workload(app,
                                  "session alice: f(1, 'a')\n"
                                  "INSERT INTO account\n  VALUES (1, 'a', 2);\n"
                                  "  -- session bob: f(2, 'b'); f(3, 'c')\n"
                                  "-- any comment\n");
  ASSERT_TRUE(added.ok()) << render(added.error());
  EXPECT_EQ(app.sessions.size(), 2U);
  EXPECT_EQ(app.sessions[1].calls[1].place, (Place{4, 30}));
  EXPECT_EQ(app.initial_rows.size(), 1U);
  EXPECT_EQ(find_flaw(app), "");
}

TEST(Workload, NamesWhatIsWrong) {
  EXPECT_EQ(workload_problem("\nsession a: ff(1, 'a')"),
            "2:12 unknown function 'ff' | did you mean 'f'?");
  EXPECT_THAT(workload_problem("session a: f(1)"),
              HasSubstr("1:12 f takes 2 arguments, but gets 1"));
  EXPECT_THAT(workload_problem("session a: f(1, 2)"),
              HasSubstr("1:12 'b' takes a text, but this is an integer"));
  EXPECT_THAT(workload_problem("session a: f(x, 'a')"), HasSubstr("unknown name 'x'"));
  EXPECT_THAT(workload_problem("session a: f(1, lower('a'))"), HasSubstr("only constants"));
  EXPECT_THAT(workload_problem("session a: f(1, 'a'); 5"), HasSubstr("1:23 a call is expected"));
  EXPECT_THAT(workload_problem("session a: f(1, 'a\nsession b: f(1, 'a')"),
              HasSubstr("unterminated quoted string"));
  EXPECT_THAT(workload_problem("session a: f(1, 'a')\nsession a: f(1, 'a')"),
              HasSubstr("2:1 session 'a' is declared twice"));
  EXPECT_THAT(workload_problem("DELETE FROM account;"), HasSubstr("1:1 only INSERT"));
  EXPECT_THAT(workload_problem("INSERT INTO account VALUES (1, 'a', NULL);"),
              HasSubstr("column 'balance' of 'account' cannot be NULL"));
  EXPECT_THAT(workload_problem("INSERT INTO account VALUES (1, 'a', 1), (1, 'b', 1);"),
              HasSubstr("1:42 'account' has a row of this key already"));
  EXPECT_THAT(workload_problem("INSERT INTO account SELECT 1, 'a', 2;"), HasSubstr("constants"));
}

TEST(Workload, LeavesOutSessionsOfFunctionsThatAreLeftOut) {
  const auto app = parse_application(
      "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS 'BEGIN COMMIT; END';\n"
      "-- session a: f()\n");
  ASSERT_TRUE(app.ok());
  EXPECT_TRUE(app->sessions.empty());
  ASSERT_EQ(app->notes.size(), 1U);
  EXPECT_EQ(app->notes[0].what, "session 'a' is left out, since it calls f");
}

TEST(Values, PrintAsSqlWritesThem) {
  EXPECT_EQ(print(Value()), "NULL");
  EXPECT_EQ(print(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(print(Value(std::string("it's"))), "'it''s'");
  EXPECT_EQ(print(Value(true)), "true");
  EXPECT_EQ(print(Value(std::vector<Value>{Value(std::int64_t{1}), Value()})), "ARRAY[1, NULL]");
}

}  // namespace
}  // namespace isoscope::sql
