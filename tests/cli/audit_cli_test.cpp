// `isoscope audit` as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kRoot = source_dir() + "/";
const std::string kBank = kRoot + "examples/audit/bank.sql";
const std::string kCourseware = kRoot + "examples/audit/courseware.sql";
const std::string kTpcc = kRoot + "examples/audit/tpcc.sql";

// The strengthening of the paper: the pairs that must not miss each other, and enroll.
const std::string kHybrid =
    kCourseware +
    " --level cc --serial add_course,add_course --serial add_student,add_student"
    " --serial enroll,rem_course --serial enroll,rem_student --assign enroll=";

// A counter and somebody who looks at it; `odd` uses what nobody models.
const std::string kCounter =
    "CREATE TABLE counter (id integer PRIMARY KEY, n integer NOT NULL);\n"
    "CREATE FUNCTION bump(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
    "DECLARE v integer;\n"
    "BEGIN\n"
    "  SELECT n INTO v FROM counter WHERE id = p;\n"
    "  UPDATE counter SET n = v + 1 WHERE id = p;\n"
    "END; $$;\n";
const std::string kOdd =
    "CREATE FUNCTION odd(p text) RETURNS void LANGUAGE plpgsql AS $$\n"
    "BEGIN\n"
    "  EXECUTE p;\n"
    "END; $$;\n"
    "CREATE FUNCTION odder(p text) RETURNS void LANGUAGE plpgsql AS $$\n"
    "BEGIN\n"
    "  EXECUTE p || p;\n"
    "END; $$;\n";

Ran audit(const std::string& arguments, const std::string& input = {}) {
  return run_isoscope("audit " + arguments + " --color never", input);
}

json audit_json(const std::string& arguments, const std::string& input = {}) {
  return json::parse(run_isoscope("audit " + arguments + " --json", input).out);
}

// Bad input: exit code 2, words on standard error, nothing on standard output.
void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(words));
}

TEST(CliAudit, ExitsWithTheAnswer) {
  EXPECT_EQ(audit(kBank + " --level pc").exit_code, 1);
  EXPECT_EQ(audit(kBank + " --level ua").exit_code, 0);
  EXPECT_EQ(audit(kBank + " --level si --prove").exit_code, 0);
  EXPECT_EQ(audit(kBank + " --level rc").exit_code, 2);
  EXPECT_EQ(audit(kTpcc + " --level psi --timeout 0.01").exit_code, 3);
}

TEST(CliAudit, TellsALostUpdateAsARun) {
  const Ran ran = audit(kBank + " --level pc");
  EXPECT_THAT(ran.out,
              StartsWith(kBank + " at pc: anomaly: lost update between 2 calls of withdraw\n"
                                 "observable: no serial order has these results"));
  EXPECT_TRUE(std::regex_search(
      ran.out, std::regex("rows at the start\n  account \\(acc_id (\\d+), balance \\d+\\)\n"
                          "calls, in the order of arbitration\n"
                          "  T1  withdraw\\(\\1, \\d+\\)\n"
                          "  T2  withdraw\\(\\1, \\d+\\)  does not see T1\n")))
      << ran.out;
  EXPECT_TRUE(std::regex_search(
      ran.out,
      std::regex("T1 withdraw\\((\\d+), \\d+\\) --rw--> T2 withdraw\\(\\1, \\d+\\)  "
                 "account\\[\\1\\].balance: T1 read \\d+, T2 wrote \\d+ \\(lines 13 and 15\\)\n")))
      << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(CliAudit, SaysHowFarItLookedAndWhetherThatIsAProof) {
  const Ran bounded = audit(kBank + " --level ua --cycle 3");
  EXPECT_THAT(bounded.out, AllOf(HasSubstr("at ua: none: no anomaly of 2 to 3 calls"),
                                 HasSubstr("3 calls: 1 cycle of functions, in no execution at all"),
                                 HasSubstr("no execution at all has such a cycle")));
  const Ran unrealized = audit(kCourseware + " --level ser --cycle 2");
  EXPECT_EQ(unrealized.exit_code, 0);
}

TEST(CliAudit, NamesTheStepsOfAProof) {
  const Ran tpcc = audit(kTpcc + " --level si --prove");
  EXPECT_EQ(tpcc.exit_code, 0);
  EXPECT_THAT(tpcc.out,
              AllOf(HasSubstr("at si: serializable"),
                    HasSubstr("proved: new_order and payment by induction, then delivery"),
                    HasSubstr("orders.o_id is counted by district.d_next_o_id")));
  const json proof = audit_json(kHybrid + "si --prove");
  EXPECT_EQ(proof["verdict"], "serializable");
  EXPECT_EQ(proof["scheme"], "induction, shortest path");
  EXPECT_EQ(proof["steps"].back()["functions"], json({"enroll"}));
  EXPECT_GE(proof["steps"].back()["path"], 2);
}

TEST(CliAudit, SaysWhatStoppedAProof) {
  const Ran failed = audit(kBank + " --level pc --path 3");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("no proof: "));
  const json answer = audit_json(kBank + " --level pc --prove");
  EXPECT_EQ(answer["scheme"], nullptr);
  EXPECT_EQ(answer["unproved"], json({"withdraw"}));
  EXPECT_NE(answer["obstacle"], "");
}

