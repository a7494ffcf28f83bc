#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kLostUpdate = "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\n";
const char* const kWriteSkew = "s1: [r(x,0) r(y,0) w(x,1)]\ns2: [r(x,0) r(y,0) w(y,1)]\n";

TEST(CliCheck, ExitsWithTheVerdict) {
  EXPECT_EQ(run_isoscope("check - --level cc", kLostUpdate).exit_code, 0);
  EXPECT_EQ(run_isoscope("check - --level si", kLostUpdate).exit_code, 1);
  EXPECT_EQ(run_isoscope("check - --level cc --level si", kLostUpdate).exit_code, 1);
  EXPECT_EQ(run_isoscope("check - --level nope", kLostUpdate).exit_code, 2);
  EXPECT_EQ(run_isoscope("check - --level si", "s1: [r(x,").exit_code, 2);
}

TEST(CliCheck, ExplainsALostUpdateInWords) {
  const Ran ran = run_isoscope("check - --level cc,si --color never", kLostUpdate);
  EXPECT_THAT(ran.out, HasSubstr("cc    consistent"));
  EXPECT_THAT(ran.out, HasSubstr("update: lost update (G-single)"));
  EXPECT_THAT(ran.out, HasSubstr("-rw x->"));
  EXPECT_THAT(ran.out, HasSubstr("line 1"));
  EXPECT_EQ(ran.err, "");
}

TEST(CliCheck, SpeaksJson) {
  const Ran ran = run_isoscope("check - --level ser --json", kWriteSkew);
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["tool"], "isoscope");
  EXPECT_EQ(answer["command"], "check");
  EXPECT_EQ(answer["verdict"], "violated");
  EXPECT_EQ(answer["transactions"], 2);
  EXPECT_EQ(answer["events"], 6);
  EXPECT_EQ(answer["levels"][0]["violation"]["anomaly"], "write skew");
  EXPECT_EQ(answer["levels"][0]["violation"]["cycle"].size(), 2U);
  for (const auto& edge : answer["levels"][0]["violation"]["cycle"]) {
    EXPECT_EQ(edge["edge"], "rw");
    EXPECT_FALSE(edge["why"].get<std::string>().empty());
  }
}

TEST(CliCheck, GivesWitnessesInBothFrameworks) {
  const json co = json::parse(run_isoscope("check - --level si --json", kWriteSkew).out);
  EXPECT_EQ(co["levels"][0]["witness"]["co"][0], "T0");
  EXPECT_EQ(co["levels"][0]["witness"]["co"].size(), 3U);
  const json vis = json::parse(run_isoscope("check - --level si@vis --json", kWriteSkew).out);
  EXPECT_EQ(vis["levels"][0]["witness"]["ar"].size(), 3U);
  EXPECT_EQ(vis["levels"][0]["witness"]["vis"].size(), 2U);  // T0 is seen by both
  EXPECT_EQ(vis["levels"][0]["confirmed"], "evaluated");
}

TEST(CliCheck, TakesSeveralFiles) {
  const TempFile skew(".hist");
  const TempFile update(".hist");
  std::ofstream(skew.path()) << kWriteSkew;
  std::ofstream(update.path()) << kLostUpdate;
  const std::string files = "check " + skew.path() + " " + update.path() + " ";
  const Ran ran = run_isoscope(files + "--level si --color never");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr(skew.path() + "\nsi    consistent\n" + update.path()));
  const json answer = json::parse(run_isoscope(files + "--level cc,si --json").out);
  EXPECT_EQ(answer["verdict"], "violated");
  ASSERT_EQ(answer["files"].size(), 2U);
  EXPECT_EQ(answer["files"][0]["verdict"], "consistent");
  EXPECT_EQ(answer["files"][1]["verdict"], "violated");
  ASSERT_EQ(answer["levels"].size(), 4U);
  EXPECT_EQ(answer["levels"][3]["file"], update.path());
  EXPECT_EQ(answer["levels"][3]["verdict"], "violated");
  EXPECT_EQ(run_isoscope(files + "--level si --dot x.dot").exit_code, 2);
}

