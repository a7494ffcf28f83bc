#include "force/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "force/probe_file.h"

namespace isoscope::force {
namespace {

std::string function(const std::string& body) {
  return "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$" + body + "$$; SELECT 1;";
}

// The body with G for each gate.
std::string gated(const std::string& body) {
  auto text = with_gates(function(body), "s", Gates::Stop);
  EXPECT_TRUE(text.ok());
  static const std::regex kGate(
      R"(IF s\.isoscope_gate\(\d+, ARRAY\[\]::text\[\]\) THEN NULL; END IF; )");
  std::string out = std::regex_replace(text ? text->sql : "", kGate, "G ");
  const std::string before = function("@").substr(0, function("@").find('@'));
  EXPECT_EQ(out.substr(0, before.size()), before);
  return out.substr(before.size(), out.size() - before.size() - 13);
}

TEST(Gates, StandBeforeEachStatementThatRunsSql) {
  EXPECT_EQ(gated("BEGIN SELECT 1 INTO v; UPDATE t SET v = 1; RETURN 1; END"),
            "BEGIN G SELECT 1 INTO v; G UPDATE t SET v = 1; RETURN 1; END");
  EXPECT_EQ(gated("DECLARE v int := 0; BEGIN v := 1; INSERT INTO t VALUES (v); END"),
            "DECLARE v int := 0; BEGIN v := 1; G INSERT INTO t VALUES (v); END");
  EXPECT_EQ(gated("BEGIN IF a THEN DELETE FROM t; ELSE PERFORM g(); END IF; END"),
            "BEGIN IF a THEN G DELETE FROM t; ELSE G PERFORM g(); END IF; END");
}

TEST(Gates, StandBeforeExpressionsThatLookSomethingUp) {
  EXPECT_EQ(gated("BEGIN IF EXISTS (SELECT 1 FROM t) THEN RETURN 1; END IF; END"),
            "BEGIN G IF EXISTS (SELECT 1 FROM t) THEN RETURN 1; END IF; END");
  EXPECT_EQ(gated("BEGIN v := (SELECT 1); RETURN (SELECT 2); END"),
            "BEGIN G v := (SELECT 1); G RETURN (SELECT 2); END");
  EXPECT_EQ(gated("BEGIN FOR r IN SELECT * FROM t LOOP UPDATE t SET v = 1; END LOOP; END"),
            "BEGIN G FOR r IN SELECT * FROM t LOOP G UPDATE t SET v = 1; END LOOP; END");
  EXPECT_EQ(gated("BEGIN IF a THEN x := 1; ELSIF EXISTS (SELECT 1) THEN x := 2; END IF; END"),
            "BEGIN IF a THEN x := 1; ELSIF EXISTS (SELECT 1) THEN x := 2; END IF; END");
}

TEST(Gates, LeaveCaseExpressionsAlone) {
  EXPECT_EQ(
      gated("BEGIN UPDATE t SET v = CASE WHEN a THEN b ELSE c END WHERE x IN (SELECT 1); END"),
      "BEGIN G UPDATE t SET v = CASE WHEN a THEN b ELSE c END WHERE x IN (SELECT 1); END");
  EXPECT_EQ(gated("BEGIN CASE x WHEN 1 THEN SELECT 1; ELSE DELETE FROM t; END CASE; SELECT 2; END"),
            "BEGIN CASE x WHEN 1 THEN G SELECT 1; ELSE G DELETE FROM t; END CASE; G SELECT 2; END");
}

// A function of that name with other arguments does not hide it.
TEST(Gates, TellWhatHasNoneInAnyFunctionOfAName) {
  const std::string plain = function("BEGIN SELECT 1 INTO v; END");
  const std::string silent = function("BEGIN WHILE (SELECT true) LOOP NULL; END LOOP; END");
  for (const std::string& both : {plain + silent, silent + plain}) {
    auto made = with_gates(both, "s", Gates::Stop);
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->ungated.at("f").why, ::testing::HasSubstr("WHILE"));
  }
}

// What runs together with the statement before it is told.
TEST(Gates, TellWhatHasNone) {
  const auto ungated = [](const std::string& body) {
    auto made = with_gates(function(body), "s", Gates::Stop);
    EXPECT_TRUE(made.ok());
    return made->ungated.at("f").why;
  };
  EXPECT_EQ(
      ungated("BEGIN SELECT 1 INTO v; IF v > 0 THEN NULL; ELSIF v < 0 THEN NULL; END IF; END"), "");
  EXPECT_THAT(ungated("BEGIN IF a THEN NULL; ELSIF (SELECT true) THEN NULL; END IF; END"),
              ::testing::HasSubstr("after ELSIF"));
  EXPECT_THAT(ungated("BEGIN WHILE (SELECT true) LOOP NULL; END LOOP; END"),
              ::testing::HasSubstr("WHILE"));
  EXPECT_THAT(ungated("DECLARE v int := (SELECT 1); BEGIN NULL; END"),
              ::testing::HasSubstr("a declaration"));
  EXPECT_EQ(ungated("BEGIN FOR r IN SELECT 1 LOOP NULL; END LOOP; END"), "");
  // A function in SQL with one statement is a step wherever it is called; with two it is not.
  const auto with_helper = [](const std::string& body) {
    auto made = with_gates("CREATE FUNCTION h() RETURNS int LANGUAGE sql AS $$" + body + "$$; " +
                               function("BEGIN v := h(); END"),
                           "s", Gates::Stop);
    EXPECT_TRUE(made.ok());
    EXPECT_THAT(made->sql, ::testing::HasSubstr("END IF; v := h()"));
    return made->ungated.at("f").why;
  };
  EXPECT_EQ(with_helper("SELECT 1"), "");
  EXPECT_EQ(with_helper("DELETE FROM t; SELECT 1"), "it may call h: it is not in PL/pgSQL");
  // What a foreign key does runs inside of the server.
  const auto with_key = [](const std::string& action, const std::string& body) {
    auto made = with_gates("CREATE TABLE c (t int REFERENCES t " + action + "); " + function(body),
                           "s", Gates::Stop);
    EXPECT_TRUE(made.ok());
    return made->ungated.at("f").why;
  };
  EXPECT_EQ(with_key("ON DELETE CASCADE", "BEGIN UPDATE t SET v = 1; END"), "");
  EXPECT_EQ(with_key("ON DELETE RESTRICT", "BEGIN DELETE FROM t; END"), "");
  EXPECT_THAT(with_key("ON DELETE CASCADE", "BEGIN DELETE FROM t; END"),
              ::testing::HasSubstr("ON DELETE"));
  EXPECT_THAT(with_key("ON UPDATE SET NULL", "BEGIN UPDATE t SET v = 1; END"),
              ::testing::HasSubstr("ON UPDATE"));
}

TEST(Gates, AreNotInStringsAndComments) {
  EXPECT_EQ(gated("BEGIN -- SELECT 1;\n RAISE NOTICE '; SELECT 1;'; /* ; UPDATE */ END"),
            "BEGIN -- SELECT 1;\n RAISE NOTICE '; SELECT 1;'; /* ; UPDATE */ END");
}

TEST(Gates, LeaveOtherLanguagesAlone) {
  const std::string text =
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2 $$;";
  auto out = with_gates(text, "s", Gates::Record);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->sql, text);
  EXPECT_EQ(out->gaps["f"], "it is not in PL/pgSQL");
}