TEST(CliAudit, SpeaksJson) {
  const json answer = audit_json(kBank + " --level pc");
  EXPECT_EQ(answer["tool"], "isoscope");
  EXPECT_EQ(answer["command"], "audit");
  EXPECT_EQ(answer["verdict"], "anomaly");
  EXPECT_EQ(answer["level"], "pc");
  EXPECT_EQ(answer["bound"], 4);
  EXPECT_GT(answer["stats"]["questions"], 0);
  EXPECT_EQ(answer["notes"], json::array());
  ASSERT_EQ(answer["anomalies"].size(), 1U);
  const json& anomaly = answer["anomalies"][0];
  EXPECT_EQ(anomaly["name"], "lost update");
  EXPECT_EQ(anomaly["label"], "observable");
  EXPECT_NE(anomaly["why"], "");
  ASSERT_EQ(anomaly["calls"].size(), 2U);
  EXPECT_EQ(anomaly["calls"][1]["id"], "T2");
  EXPECT_EQ(anomaly["calls"][1]["function"], "withdraw");
  EXPECT_EQ(anomaly["calls"][1]["arguments"].size(), 2U);
  EXPECT_EQ(anomaly["calls"][1]["sees"], json::array());
  EXPECT_EQ(anomaly["calls"][1]["prepares"], false);
  EXPECT_EQ(anomaly["rows"][0]["table"], "account");
  EXPECT_EQ(anomaly["rows"][0]["values"]["acc_id"], anomaly["calls"][0]["arguments"][0]);
  ASSERT_EQ(anomaly["cycle"].size(), 2U);
  const json& edge = anomaly["cycle"][0];
  EXPECT_EQ(edge["from"], "T1");
  EXPECT_EQ(edge["to"], "T2");
  EXPECT_EQ(edge["edge"], "rw");
  EXPECT_EQ(edge["table"], "account");
  EXPECT_EQ(edge["row"], json::array({anomaly["calls"][0]["arguments"][0]}));
  EXPECT_EQ(edge["column"], "balance");
  EXPECT_EQ(edge["read"], anomaly["rows"][0]["values"]["balance"]);
  EXPECT_TRUE(edge["written"].is_number());
  EXPECT_EQ(anomaly["ar"], json({"T1", "T2"}));
  EXPECT_EQ(anomaly["vis"], json::array());
  EXPECT_THAT(anomaly["history"].get<std::string>(), HasSubstr("account["));
}

TEST(CliAudit, MarksPresenceAndPreparationInJson) {
  const json answer = audit_json(kCourseware +
                                 " --level si --only "
                                 "enroll,rem_student,add_student,add_course");
  ASSERT_EQ(answer["verdict"], "anomaly");
  const json& anomaly = answer["anomalies"][0];
  EXPECT_EQ(anomaly["calls"][0]["prepares"], true);
  bool has_presence = false;
  for (const json& edge : anomaly["cycle"]) has_presence |= edge.contains("presence");
  EXPECT_TRUE(has_presence) << anomaly.dump(1);
  EXPECT_GT(anomaly["vis"].size(), 0U);
}