TEST(CliCheck, FindsTheStrongestLevels) {
  const Ran skew = run_isoscope("check - --strongest --color never", kWriteSkew);
  EXPECT_EQ(skew.exit_code, 0);
  EXPECT_THAT(skew.out, HasSubstr("strongest that hold: si\n"));
  const json update = json::parse(run_isoscope("check - --strongest --json", kLostUpdate).out);
  EXPECT_EQ(update["verdict"], "consistent");
  EXPECT_EQ(update["files"][0]["strongest"], json::array({"pc"}));
  EXPECT_EQ(run_isoscope("check - --strongest --level si", kLostUpdate).exit_code, 2);
  EXPECT_EQ(run_isoscope("check -", kLostUpdate).exit_code, 2);
  const Ran nothing = run_isoscope("check - --strongest", "s1: [w(x,1)]!\n");
  EXPECT_EQ(nothing.exit_code, 3);
}

TEST(CliCheck, ChecksEveryLevel) {
  const json answer = json::parse(run_isoscope("check - --level all --json", kWriteSkew).out);
  std::map<std::string, std::string> verdicts;
  for (const json& each : answer["levels"]) verdicts[each["level"]] = each["verdict"];
  EXPECT_EQ(verdicts["rc"], "consistent");
  EXPECT_EQ(verdicts["si"], "consistent");
  EXPECT_EQ(verdicts["ser"], "violated");
  EXPECT_FALSE(verdicts.contains("strict-ser")) << "there are no times";
}

TEST(CliCheck, SpeaksOfRealTimeWhereThereAreTimes) {
  const std::string stale = "s1: [w(x,1)]<1,2>\ns2: [r(x,0)]<3,4>\n";
  const Ran ran = run_isoscope("check - --level ser,strict-ser --color never", stale);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("ser         consistent"));
  EXPECT_THAT(ran.out, HasSubstr("T2 began after T1 had ended, yet reads x = 0 from T0, which T1 "
                                 "overwrites: stale read (G-single-realtime)"));
  EXPECT_THAT(ran.out, HasSubstr("T1 -rt-> T2"));
  const Ran without = run_isoscope("check - --level strict-ser", "s1: [w(x,1)]\n");
  EXPECT_EQ(without.exit_code, 3);
  EXPECT_THAT(without.out, HasSubstr("this history has no times"));
  EXPECT_EQ(run_isoscope("explore - --level strict-ser", "session s { { write(x,1) } }").exit_code,
            2);
}

TEST(CliCheck, CanLeaveOutTheOrderOfSessions) {
  const std::string stale = "s1: [w(x,1)] [r(x,0)]\n";
  EXPECT_EQ(run_isoscope("check - --level ser", stale).exit_code, 1);
  EXPECT_EQ(run_isoscope("check - --level ser --no-session-order", stale).exit_code, 0);
}

TEST(CliCheck, ListsSeveralLevels) {
  const json answer =
      json::parse(run_isoscope("check - --level rc,psi,ser --json", kLostUpdate).out);
  EXPECT_EQ(answer["verdict"], "violated");
  ASSERT_EQ(answer["levels"].size(), 3U);
  EXPECT_EQ(answer["levels"][0]["verdict"], "consistent");
  EXPECT_EQ(answer["levels"][1]["verdict"], "violated");
}

TEST(CliCheck, PrintsNothingOnStandardOutputOnAnError) {
  const Ran ran = run_isoscope("check - --level si", "s1: [r(x,0) q(x,1)]\n");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("<stdin>:1:13: error:"));
}

TEST(CliCheck, PrintsAnErrorAsOneObjectUnderJson) {
  const Ran ran = run_isoscope("check - --level si --json", "s1: [r(x,0) q(x,1)]\n");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(json::parse(ran.out)["error"]["where"], "<stdin>:1:13");
}

TEST(CliCheck, DrawsTheCycle) {
  const std::string dot = ::testing::TempDir() + "/cycle.dot";
  EXPECT_EQ(run_isoscope("check - --level ser --dot " + dot, kWriteSkew).exit_code, 1);
  EXPECT_THAT(slurp(dot), AllOf(HasSubstr("digraph"), HasSubstr("rw y"), HasSubstr("write skew")));
}

