// The limits of the command line: --timeout, --memory, pipes that do not deliver.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(CliTimeout, MustBeAPositiveNumber) {
  const std::string check = "check " + source_dir() + "/examples/lost-update.hist --level si ";
  for (const char* bad : {"nan", "0", "-1", "inf", "1e400", "soon", "1s", "''"}) {
    const Ran ran = run_isoscope(check + "--timeout " + bad);
    EXPECT_EQ(ran.exit_code, 2) << bad;
    EXPECT_THAT(ran.err, HasSubstr("--timeout")) << bad;
  }
  // A limit beyond all clocks is no limit.
  for (const char* good : {"1e10", "1e300", "0.5", "30"})
    EXPECT_EQ(run_isoscope(check + "--timeout " + good).exit_code, 1) << good;
}

TEST(CliMemory, MustBeAnAmount) {
  const std::string check = "check " + source_dir() + "/examples/lost-update.hist --level si ";
  for (const char* bad : {"nan", "0", "-1", "much", "5X", "1e30", "G"})
    EXPECT_EQ(run_isoscope(check + "--memory " + bad).exit_code, 2) << bad;
  for (const char* good : {"1G", "1.5GiB", "900m", "1000000000"})
    EXPECT_EQ(run_isoscope(check + "--memory " + good).exit_code, 1) << good;
}

TEST(CliMemory, EndsInUnknownWithTheLimitAndThePhase) {
  const TempFile history(".jsonl");
  ASSERT_EQ(run_isoscope("generate history --level si --txns 300000 --seed 1 -o " + history.path())
                .exit_code,
            0);
  const Ran text = run_isoscope("check " + history.path() + " --level ser --memory 60M");
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.out, HasSubstr("the memory limit"));
#ifndef __SANITIZE_ADDRESS__  // whose own memory is several times the limit before it is asked for
  EXPECT_THAT(text.out, Not(HasSubstr("did not stop")));
#endif
  const Ran ran = run_isoscope("check " + history.path() + " --level ser --memory 60M --json");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(json::parse(ran.out)["verdict"], "unknown");
  EXPECT_THAT(ran.out, HasSubstr("the memory limit"));
}

TEST(CliTimeout, HoldsWhileAPipeDeliversNothing) {
  const TempFile pipe(".pipe");
  ASSERT_EQ(::mkfifo(pipe.path().c_str(), 0600), 0);
  for (const char* command :
       {"check PIPE --level si", "stats PIPE", "convert PIPE --to hist", "predict PIPE --level cc",
        "explore PIPE --level cc", "run PIPE --store serial", "audit PIPE --level si",
        "levels --spec PIPE", "synth --allow cc --forbid si --spec PIPE",
        "compare cc si --spec PIPE"}) {
    std::string words = command;
    words.replace(words.find("PIPE"), 4, pipe.path());
    const Ran ran = run_isoscope(words + " --timeout 0.2");
    EXPECT_EQ(ran.exit_code, 3) << command << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("unknown: the time limit was reached while reading")) << command;
    if (words.starts_with("convert")) continue;  // its JSON needs -o FILE for the history
    const Ran as_json = run_isoscope(words + " --timeout 0.2 --json");
    EXPECT_EQ(json::parse(as_json.out)["verdict"], "unknown") << command;
  }
}

TEST(CliErrors, AreOneObjectUnderJson) {
  const Ran missing = run_isoscope("check /nonexistent --level si --json");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(json::parse(missing.out)["error"]["where"], "/nonexistent");
  const Ran unknown = run_isoscope("chekc --json");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(std::string(json::parse(unknown.out)["error"]["hint"]), HasSubstr("check"));
  const Ran usage = run_isoscope("check --json");
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_THAT(std::string(json::parse(usage.out)["error"]["what"]), HasSubstr("HISTORY"));
}

}  // namespace
}  // namespace isoscope