TEST(CliAudit, ListsDistinctAnomaliesOfCourseware) {
  const json answer = audit_json(kCourseware + " --level ec --cycle 2 --all");
  std::set<std::set<std::string>> pairs;
  for (const json& anomaly : answer["anomalies"]) {
    std::set<std::string> functions;
    for (const json& call : anomaly["calls"]) {
      if (!call["prepares"]) functions.insert(call["function"].get<std::string>());
    }
    pairs.insert(functions);
  }
  EXPECT_THAT(
      pairs,
      ElementsAre(std::set<std::string>{"add_course"}, std::set<std::string>{"add_student"},
                  std::set<std::string>{"enroll"}, std::set<std::string>{"enroll", "rem_course"},
                  std::set<std::string>{"enroll", "rem_student"}));
  EXPECT_EQ(answer["lengths"].size(), 1U);
  EXPECT_EQ(answer["lengths"][0]["found"], 5);
}

TEST(CliAudit, TakesLevelsAndSerialPairsForSingleFunctions) {
  const Ran fork = audit(kHybrid + "psi");
  EXPECT_EQ(fork.exit_code, 1);
  EXPECT_THAT(fork.out, AllOf(HasSubstr("at cc, enroll at psi: anomaly: long fork"),
                              HasSubstr("serial: add_course and add_course, add_student"),
                              HasSubstr("view-only: ")));
  EXPECT_EQ(audit(kHybrid + "psi --cycle 3").exit_code, 0);
  const std::string annotated =
      std::regex_replace(kCounter, std::regex("CREATE FUNCTION"), "-- @isolation si\n$&");
  EXPECT_EQ(audit("- --level cc", annotated).exit_code, 0);
  EXPECT_EQ(audit("- --level cc --assign bump=cc", annotated).exit_code, 1);
  EXPECT_EQ(audit("- --level cc --serial bump,bump", kCounter).exit_code, 0);
}

TEST(CliAudit, NamesEveryFunctionThatItCannotModel) {
  const Ran ran = audit("- --level si", kCounter + kOdd);
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("<stdin>:10:"), HasSubstr("<stdin>:14:"), HasSubstr("is left out")));
  EXPECT_EQ(audit("- --level si --only bump", kCounter + kOdd).exit_code, 0);
  const Ran one = audit("- --level si --only bump,odd", kCounter + kOdd);
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_THAT(one.err, HasSubstr("<stdin>:10:"));
  EXPECT_THAT(one.err, Not(HasSubstr("<stdin>:14:")));
}

TEST(CliAudit, RefusesWhatItCannotAnswer) {
  expect_refused(audit(kBank + " --level rc"), "not over vis, ar");
  expect_refused(audit(kBank + " --level sj"), "unknown level 'sj'");
  expect_refused(audit(kBank + " --level cc,si"), "one level");
  expect_refused(audit(kBank + " --level si,rc --advise"), "not over vis, ar");
  expect_refused(audit(kBank + " --level si --cycle 1"), "--cycle");
  expect_refused(audit(kBank + " --level si --cycle 9"), "--cycle");
  expect_refused(audit(kBank + " --level si --path 1"), "--path");
  expect_refused(audit(kBank + " --level si --only wthdraw"), "did you mean 'withdraw'?");
  expect_refused(audit(kBank + " --level si --assign withdraw"), "TXN=LEVEL");
  expect_refused(audit(kBank + " --level si --assign deposit=si"), "no function 'deposit'");
  expect_refused(audit(kBank + " --level si --assign withdraw=sj"), "unknown level 'sj'");
  expect_refused(audit(kBank + " --level si --serial withdraw"), "two functions");
  expect_refused(audit(kBank + " --level si --serial withdraw,withdraw,withdraw"), "two functions");
  expect_refused(audit(kBank + " --level si --serial withdraw,deposit"), "no function 'deposit'");
  expect_refused(audit(kBank + " --level si --conflicts table"), "--conflicts");
  expect_refused(audit(kBank + " --level si --to prose"), "prose");
  expect_refused(audit("no-such-file.sql --level si"), "no-such-file.sql");
  expect_refused(audit("- --level si", "CREATE TABEL t (a int);"), "<stdin>:1:8");
  expect_refused(audit("- --level si", "CREATE TABLE t (a int PRIMARY KEY);"), "no function");
  expect_refused(audit("- --level si", std::regex_replace(kCounter, std::regex("CREATE FUNCTION"),
                                                          "-- @isolation sj\n$&")),
                 "<stdin>:3:");
}

