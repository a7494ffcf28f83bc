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

std::string example(const std::string& name) {
  return source_dir() + "/examples/programs/" + name + ".txn";
}

TEST(CliRun, RunsSerially) {
  const Ran ran = run_isoscope("run " + example("bank") + " --store serial --seed 3");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr("ok  serial, seed 3: no assertion failed, serializable"));
  EXPECT_EQ(ran.err, "");
}

TEST(CliRun, CountsFailuresOfWeakRunsAndShowsTheFirst) {
  const Ran ran =
      run_isoscope("run " + example("write-skew") + " --store weak --level si --runs 200");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("violated  weak at si, seeds 0 to 199: "),
                    HasSubstr("of 200 runs failed an assertion (first: seed "),
                    HasSubstr("fails: !(committed(alice[1]) && committed(bob[1]))"),
                    HasSubstr("write-skew.txn:13"), HasSubstr("alice[1] committed: a = 50, b = 50"),
                    HasSubstr("r(acct[1]) = 50 from T0"), HasSubstr("not serializable: ")));
  EXPECT_EQ(run_isoscope("run " + example("write-skew") + " --store weak --level ser --runs 200")
                .exit_code,
            0);
}

TEST(CliRun, SpeaksJson) {
  const Ran ran =
      run_isoscope("run " + example("lost-update") + " --store weak --level cc --runs 50 --json");
  EXPECT_EQ(ran.exit_code, 1);
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["command"], "run");
  EXPECT_EQ(answer["verdict"], "violated");
  EXPECT_EQ(answer["runs"], 50);
  EXPECT_GT(answer["failed_assertions"], 0);
  EXPECT_EQ(answer["unserializable"], answer["failed_assertions"]);
  EXPECT_EQ(answer["trace"]["seed"], answer["first_failed"]);
  EXPECT_EQ(answer["assertions"][0]["text"], "alice[1].a != bob[1].a");
  EXPECT_EQ(answer["assertions"][0]["values"]["bob[1]"]["locals"]["a"], 0);
  const Ran checked = run_isoscope("check - --level cc --level si --json",
                                   answer["trace"]["jsonl"].get<std::string>());
  EXPECT_EQ(json::parse(checked.out)["levels"][0]["verdict"], "consistent");
  EXPECT_EQ(json::parse(checked.out)["levels"][1]["verdict"], "violated");
}

TEST(CliRun, TellsTheTransactionOfAFailedAssertion) {
  const Ran ran = run_isoscope("run - --store serial --color never",
                               "session s { { a := read(x)\n assert(a == 1) } }\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("fails: a == 1  -:2  in s[1]"), HasSubstr("a = 0")));
}

TEST(CliRun, WritesTracesThatSatisfyTheLevelAndReplay) {
  for (const std::string format : {"jsonl", "hist", "isopredict"}) {
    for (const std::string level : {"rc", "cc", "psi", "si"}) {
      const TempFile trace("." + format);
      run_isoscope("run " + example("on-call") + " --store weak --level " + level +
                   " --seed 5 --trace " + trace.path() + " --to " + format);
      EXPECT_EQ(run_isoscope("check " + trace.path() + " --level " + level).exit_code, 0)
          << format << " " << level << "\n"
          << slurp(trace.path());
      const Ran replayed = run_isoscope("run " + example("on-call") +
                                        " --store replay --json --history " + trace.path());
      EXPECT_THAT(json::parse(replayed.out)["divergences"], ::testing::IsEmpty())
          << format << " " << level << "\n"
          << slurp(trace.path()) << replayed.out;
    }
  }
}

TEST(CliRun, TellsWhereAReplayDiverges) {
  const TempFile history(".hist");
  std::ofstream(history.path()) << "alice: [r(counter,0) w(counter,1)]\n"
                                   "bob: [r(counter,0) w(counter,1)]\n";
  const std::string command =
      "run " + example("lost-update") + " --store replay --history " + history.path();
  const Ran free = run_isoscope(command);
  EXPECT_EQ(free.exit_code, 1);  // it follows, and the update is lost
  EXPECT_THAT(free.out, HasSubstr("violated  replay: an assertion failed, unserializable"));
  const Ran si = run_isoscope(command + " --level si");
  EXPECT_EQ(si.exit_code, 1);
  EXPECT_THAT(si.out, AllOf(HasSubstr("diverged  replay at si: 1 divergence"),
                            HasSubstr("bob[1]: expected a commit, but the level forbids it")));
  const json answer = json::parse(run_isoscope(command + " --level si --json").out);
  EXPECT_EQ(answer["verdict"], "diverged");
  EXPECT_EQ(answer["divergences"][0]["session"], "bob");
  EXPECT_EQ(answer["divergences"][0]["kind"], "commit");
}

TEST(CliRun, RefusesBadInput) {
  const auto complaint = [](const std::string& arguments, const std::string& input = {}) {
    const Ran ran = run_isoscope("run " + arguments, input);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
    return ran.err;
  };
  const std::string bank = example("bank");
  EXPECT_THAT(complaint(bank + " --store weak"), HasSubstr("--store weak needs a level"));
  EXPECT_THAT(complaint(bank + " --store weak --level nope"), HasSubstr("nope"));
  EXPECT_THAT(complaint(bank + " --store serial --level cc"), HasSubstr("--store serial is"));
  EXPECT_THAT(complaint(bank + " --store replay"), HasSubstr("needs a history"));
  EXPECT_THAT(complaint(bank + " --store serial --history x"), HasSubstr("only --store replay"));
  EXPECT_THAT(complaint(bank + " --store other"), HasSubstr("other"));
  EXPECT_THAT(complaint(bank + " --store serial --runs 0"), HasSubstr("--runs"));
  EXPECT_THAT(complaint("nothing.txn --store serial"), HasSubstr("nothing.txn"));
  EXPECT_THAT(complaint("- --store serial", "session s { { a := reed(x) } }"), HasSubstr("1:"));
  EXPECT_THAT(complaint("- --store weak --level cc", "session s {\n @nope { a := 1 } }"),
              HasSubstr("2:"));
  EXPECT_THAT(complaint(bank + " --store replay --history -", "a: [r(x,0)] b: [] c: []"),
              HasSubstr("3 sessions"));
  EXPECT_THAT(
      complaint("- --store serial", "session s { { a := 9223372036854775807\n b := a + 1 } }"),
      AllOf(HasSubstr("<stdin>:2:"), HasSubstr("in s[1]")));
}

TEST(CliRun, SaysThatTheTimeRanOut) {
  const Ran ran =
      run_isoscope("run - --store weak --level ser --runs 1000000000 --timeout 0.2 --json",
                   "session s { { a := read(x) } }");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(json::parse(ran.out)["verdict"], "unknown");
  EXPECT_GT(json::parse(ran.out)["runs"], 0);
}

}  // namespace
}  // namespace isoscope
