// synth and compare as users type them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string temporary(const std::string& name) {
  return ::testing::TempDir() + "isoscope-" + std::to_string(::getpid()) + "-" + name;
}

TEST(CliSynthFormats, HoldTheHistoryThatWasFound) {
  for (const char* format : {"hist", "jsonl", "plume", "dbcop", "elle", "isopredict"}) {
    const Ran made = run_isoscope(std::string("synth --allow pc --forbid si --to ") + format);
    EXPECT_EQ(made.exit_code, 1) << format << made.err;
    // A trace of isopredict names no values, but writers; all of them read back as the same facts.
    EXPECT_EQ(run_isoscope("check - --level pc", made.out).exit_code, 0) << format;
    EXPECT_EQ(run_isoscope("check - --level si", made.out).exit_code, 1) << format;
  }
  // Without initial values there is a place for a history only if nobody reads them.
  const Ran refused = run_isoscope("synth --allow pc --forbid si --to awdit-test");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(run_isoscope("synth --allow pc --forbid si --to nosuch").exit_code, 2);
  EXPECT_EQ(run_isoscope("synth --allow pc --forbid si --to cobra").exit_code, 2);
}

TEST(CliSynthFormats, TakeAListAsNumberedFiles) {
  const std::string path = temporary("fork.jsonl");
  const std::string query = "synth --allow cc --forbid pc --irreducible --no-blind-writes";
  EXPECT_EQ(run_isoscope(query + " --to jsonl").exit_code, 2);
  const Ran ran = run_isoscope(query + " --to jsonl -o " + path);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  for (const char* number : {"-1", "-2", "-3"}) {
    const std::string one = temporary(std::string("fork") + number + ".jsonl");
    EXPECT_EQ(run_isoscope("check " + one + " --level cc").exit_code, 0);
    EXPECT_EQ(run_isoscope("check " + one + " --level pc").exit_code, 1);
    EXPECT_TRUE(std::filesystem::remove(one));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const json answer = json::parse(run_isoscope(query + " --to plume --json").out);
  ASSERT_EQ(answer["histories"].size(), 3U);
  EXPECT_EQ(answer["histories"][0]["format"], "plume");
  EXPECT_THAT(answer["histories"][0]["text"], HasSubstr("r(0,"));
}

TEST(CliSynthFormats, RefuseSessionsThatAreNoChains) {
  // One key of one value: only so tells transactions apart, and T1 before both others is no chain.
  const std::string level = temporary("fork.level");
  std::ofstream(level) << "level forked over co\n"
                          "axiom Fork: exists a, b, c: txn. b != c and so(a, b) and so(a, c) and\n"
                          "    not so(b, c) and not so(c, b) and (exists d: txn. so(d, a))\n";
  const std::string query =
      "synth --spec " + level + " --allow forked --txns 3 --keys 1 --sessions partial-order";
  const Ran text = run_isoscope(query);
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("session order besides"), Not(HasSubstr("# expect"))));
  const Ran refused = run_isoscope(query + " --to jsonl");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no chain"));
  EXPECT_EQ(run_isoscope(query + " --to hist").exit_code, 1);
  std::filesystem::remove(level);
}

TEST(CliSynthDot, DrawsEveryHistoryWithItsCycle) {
  const std::string dot = temporary("synth.dot");
  EXPECT_EQ(
      run_isoscope("synth --allow cc --forbid pc --irreducible --no-blind-writes --dot " + dot)
          .exit_code,
      1);
  EXPECT_THAT(slurp(dot), AllOf(HasSubstr("cluster_3"), HasSubstr("rw"), HasSubstr("long fork"),
                                HasSubstr("penwidth")));
  // Nothing is forbidden, and so there is no cycle; the history is drawn all the same.
  EXPECT_EQ(run_isoscope("synth --allow ser@vis --txns 2 --dot " + dot).exit_code, 1);
  EXPECT_THAT(slurp(dot), AllOf(HasSubstr("cluster_1"), HasSubstr("allowed by ser@vis"),
                                Not(HasSubstr("penwidth"))));
  std::filesystem::remove(dot);
}

TEST(CliSynthLists, AreMinimalOrIrreducible) {
  // Of the long forks without blind writes, the one of two sessions has the fewest operations.
  const std::string query = "synth --allow cc --forbid pc --no-blind-writes --json";
  const json fewest = json::parse(run_isoscope(query + " --all").out);
  EXPECT_EQ(fewest["minimality"], "fewest");
  EXPECT_EQ(fewest["histories"].size(), 1U);
  const json irreducible = json::parse(run_isoscope(query + " --irreducible").out);
  EXPECT_EQ(irreducible["minimality"], "irreducible");
  EXPECT_EQ(irreducible["histories"].size(), 3U);
  EXPECT_EQ(run_isoscope("synth --allow cc --forbid pc --all --irreducible").exit_code, 2);
}

