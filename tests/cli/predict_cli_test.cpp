#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Two deposits, one after the other; the second could have missed the first.
constexpr const char* kDeposits = "a: [r(acct,0) w(acct,1)]\nb: [r(acct,1) w(acct,2)]\n";
constexpr const char* kTrace =
    "READ KEY[acct] Txn(1, 1) From(0, 0)\nWRITE KEY[acct] Txn(1, 1)\n"
    "READ KEY[acct] Txn(2, 1) From(1, 1)\nWRITE KEY[acct] Txn(2, 1)\n";

std::string example(const std::string& name) {
  return source_dir() + "/examples/predict/" + name + ".txn";
}

// Bad input: exit code 2, words on standard error, nothing on standard output.
void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(words));
}

TEST(CliPredict, AnswersWithExitCodes) {
  EXPECT_EQ(run_isoscope("predict - --level cc", kDeposits).exit_code, 1);
  EXPECT_EQ(run_isoscope("predict - --level si", kDeposits).exit_code, 0);
  EXPECT_EQ(run_isoscope("predict - --level cc --boundary strict", kDeposits).exit_code, 0);
  EXPECT_EQ(run_isoscope("predict - --level cc --boundary strict+", kDeposits).exit_code, 0);
  EXPECT_EQ(run_isoscope("predict - --level cc --encoding approx", kDeposits).exit_code, 1);
}

TEST(CliPredict, SpeaksJson) {
  const json answer = json::parse(run_isoscope("predict - --level cc --json", kDeposits).out);
  EXPECT_EQ(answer["command"], "predict");
  EXPECT_EQ(answer["verdict"], "predicted");
  EXPECT_EQ(answer["boundary"], "relaxed");
  EXPECT_EQ(answer["encoding"], "exact");
  EXPECT_EQ(answer["literals"], 0);  // one missed update: found before there are clauses
  EXPECT_GE(answer["generation_seconds"], 0);
  EXPECT_GE(answer["solving_seconds"], 0);
  EXPECT_FALSE(answer.contains("validated"));
  ASSERT_EQ(answer["predictions"].size(), 1U);
  const json& found = answer["predictions"][0];
  ASSERT_EQ(found["changed"].size(), 1U);
  EXPECT_EQ(found["changed"][0]["session"], "b");
  EXPECT_EQ(found["changed"][0]["key"], "acct");
  EXPECT_EQ(found["changed"][0]["predicted"], "T0");
  EXPECT_NE(found["changed"][0]["observed"], found["changed"][0]["predicted"]);
  EXPECT_EQ(found["boundary"].size(), 2U);
  EXPECT_EQ(found["cycle"].size(), 2U);
  EXPECT_EQ(found["anomaly"], "lost update");
  const json none = json::parse(run_isoscope("predict - --level si --json", kDeposits).out);
  EXPECT_EQ(none["verdict"], "none");
  EXPECT_GT(none["literals"], 0);
  EXPECT_TRUE(none["predictions"].empty());
}

TEST(CliPredict, WritesHistoriesThatTheLevelAllowsAndNoSerialOrderExplains) {
  for (const std::string format : {"jsonl", "hist", "isopredict"}) {
    const TempFile file("." + format);
    const Ran ran =
        run_isoscope("predict - --level cc --predicted " + file.path() + " --to " + format, kTrace);
    ASSERT_EQ(ran.exit_code, 1) << format << ": " << ran.err;
    EXPECT_EQ(run_isoscope("check " + file.path() + " --level cc").exit_code, 0) << format;
    EXPECT_EQ(run_isoscope("check " + file.path() + " --level ser").exit_code, 1) << format;
  }
}

TEST(CliPredict, DrawsThePrediction) {
  const TempFile dot(".dot");
  EXPECT_EQ(run_isoscope("predict - --level cc --dot " + dot.path(), kDeposits).exit_code, 1);
  EXPECT_THAT(slurp(dot.path()), AllOf(HasSubstr("digraph"), HasSubstr("rw")));
}

TEST(CliPredict, ListsSeveralPredictions) {
  const std::string two = std::string(kDeposits) + "c: [r(y,0) w(y,1)]\nd: [r(y,1) w(y,2)]\n";
  const auto found = [&](const std::string& all) {
    return json::parse(
               run_isoscope("predict - --level cc --json --all " + all, two).out)["predictions"]
        .size();
  };
  EXPECT_EQ(found("1"), 1U);
  EXPECT_GE(found("5"), 2U);
}

TEST(CliPredict, TellsWhenItStoppedAtAll) {
  const std::string two = std::string(kDeposits) + "c: [r(y,0) w(y,1)]\nd: [r(y,1) w(y,2)]\n";
  EXPECT_THAT(run_isoscope("predict - --level cc --all 2", two).out,
              HasSubstr("--all 2 was reached: there may be more predictions"));
  EXPECT_THAT(run_isoscope("predict - --level cc --all 9", two).out, Not(HasSubstr("was reached")));
  const auto complete = [&](const std::string& all) {
    return json::parse(
        run_isoscope("predict - --level cc --json --all " + all, two).out)["complete"];
  };
  EXPECT_EQ(complete("2"), false);
  EXPECT_EQ(complete("9"), true);
}

