#include "sql/read/nesting.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/application.h"

namespace isoscope::sql {
namespace {

std::string repeat(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

bool is_too_deep(const std::string& text, TextKind kind = TextKind::Sql) {
  const auto tokens = scan_sql(text);
  EXPECT_TRUE(tokens.ok());
  return find_too_deep(text, *tokens, kind).has_value();
}

TEST(Nesting, CountsWhatStandsInEachOther) {
  EXPECT_FALSE(is_too_deep("SELECT " + repeat("(", 400) + "1" + repeat(")", 400)));
  for (const std::string& deep :
       {repeat("(", 600) + "1" + repeat(")", 600), repeat("1 + ", 600) + "1",
        repeat("NOT ", 600) + "true", repeat("- ", 600) + "1", "x" + repeat("::int", 600),
        "x" + repeat(" IS NULL", 600), repeat("f(", 600) + repeat(")", 600),
        repeat("CASE WHEN true THEN ", 600) + "1" + repeat(" END", 600),
        "1" + repeat(" UNION SELECT 1, 2, 3", 600),
        "1 FROM t" + repeat(" JOIN t USING (a, b) ", 600),
        "1 FROM t" + repeat(" JOIN t ON a = b AND c = d", 600)})
    EXPECT_TRUE(is_too_deep("SELECT " + deep)) << deep.substr(0, 60);
}

TEST(Nesting, DoesNotCountWhatStandsSideBySide) {
  for (const std::string& wide :
       {repeat("a = 1 AND ", 50'000) + "true", repeat("a = 1 OR b = 2 AND ", 50'000) + "true",
        repeat("-1, ", 50'000) + "1", repeat("(1 + 2) * 3, ", 50'000) + "1",
        repeat("a BETWEEN 1 AND 2 AND ", 50'000) + "true",
        "CASE " + repeat("WHEN a = 1 THEN 2 + 3 ", 50'000) + "END",
        repeat("CASE WHEN a = 1 THEN 2 END, ", 50'000) + "1",
        "1; SELECT " + repeat("1; SELECT ", 9)})
    EXPECT_FALSE(is_too_deep("SELECT " + wide)) << wide.substr(0, 60);
}

// Words that separate are not taken for separators where they are something else.
TEST(Nesting, IsNotDeceivedByNamesAndBetween) {
  EXPECT_TRUE(is_too_deep("SELECT " + repeat("t.and + ", 600) + "1"));
  EXPECT_TRUE(is_too_deep("SELECT " + repeat("t.when + ", 600) + "1"));
  EXPECT_TRUE(is_too_deep("SELECT a" + repeat(" IS TRUE BETWEEN b AND c", 600)));
  EXPECT_TRUE(is_too_deep("SELECT " + repeat("(t.end, ", 600)));
}

TEST(Nesting, CountsTheBlocksOfABody) {
  const auto body = TextKind::PlpgsqlBody;
  for (const std::string& deep :
       {repeat("IF a THEN b := 1; ", 600), repeat("BEGIN a := 1; ", 600),
        repeat("LOOP a := 1; ", 600), repeat("CASE WHEN a THEN b := 1; ", 600),
        repeat("IF a THEN b := 1; ELSE ", 600)})
    EXPECT_TRUE(is_too_deep(deep, body)) << deep.substr(0, 60);
  for (const std::string& wide :
       {repeat("IF a THEN b := 1; ELSIF c THEN d := 1; END IF; ", 10'000),
        "IF a THEN b := 1; " + repeat("ELSIF c THEN d := 1; ", 10'000) + "END IF;",
        repeat("BEGIN a := CASE WHEN b THEN 1 END; END; ", 10'000),
        repeat("WHILE a LOOP b := 1; END LOOP; ", 10'000),
        repeat("CASE a WHEN 1 THEN b := 1; END CASE; ", 10'000),
        repeat("SELECT f(begin) INTO a; ", 10'000)})
    EXPECT_FALSE(is_too_deep(wide, body)) << wide.substr(0, 60);
}

// What passes is small enough for everything behind it: builders, destructors, copies.
TEST(Nesting, LetsThroughOnlyWhatCanBeBuilt) {
  for (const std::string& expr :
       {repeat("NOT ", 480) + "true",
        repeat("(k = 1) IS NULL AND (", 200) + "true" + repeat(")", 200),
        repeat("true BETWEEN (", 200) + "true" + repeat(") AND true", 200),
        repeat("CASE WHEN k = 1 THEN true ELSE ", 200) + "true" + repeat(" END", 200),
        repeat("EXISTS (SELECT 1 FROM t WHERE v = 1 AND ", 200) + "true" + repeat(")", 200),
        "CASE k " + repeat("WHEN 1 THEN true ", 5'000) + "END"}) {
    const auto app = parse_application(
        "CREATE TABLE t (id INT PRIMARY KEY, v INT);\n"
        "CREATE FUNCTION f(k INT) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN " +
        expr + "; END $$;");
    ASSERT_TRUE(app.ok());
    const Application copy = *app;
    EXPECT_EQ(copy.functions.size() + copy.problems.size(), 1U);
  }
}

TEST(Nesting, BoundsWhatAbbreviationsRepeat) {
  for (const std::string& expr :
       {repeat("NULLIF(", 60) + "k + 1" + repeat(", 1)", 60),
        repeat("(", 60) + "(k = 1)" + repeat(" IS DISTINCT FROM true)", 60),
        repeat("((", 60) + "(k = 1)" + repeat(" BETWEEN false AND true) IN (true, false))", 60),
        repeat("CASE ", 60) + "k + 1" + repeat(" WHEN 1 THEN 1 WHEN 2 THEN 2 END", 60)}) {
    const auto app = parse_application(
        "CREATE FUNCTION f(k INT) RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM " + expr +
        "; END $$;");
    ASSERT_TRUE(app.ok()) << app.error().what;
    ASSERT_EQ(app->problems.size(), 1U) << expr.substr(0, 60);
    EXPECT_EQ(app->problems.front().what,
              "this expression is too large when its abbreviations are written out");
  }
}

TEST(Nesting, TakesLongChainsOfBranches) {
  const auto function = [](const std::string& branches) {
    return "CREATE FUNCTION f(k INT) RETURNS INT LANGUAGE plpgsql AS $$ BEGIN " + branches +
           " END $$;";
  };
  const auto good = parse_application(function(
      "IF k = 0 THEN RETURN 1; " + repeat("ELSIF k = 1 THEN RETURN 2; ", 999) + "END IF;"));
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good->problems.empty());
  for (const std::string& bad :
       {"IF k = 0 THEN RETURN 1; " + repeat("ELSIF k = 1 THEN RETURN 2; ", 20'000) + "END IF;",
        "CASE k " + repeat("WHEN 1 THEN RETURN 2; ", 20'000) + "ELSE RETURN 3; END CASE;",
        "IF k = 0 THEN RETURN 1; " + repeat("ELSIF k = 1 THEN RETURN 2; ", 600) + "ELSE IF k = 0 " +
            "THEN RETURN 1; " + repeat("ELSIF k = 1 THEN RETURN 2; ", 600) + "END IF; END IF;"}) {
    const auto app = parse_application(function(bad));
    ASSERT_TRUE(app.ok()) << app.error().what;
    ASSERT_EQ(app->problems.size(), 1U);
    EXPECT_EQ(app->problems.front().what, "these branches are too many");
    EXPECT_EQ(app->problems.front().where.line, 1U);
  }
}

}  // namespace
}  // namespace isoscope::sql