TEST(CliAudit, MentionsWhatIsModelledRoughly) {
  const std::string rough = std::regex_replace(kCounter, std::regex("v \\+ 1"), "power(v, p)");
  const json answer = audit_json("- --level si", rough);
  ASSERT_EQ(answer["notes"].size(), 1U) << answer["notes"];
  EXPECT_EQ(answer["notes"][0]["function"], "bump");
  EXPECT_EQ(answer["notes"][0]["line"], 6);
  EXPECT_THAT(audit("- --level si", rough).err, HasSubstr("<stdin>:6:"));
  EXPECT_EQ(audit("- --level si --quiet", rough).err, "");
}

TEST(CliAudit, WritesARunThatCheckExplains) {
  const TempFile hist(".hist");
  for (const std::string& arguments :
       {kBank + " --level pc", kCourseware + " --level si", kTpcc + " --level ec"}) {
    SCOPED_TRACE(arguments);
    EXPECT_EQ(audit(arguments + " --history " + hist.path()).exit_code, 1);
    const json checked =
        json::parse(run_isoscope("check " + hist.path() + " --level ser --json").out);
    EXPECT_EQ(checked["verdict"], "violated");
  }
  const TempFile jsonl(".jsonl");
  EXPECT_EQ(audit(kBank + " --level pc --to jsonl --history " + jsonl.path()).exit_code, 1);
  EXPECT_THAT(slurp(jsonl.path()), HasSubstr("isoscope-history/1"));
}

TEST(CliAudit, DrawsTheFirstAnomaly) {
  const TempFile file(".dot");
  EXPECT_EQ(audit(kCourseware + " --level si --dot " + file.path()).exit_code, 1);
  const std::string dot = slurp(file.path());
  EXPECT_THAT(dot, AllOf(StartsWith("digraph"), HasSubstr("rw student["), HasSubstr("penwidth=2"),
                         HasSubstr("does not see"), HasSubstr("prepares")));
}

// enroll changes the course that rem_course deletes, but none of the columns that it reads: on
// PostgreSQL the second of them gets 40001.
TEST(CliAudit, CountsConflictsByRowsOnPostgresAndByColumnsFormally) {
  const std::string both =
      kCourseware + " --level si --only enroll,rem_course,add_course,add_student";
  const json on_server = audit_json(both);
  EXPECT_EQ(on_server["conflicts"], "row");
  EXPECT_EQ(on_server["verdict"], "none");
  const json formal = audit_json(both + " --server formal");
  EXPECT_EQ(formal["conflicts"], "column");
  EXPECT_EQ(formal["verdict"], "anomaly");
  EXPECT_EQ(audit_json(both + " --conflicts column")["verdict"], "anomaly");
}

TEST(CliAudit, AdvisesLevelsAndRepairs) {
  const json answer = audit_json(kBank + " --level si,ec,ua --advise");
  EXPECT_EQ(answer["level"], "ec") << "the weakest is audited";
  EXPECT_EQ(answer["advice"]["levels"]["withdraw"], "ua");
  ASSERT_GE(answer["advice"]["repairs"].size(), 1U);
  EXPECT_EQ(answer["advice"]["repairs"][0]["kind"], "lock");
  EXPECT_EQ(answer["advice"]["repairs"][0]["line"], 13);
  EXPECT_EQ(answer["advice"]["repairs"][0]["proved"], true);
  const Ran ran = audit(kBank + " --level ec,ua --advise");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("  withdraw  ua\n"), HasSubstr("bank.sql:13:3: in withdraw"),
                             HasSubstr("FOR UPDATE")));
}

TEST(CliAudit, SaysNothingWhenQuiet) {
  const Ran ran = audit(kBank + " --level pc --quiet");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out + ran.err, "");
}

}  // namespace
}  // namespace isoscope