TEST(CliCheck, TakesLevelsFromAFile) {
  const std::string spec = ::testing::TempDir() + "/mine.level";
  std::ofstream(spec) << "level mine over co extends cc   # mine\n"
                         "axiom Nobody: forall t1, t2: txn. not (wr(t1, t2) and t1 = t2)\n";
  EXPECT_EQ(run_isoscope("check - --level mine --spec " + spec, kLostUpdate).exit_code, 0);
  std::ofstream(spec) << "level mine over co\naxiom A: forall t: txn. wv(t, t)\n";
  const Ran ran = run_isoscope("check - --level mine --spec " + spec, kLostUpdate);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("mine.level:2:25: error: unknown relation 'wv'"),
                             HasSubstr("did you mean")));
}

TEST(CliCheck, KeepsQuietWhenAsked) {
  const Ran ran = run_isoscope("check - --level si --quiet", kLostUpdate);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
}

TEST(CliCheck, HonoursLevelsOfSingleTransactions) {
  const std::string fractured = "s1: [w(x,1) w(y,1)]\ns2: [r(x,0) r(y,1)]";
  EXPECT_EQ(run_isoscope("check - --level ra", fractured).exit_code, 1);
  EXPECT_EQ(run_isoscope("check - --level ra", fractured + "@rc").exit_code, 0);
  EXPECT_EQ(run_isoscope("check - --level rc", fractured + "@ser").exit_code, 1);
  EXPECT_EQ(run_isoscope("check - --level ra", fractured + "@nosuch").exit_code, 2);
}

TEST(CliCheck, WritesItsReportIntoAFileWhenQuiet) {
  const TempFile report(".txt");
  const Ran ran = run_isoscope("check - --level si --quiet -o " + report.path(), kLostUpdate);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(slurp(report.path()), HasSubstr("lost update"));
}

TEST(CliConvert, PutsTheHistoryIntoItsJsonAnswer) {
  const json answer = json::parse(run_isoscope("convert - --to jsonl --json", kLostUpdate).out);
  EXPECT_EQ(answer["verdict"], "ok");
  EXPECT_EQ(answer["transactions"], 2);
  EXPECT_EQ(answer["history"], run_isoscope("convert - --to jsonl", kLostUpdate).out);
  const TempFile file(".jsonl");
  const Ran ran = run_isoscope("convert - --to jsonl --json -o " + file.path(), kLostUpdate);
  EXPECT_FALSE(json::parse(ran.out).contains("history"));
  EXPECT_EQ(slurp(file.path()), answer["history"]);
}

TEST(CliConvert, RoundTrips) {
  const std::string path = ::testing::TempDir() + "/round.jsonl";
  ASSERT_EQ(run_isoscope("convert - --to jsonl -o " + path, kLostUpdate).exit_code, 0);
  EXPECT_THAT(slurp(path), HasSubstr("isoscope-history/1"));
  const Ran back = run_isoscope("convert " + path + " --to plume");
  EXPECT_EQ(back.exit_code, 2);  // a text key has no place in plume
  EXPECT_THAT(run_isoscope("convert " + path + " --to hist").out, HasSubstr("[r(x,0) w(x,1)]"));
}

TEST(CliGenerate, MakesHistoriesThatKeepTheirLevel) {
  const Ran made =
      run_isoscope("generate history --level si --txns 200 --keys 20 --sessions 5 --seed 3");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(run_isoscope("check - --level si,cc", made.out).exit_code, 0);
  EXPECT_EQ(
      run_isoscope("generate history --level si --txns 200 --keys 20 --sessions 5 --seed 3").out,
      made.out);
  const Ran broken = run_isoscope(
      "generate history --level si --txns 200 --keys 20 --sessions 5 --inject lost-update");
  EXPECT_EQ(run_isoscope("check - --level si", broken.out).exit_code, 1);
  EXPECT_EQ(run_isoscope("generate history --inject nonsense").exit_code, 2);
  EXPECT_EQ(run_isoscope("generate history --level nonsense").exit_code, 2);
}

TEST(CliGenerate, TellsThatTheTimeWasOver) {
  const std::string endless = "generate history --txns 100000000 --timeout 0.05 ";
  const TempFile file(".jsonl");
  const Ran ran = run_isoscope(endless + "-o " + file.path());
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("the time limit"));
  EXPECT_FALSE(std::filesystem::exists(file.path()));
  const Ran told = run_isoscope(endless + "--json -o " + file.path());
  EXPECT_EQ(told.exit_code, 3);
  EXPECT_EQ(json::parse(told.out)["verdict"], "unknown");
  EXPECT_EQ(json::parse(told.out)["limit"], "the time limit");
}