TEST(CliPredict, AnswersThatARunIsUnserializableAlready) {
  const std::string lost = "a: [r(x,0) w(x,1)]\nb: [r(x,0) w(x,2)]\n";
  const Ran text = run_isoscope("predict - --level cc", lost);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("the observed run is unserializable already"),
                              HasSubstr("no read changes"), HasSubstr("lost update")));
  EXPECT_THAT(text.out, Not(HasSubstr("violates")));
  const json answer = json::parse(run_isoscope("predict - --level si --json", lost).out);
  EXPECT_EQ(answer["verdict"], "predicted");
  EXPECT_TRUE(answer["predictions"][0]["changed"].empty());
  EXPECT_TRUE(answer["predictions"][0].contains("violates_level"));
  EXPECT_THAT(run_isoscope("predict - --level si", lost).out, HasSubstr("and it violates si"));
}

TEST(CliPredict, RefusesRunsThatAreNoGoodRuns) {
  expect_refused(run_isoscope("predict - --level cc",
                              "READ KEY[x] Txn(1, 1) From(2, 1)\nWRITE KEY[x] Txn(2, 1)\n"),
                 "has not appeared yet");
  expect_refused(run_isoscope("predict - --level cc",
                              "WRITE KEY[y] Txn(2, 1)\nREAD KEY[x] Txn(1, 1) From(2, 1)\n"),
                 "has not written it");
  expect_refused(run_isoscope("predict - --level cc", "WRITE KEY[x] Txn(0, 3)\n"), "reserved");
}

TEST(CliPredict, RefusesBadArguments) {
  expect_refused(run_isoscope("predict - --level nope", kDeposits), "unknown level 'nope'");
  expect_refused(run_isoscope("predict - --level cc --boundary wide", kDeposits), "--boundary");
  expect_refused(run_isoscope("predict - --level cc --validate", kDeposits),
                 "--validate needs the program");
  expect_refused(run_isoscope("predict missing.hist --level cc"), "cannot open");
  const TempFile file(".out");
  expect_refused(
      run_isoscope("predict - --level cc --to nope --predicted " + file.path(), kDeposits), "nope");
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(CliPredict, GivesUpInTime) {
  const TempFile program(".txn");
  const TempFile trace(".jsonl");
  ASSERT_EQ(
      run_isoscope("generate program tpcc --sessions 3 --txns 8 -o " + program.path()).exit_code,
      0);
  ASSERT_EQ(
      run_isoscope("run " + program.path() + " --store serial --trace " + trace.path()).exit_code,
      0);
  const Ran ran = run_isoscope("predict " + trace.path() + " --level cc --timeout 0.001 --json");
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["verdict"], "unknown");
}

TEST(CliPredict, RefusesListsAndRunsThatViolateTheLevel) {
  expect_refused(
      run_isoscope("predict - --level cc --format elle",
                   "{:type :ok, :process 0, :f :txn, :value [[:append :x 1]], :index 0}\n"
                   "{:type :ok, :process 1, :f :txn, :value [[:r :x [1]]], :index 1}\n"),
      "this history has lists");
  const TempFile spec(".level");
  std::ofstream(spec.path()) << "level quiet over co\n"
                                "axiom NobodyReads: forall a, b: txn. wr(a, b) implies co(b, a)\n";
  expect_refused(run_isoscope("predict - --level quiet --spec " + spec.path(), kDeposits),
                 "the observed history violates quiet");
}

// The patterns of the paper's section 4.4; each file says what is predicted from it.
TEST(CliPredict, PredictsFromTheExamplesWhatTheySay) {
  const std::string folder = source_dir() + "/examples/predict/";
  for (const std::string name : {"two-reports", "known-past"}) {
    const std::string path = folder + name + ".hist";
    const std::string text = slurp(path);
    for (const std::string level : {"rc", "cc", "si"}) {
      const json answer =
          json::parse(run_isoscope("predict " + path + " --json --level " + level).out);
      EXPECT_THAT(text, HasSubstr(level + ": " + answer["verdict"].get<std::string>())) << path;
    }
  }
}

TEST(CliPredict, TellsThatAProgramDiverges) {
  const TempFile trace(".jsonl");
  ASSERT_EQ(run_isoscope("run " + example("diverges") + " --store serial --seed 2 --trace " +
                         trace.path())
                .exit_code,
            0);
  const Ran ran = run_isoscope("predict " + trace.path() + " --level cc --validate --json --app " +
                               example("diverges"));
  EXPECT_EQ(ran.exit_code, 1);
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["validated"], false);
  EXPECT_EQ(answer["diverged"], true);
  EXPECT_EQ(answer["predictions"][0]["validation"]["divergences"][0]["kind"], "outcome");
}

}  // namespace
}  // namespace isoscope
