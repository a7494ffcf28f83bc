#include "force/gates.h"

#include <gtest/gtest.h>

#include "force/probe_file.h"

namespace isoscope::force {
namespace {

std::string function(const std::string& body) {
  return "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$" + body + "$$; SELECT 1;";
}

// The body with G for each gate.
std::string gated(const std::string& body) {
  auto text = with_gates(function(body), "s");
  EXPECT_TRUE(text.ok());
  std::string out = text ? *text : "";
  for (std::size_t i = 0; (i = out.find("PERFORM s.isoscope_gate(); ", i)) != std::string::npos;)
    out.replace(i, 27, "G ");
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

TEST(Gates, AreNotInStringsAndComments) {
  EXPECT_EQ(gated("BEGIN -- SELECT 1;\n RAISE NOTICE '; SELECT 1;'; /* ; UPDATE */ END"),
            "BEGIN -- SELECT 1;\n RAISE NOTICE '; SELECT 1;'; /* ; UPDATE */ END");
}

TEST(Gates, LeaveOtherLanguagesAlone) {
  const std::string text =
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2 $$;";
  auto out = with_gates(text, "s");
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, text);
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