// What is recorded of a body: statements with $1, $2 for its variables, and the gap.
struct RecordedBody {
  std::vector<std::string> statements;
  std::string gap;
};
RecordedBody recorded(const std::string& body, const std::string& parameters = "p int, q text") {
  auto made = with_gates(
      "CREATE FUNCTION f(" + parameters + ") RETURNS int LANGUAGE plpgsql AS $$" + body + "$$;",
      "s", Gates::Record);
  EXPECT_TRUE(made.ok());
  RecordedBody out;
  if (!made) return out;
  for (const InnerStatement& statement : made->statements) {
    std::string text = statement.sql;
    for (const std::string& variable : statement.variables) text += " | " + variable;
    out.statements.push_back(text);
  }
  out.gap = made->gaps["f"];
  return out;
}

TEST(InnerStatements, AreKnownWithTheirVariables) {
  using ::testing::ElementsAre;
  const RecordedBody body = recorded(
      "DECLARE v int; BEGIN SELECT t.v INTO v FROM t WHERE id = p AND who = q; "
      "IF v > p THEN UPDATE t SET v = v - p, who = f.q WHERE id = p RETURNING id INTO v; END IF; "
      "INSERT INTO t (id, v) VALUES (p, -v); PERFORM 1 FROM t WHERE id = $1 FOR UPDATE; "
      "DELETE FROM t WHERE id = (p); RETURN v; END");
  EXPECT_EQ(body.gap, "");
  // In SET the first v is a column, the second could be one too: PL/pgSQL would refuse it.
  EXPECT_THAT(
      body.statements,
      ElementsAre("SELECT t.v FROM t WHERE id = $1 AND who = $2 | p | q",
                  "UPDATE t SET v = $1 - $2, who = $3 WHERE id = $2 RETURNING id | v | p | f.q",
                  "INSERT INTO t (id, v) VALUES ($1, -$2) | p | v",
                  "SELECT 1 FROM t WHERE id = $1 FOR UPDATE | $1",
                  "DELETE FROM t WHERE id = ($1) | p"));
}