TEST(CliSynthSwitches, AreReportedWithEveryAnswer) {
  const std::string switches = " --no-blind-writes --empty-txns --sessions partial-order";
  const auto reported = AllOf(HasSubstr("no blind writes"), HasSubstr("empty transactions allowed"),
                              HasSubstr("sessions are partial orders"));
  for (const char* query :
       {"synth --allow si --forbid ser", "synth --allow ser --forbid si --txns 2",
        "synth --allow si --forbid ser --all", "synth --count --txns 2 --keys 1",
        "synth --allow ser --forbid si --timeout 0.000001", "compare si ser",
        "compare cc@co cc@vis", "compare --matrix cc pc"}) {
    EXPECT_THAT(run_isoscope(query + switches).out, reported) << query;
    const json answer = json::parse(run_isoscope(query + switches + " --json").out);
    EXPECT_EQ(answer["scope"]["blind_writes"], false) << query;
    EXPECT_EQ(answer["scope"]["empty_txns"], true) << query;
    EXPECT_EQ(answer["scope"]["sessions"], "partial-order") << query;
  }
  EXPECT_THAT(run_isoscope("compare si ser").out,
              AllOf(HasSubstr("blind writes allowed"), HasSubstr("no empty transactions"),
                    HasSubstr("sessions are chains")));
}

TEST(CliSynthWitnesses, AreOrdersInJson) {
  const json answer = json::parse(
      run_isoscope("synth --allow si@co --allow update-ser@vis --forbid ser --json").out);
  ASSERT_EQ(answer["witnesses"].size(), 1U);
  const json& witnesses = answer["witnesses"][0];
  ASSERT_EQ(witnesses.size(), 2U);
  EXPECT_EQ(witnesses[0]["level"], "si@co");
  EXPECT_EQ(witnesses[0]["witness"]["co"].size(), 4U);
  EXPECT_EQ(witnesses[0]["witness"]["co"][0], "T0");
  EXPECT_EQ(witnesses[1]["witness"]["ar"].size(), 4U);
  EXPECT_TRUE(witnesses[1]["witness"]["vis"].is_array());
}

TEST(CliSynthTimeout, SaysHowFarTheSearchCame) {
  const Ran ran = run_isoscope("synth --allow ser --forbid si --most-txns 40 --timeout 0.7");
  EXPECT_EQ(ran.exit_code, 3) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("unknown"), HasSubstr("there is none up to"),
                             HasSubstr("searched last")));
  const json answer = json::parse(
      run_isoscope("synth --allow ser --forbid si --most-txns 40 --timeout 0.7 --json").out);
  EXPECT_EQ(answer["verdict"], "unknown");
  const int excluded = answer["excluded_txns"];
  EXPECT_GE(excluded, 1);
  EXPECT_EQ(answer["scope"]["txns"], excluded + 1);
  // No transaction at all can be searched through in no time, and both directions say so.
  const Ran compared = run_isoscope("compare ser si --no-proof --most-txns 40 --timeout 0.7");
  EXPECT_EQ(compared.exit_code, 3);
  EXPECT_THAT(compared.out, AllOf(HasSubstr("unknown"), HasSubstr("write skew")));
}

TEST(CliSynthScopes, AreRefusedWhereTheyMakeNoSense) {
  for (const char* query :
       {"synth --allow si --forbid ser --txns 0", "synth --allow si --forbid ser --txns -3",
        "synth --allow si --forbid ser --txns many", "synth --allow si --forbid ser --txns 1000",
        "synth --allow si --forbid ser --keys 1000", "synth --allow si --forbid ser --most-txns 99",
        "synth --allow si --forbid ser --txns 99999999999999999999",
        "synth --allow si --forbid ser --txns 3 --most-txns 4",
        "synth --allow rc --forbid ra --txns 40 --keys 40",  // ordered reads: 40 * 41 places
        "synth --allow rc --forbid ra --txns 40 --keys 2 --ops 2000000000",
        "synth --allow si --forbid ser --txns 2 --values 2000000000",
        "synth --count --txns 30 --keys 30", "synth --count --txns 2 --minimal",
        "synth --count --txns 2 --dot x.dot", "synth --allow si --forbid ser --sessions trees",
        "compare si ser --txns 1000", "compare si ser --txns 2 --most-txns 3",
        "compare --matrix si ser --most-txns 99"}) {
    const Ran ran = run_isoscope(query);
    EXPECT_EQ(ran.exit_code, 2) << query << ran.out;
    EXPECT_EQ(ran.out, "") << query;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("error:"), Not(HasSubstr("internal")))) << query;
  }
}

TEST(CliSynthScopes, MayBeLargerThanNeeded) {
  EXPECT_EQ(run_isoscope("synth --allow si --forbid ser --txns 2 --values 1000").exit_code, 1);
  EXPECT_EQ(run_isoscope("synth --allow si --forbid ser --txns 2 --ops 1000").exit_code, 1);
  EXPECT_EQ(run_isoscope("synth --allow si --forbid ser --ops 1000").exit_code, 1);
  EXPECT_EQ(run_isoscope("compare rc ra --txns 40 --keys 40").exit_code, 0);
}

TEST(CliCompare, SaysWhereAProofIsVacuous) {
  const std::string level = temporary("nothing.level");
  std::ofstream(level) << "level mute over co\n"
                          "axiom Mute: forall t, u: txn. wr(t, u) implies so(u, t)\n";
  const std::string spec = "compare --spec " + level;
  const Ran ran = run_isoscope(spec + " mute ser");
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("mute implies ser: proved"), HasSubstr("vacuous: with mute")));
  const json answer = json::parse(run_isoscope(spec + " mute ser --json").out);
  EXPECT_EQ(answer["forward"]["vacuous"], true);
  EXPECT_THAT(run_isoscope(spec + " --matrix mute ser").out, HasSubstr("vacuous"));
  EXPECT_THAT(run_isoscope("compare ser si").out, Not(HasSubstr("vacuous")));
  std::filesystem::remove(level);
}

}  // namespace
}  // namespace isoscope