TEST(CliSynth, FindsWriteSkewAsAHistoryFile) {
  const Ran ran = run_isoscope("synth --allow si --forbid ser");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("# expect  si: consistent  ser: violated"), HasSubstr("write skew")));
  EXPECT_EQ(run_isoscope("check - --level si", ran.out).exit_code, 0);
  EXPECT_EQ(run_isoscope("check - --level ser", ran.out).exit_code, 1);
  EXPECT_EQ(run_isoscope("synth --allow ser --forbid si --txns 3").exit_code, 0);
  EXPECT_EQ(run_isoscope("synth --allow nosuch --forbid si").exit_code, 2);
  EXPECT_EQ(run_isoscope("synth --allow si --forbid ser --txns 1000").exit_code, 2);
  const json answer = json::parse(run_isoscope("synth --allow cc --forbid pc --json").out);
  EXPECT_EQ(answer["verdict"], "found");
  EXPECT_EQ(answer["scope"]["txns"], 4);
  EXPECT_EQ(answer["histories"].size(), 1U);
}

TEST(CliSynth, CountsHistoriesUpToRenaming) {
  EXPECT_THAT(
      run_isoscope("synth --count --txns 2 --keys 2 --no-blind-writes --sessions partial-order")
          .out,
      HasSubstr("97 histories"));
  EXPECT_EQ(run_isoscope("synth --count").exit_code, 2);
}

TEST(CliCompare, ProvesRefutesAndDrawsTheLattice) {
  EXPECT_THAT(run_isoscope("compare cc@co cc@vis").out,
              AllOf(HasSubstr("equivalent"), HasSubstr("proved for every history")));
  EXPECT_THAT(run_isoscope("compare si ser").out,
              AllOf(HasSubstr("weaker"), HasSubstr("write skew")));
  const json answer = json::parse(run_isoscope("compare ser si --json").out);
  EXPECT_EQ(answer["verdict"], "stronger");
  EXPECT_EQ(answer["forward"]["proved"], "all-histories");
  EXPECT_EQ(run_isoscope("compare si").exit_code, 2);
  const std::string dot = ::testing::TempDir() + "/lattice.dot";
  const Ran matrix = run_isoscope("compare --matrix cc pc si --dot " + dot);
  EXPECT_EQ(matrix.exit_code, 0);
  EXPECT_THAT(matrix.out, HasSubstr("long fork"));
  EXPECT_THAT(slurp(dot), HasSubstr("lost update"));
}

TEST(CliLevels, ListsAndShows) {
  EXPECT_THAT(run_isoscope("levels").out,
              AllOf(HasSubstr("cc@co"), HasSubstr("psi@vis"), HasSubstr("ser@vis")));
  EXPECT_THAT(run_isoscope("levels cc").out, HasSubstr("axiom Causal"));
  EXPECT_EQ(run_isoscope("levels nosuch").exit_code, 2);
  EXPECT_EQ(json::parse(run_isoscope("levels --json").out)["command"], "levels");
}

TEST(Cli, HelpsAndRefuses) {
  EXPECT_THAT(run_isoscope("--help").out, AllOf(HasSubstr("check"), HasSubstr("levels")));
  EXPECT_THAT(run_isoscope("check --help").out, HasSubstr("Examples:"));
  EXPECT_EQ(run_isoscope("--version").out.substr(0, 9), "isoscope ");
  const Ran typo = run_isoscope("chekc x");
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean 'check'?"));
  EXPECT_EQ(run_isoscope("").exit_code, 2);
  EXPECT_EQ(run_isoscope("check").exit_code, 2);
  EXPECT_EQ(run_isoscope("check /nonexistent --level ser").exit_code, 2);
  EXPECT_EQ(run_isoscope("check - --level ser --timeout abc", kLostUpdate).exit_code, 2);
  EXPECT_THAT(run_isoscope("check - --level ser", "").err, Not(HasSubstr("internal")));
}

}  // namespace
}  // namespace isoscope