TEST(InnerStatements, AreKnownInExpressions) {
  using ::testing::ElementsAre;
  const RecordedBody body = recorded(
      "DECLARE n int := 0; BEGIN n := (SELECT count(*) FROM t WHERE id = p); "
      "IF NOT EXISTS (SELECT 1 FROM t WHERE id = n) THEN n := 1; END IF; "
      "RETURN (SELECT max(id) FROM t); END");
  EXPECT_EQ(body.gap, "");
  EXPECT_THAT(body.statements, ElementsAre("SELECT (SELECT count(*) FROM t WHERE id = $1) | p",
                                           "SELECT NOT EXISTS (SELECT 1 FROM t WHERE id = $1) | n",
                                           "SELECT (SELECT max(id) FROM t)"));
}

TEST(InnerStatements, WhatIsNotRecordedIsAGap) {
  for (const char* body :
       {"BEGIN FOR r IN SELECT * FROM t LOOP UPDATE t SET v = 1; END LOOP; END",
        "BEGIN EXECUTE 'DELETE FROM t'; END", "DECLARE v int := (SELECT 1 FROM t); BEGIN END",
        "BEGIN IF p = 1 THEN NULL; ELSIF EXISTS (SELECT 1 FROM t) THEN NULL; END IF; END",
        "BEGIN p := v FROM t WHERE id = 1; END", "BEGIN RETURN QUERY SELECT 1 FROM t; END",
        "BEGIN WHILE EXISTS (SELECT 1 FROM t) LOOP NULL; END LOOP; END",
        "BEGIN DELETE FROM t; EXCEPTION WHEN others THEN NULL; END",
        "BEGIN DELETE FROM t; DECLARE p int; BEGIN DECLARE q int; BEGIN NULL; END; END; END",
        "#variable_conflict use_column\nBEGIN DELETE FROM t; END",
        "BEGIN SELECT v AS p FROM t ORDER BY p; END", "BEGIN DELETE FROM p; END",
        "BEGIN UPDATE t SET v = 1 WHERE \"Id\" = 1; END"})
    EXPECT_NE(recorded(body).gap, "") << body;
  EXPECT_EQ(recorded("BEGIN RAISE EXCEPTION 'no'; END").gap, "");
}

TEST(InnerStatements, GapsOfCalledFunctionsAreGaps) {
  const std::string inner =
      "CREATE FUNCTION g() RETURNS int LANGUAGE sql AS $$ SELECT 1 FROM t $$;\n"
      "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN g(); END $$;\n";
  auto made = with_gates(inner, "s", Gates::Record);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->gaps["f"], "it calls g: it is not in PL/pgSQL");
  auto used = with_gates(
      "CREATE TABLE t (id int DEFAULT h());\nCREATE FUNCTION h() RETURNS int "
      "LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;",
      "s", Gates::Record);
  ASSERT_TRUE(used.ok());
  EXPECT_EQ(used->gaps["h"], "the schema may call h by itself");
}

TEST(GateNotices, AreReadInTheirOrder) {
  const auto read = read_notices(
      {"isoscope gate [0, 0, 7, 100, []]", "isoscope gate [2, 1, 8, 120, [\"3\", \"NULL::text\"]]",
       "hello", "isoscope rows [2, 5, 130]", "isoscope gate [", "isoscope rows [0, 1, 140]"});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].execution, 7U);
  EXPECT_EQ(read[0].rows, 1U);
  EXPECT_EQ(read[0].end, 140);
  EXPECT_EQ(read[1].rows, 5U);
  EXPECT_EQ(read[1].values, (std::vector<std::string>{"3", "NULL::text"}));
}

TEST(ProbeFile, ReadsTheCatalogue) {
  EXPECT_GE(probe_catalogue().size(), 18U);
  for (const Probe& probe : probe_catalogue()) EXPECT_FALSE(probe.title.empty()) << probe.name;
}

TEST(ProbeFile, RefusesWhatIsWrong) {
  const std::string head = "probe P \"p\"\ninit x=0\na: r(x)\n";
  for (const std::string& wrong : {std::string("probe P\n"), head, head + "anomaly b.1=0",
                                   head + "anomaly a.2=0", head + "b: r(y)\nanomaly a.1=0",
                                   head + "b: q(x)\nanomaly a.1=0", head + "b: w(x)\nanomaly a.1=0",
                                   head + "b: abort r(x)\nanomaly a.1=0", head + "anomaly a.1=z"}) {
    EXPECT_FALSE(read_probe(wrong).ok()) << wrong;
  }
  EXPECT_TRUE(read_probe(head + "anomaly a.1=0").ok());
}

}  // namespace
}  // namespace isoscope::force
