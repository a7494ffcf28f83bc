// explore and run on SQL programs as PostgreSQL executes them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string oversell() { return source_dir() + "/examples/sql/oversell.sql"; }

constexpr const char* kCounter = R"(CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
-- @isolation pg-rr
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE t SET v = v + 1 WHERE id = 1; END $$;
CREATE FUNCTION g() RETURNS void LANGUAGE plpgsql AS $$
BEGIN UPDATE t SET v = v + 1 WHERE id = 1; END $$;
INSERT INTO t VALUES (1, 0);
)";

TEST(CliServer, AnswersWithTheRowsThatBreakAClaimAndASchedule) {
  const Ran ran = run_isoscope("explore " + oversell() + " --json");
  EXPECT_EQ(ran.exit_code, 1);
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["verdict"], "violated");
  EXPECT_EQ(answer["level"], "pg-rc");  // the default
  EXPECT_EQ(answer["server"], "postgres");
  EXPECT_EQ(answer["histories"], 4);
  EXPECT_EQ(answer["violating"], 2);
  const json& first = answer["violations"][0];
  EXPECT_EQ(first["failed"][0]["rows"].size(), 2);
  EXPECT_EQ(first["failed"][0]["rows"][0]["table"], "order_line");
  EXPECT_EQ(first["schedule"].back()["step"], "commits");
  EXPECT_EQ(run_isoscope("explore " + oversell() + " --level pg-rr").exit_code, 0);
  EXPECT_EQ(run_isoscope("explore " + oversell() + " --level serializable").exit_code, 0);
}

TEST(CliServer, TakesLevelsOfFunctionsAndCalls) {
  const std::string sessions = "-- session a: f()\n-- session b: g()\n-- session c: g() @pg-ser\n";
  const Ran ran = run_isoscope("explore - --outcomes", kCounter + sessions);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("at pg-rc, pg-rr, pg-ser:"), HasSubstr("40001")));
}

TEST(CliServer, DoesNotMixLevelsOfAServerWithDefinitions) {
  const Ran ran = run_isoscope("explore -", std::string(kCounter) + "-- session a: f() @si\n");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("mix only with each other"));
}

TEST(CliServer, ChecksNoClaimByDefinitions) {
  EXPECT_EQ(run_isoscope("explore " + oversell() + " --level si").exit_code, 2);
  const Ran serial = run_isoscope("run " + oversell() + " --store serial");
  EXPECT_EQ(serial.exit_code, 2);
  EXPECT_THAT(serial.err, HasSubstr("oversell.sql:24"));
}

TEST(CliServer, NamesABadClaimByItsLine) {
  const Ran ran = run_isoscope(
      "explore -", std::string(kCounter) + "-- session a: g()\n-- invariant SELECT w > 0 FROM t\n");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("9:1"), HasSubstr("no claim about rows")));
}

TEST(CliServer, RunsAtRandomAndRepeatsBySeed) {
  const std::string command = "run " + oversell() + " --store weak --level pg-rc --json";
  const json many = json::parse(run_isoscope(command + " --runs 50").out);
  EXPECT_EQ(many["verdict"], "violated");
  EXPECT_GT(many["failed_assertions"], 0);
  EXPECT_EQ(many["failed_assertions"], many["unserializable"]);
  const std::string seed = std::to_string(many["first_failed"].get<int>());
  const json again = json::parse(run_isoscope(command + " --seed " + seed).out);
  EXPECT_EQ(again["failed_assertions"], 1);
  EXPECT_EQ(again["schedule"], many["schedule"]);
}

TEST(CliServer, RecordsARunThatCheckFindsTheLostUpdateIn) {
  const std::string command = "run " + oversell() + " --store weak --runs 50 --trace -";
  const Ran ran = run_isoscope(command + " --quiet");
  EXPECT_EQ(ran.exit_code, 1);
  const Ran checked = run_isoscope("check - --level si", ran.out);
  EXPECT_EQ(checked.exit_code, 1) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("item[1].stock"));
}

TEST(CliServer, WritesEveryHistoryOnce) {
  const Ran ran = run_isoscope("explore " + oversell() + " --histories - --quiet");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 4);
  const json first = json::parse(ran.out.substr(0, ran.out.find('\n')));
  EXPECT_EQ(first["transactions"].size(), 2);
}

}  // namespace
}  // namespace isoscope
