// `isoscope explore` as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kBank = source_dir() + "/examples/programs/bank.txn";

// Too many histories for any time limit.
std::string endless_program() {
  std::string text;
  for (int s = 0; s < 8; ++s) {
    const std::string n = std::to_string(s);
    text += "session s" + n + " { { a := read(x); b := read(y); write(x, " + n + "); write(y, " +
            n + ") } { c := read(y); write(x, c) } }\n";
  }
  return text;
}

TEST(CliExplore, ExitsWithTheAnswer) {
  EXPECT_EQ(run_isoscope("explore " + kBank + " --level si").exit_code, 0);
  EXPECT_EQ(run_isoscope("explore " + kBank + " --level cc").exit_code, 1);
  EXPECT_EQ(run_isoscope("explore " + kBank + " --level nonsense").exit_code, 2);
  EXPECT_EQ(run_isoscope("explore " + kBank).exit_code, 2);
  EXPECT_EQ(run_isoscope("explore no-such-file.txn --level si").exit_code, 2);
  EXPECT_EQ(run_isoscope("explore - --level rc --timeout 0.1", endless_program()).exit_code, 3);
  EXPECT_EQ(run_isoscope("explore " + kBank + " --weakest").exit_code, 0);
}

TEST(CliExplore, ShowsWhatWasReadAndWhatIsWrongWithIt) {
  const Ran ran = run_isoscope("explore " + kBank + " --level cc --violations 1 --color never");
  EXPECT_THAT(ran.out, HasSubstr("at cc: 4 histories, 2 violate an assertion"));
  EXPECT_THAT(ran.out, HasSubstr("r(acct) = 100 from T0  w(acct, 40)"));
  EXPECT_THAT(ran.out, HasSubstr("in a serial run in this order, acct is 40 from alice[1]"));
  EXPECT_THAT(ran.out, HasSubstr("not serializable:"));
  EXPECT_THAT(ran.out, HasSubstr("and 1 more"));
  EXPECT_EQ(ran.err, "");
}

TEST(CliExplore, SpeaksJson) {
  const json answer = json::parse(run_isoscope("explore " + kBank + " --level cc --json").out);
  EXPECT_EQ(answer["tool"], "isoscope");
  EXPECT_EQ(answer["command"], "explore");
  EXPECT_EQ(answer["verdict"], "violated");
  EXPECT_EQ(answer["level"], "cc");
  EXPECT_EQ(answer["histories"], 4);
  EXPECT_EQ(answer["violating"], 2);
  EXPECT_EQ(answer["end_states"], 4);
  EXPECT_EQ(answer["blocked"], 0);
  ASSERT_EQ(answer["violations"].size(), 2U);
  const json& violation = answer["violations"][0];
  EXPECT_EQ(violation["failed"][0]["line"], 14);
  EXPECT_EQ(violation["reads"][0]["from"], "T0");
  EXPECT_EQ(violation["reads"][0]["value"], 100);
  EXPECT_EQ(violation["transactions"].size(), 3U);
  const json unknown =
      json::parse(run_isoscope("explore - --level rc --timeout 0.1 --json", endless_program()).out);
  EXPECT_EQ(unknown["verdict"], "unknown");
  EXPECT_GT(unknown["histories"], 0);
}

TEST(CliExplore, GivesTheSameCountsWithSeveralThreadsAndAlgorithms) {
  const std::string program = source_dir() + "/examples/programs/on-call.txn";
  for (const char* level : {"rc", "cc", "si"}) {
    const std::string base = "explore " + program + " --json --level " + level;
    const json one = json::parse(run_isoscope(base).out);
    for (const char* other : {" --threads 2", " --threads 0", " --algorithm txn", " --algorithm ce",
                              " --algorithm dfs", " --base true"}) {
      const json same = json::parse(run_isoscope(base + other).out);
      EXPECT_EQ(same["histories"], one["histories"]) << level << other;
      EXPECT_EQ(same["violating"], one["violating"]) << level << other;
    }
  }
}

TEST(CliExplore, StreamsEveryHistoryOnce) {
  const TempFile file(".jsonl");
  (void)run_isoscope("explore " + kBank + " --level cc --histories " + file.path());
  std::istringstream lines(slurp(file.path()));
  std::set<std::string> distinct;
  int violating = 0;
  for (std::string line; std::getline(lines, line);) {
    const json history = json::parse(line);
    distinct.insert(history["transactions"].dump());
    violating += history["violates"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(distinct.size(), 4U);
  EXPECT_EQ(violating, 2);
}

TEST(CliExplore, LeavesWholeLinesWhenTheTimeIsOver) {
  const TempFile file(".jsonl");
  const Ran ran = run_isoscope(
      "explore - --level rc --timeout 0.2 --threads 2 --histories " + file.path() + " --json",
      endless_program());
  EXPECT_EQ(ran.exit_code, 3);
  const std::string text = slurp(file.path());
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    ASSERT_TRUE(json::accept(line)) << line;
  EXPECT_GT(count, 0U);
}

TEST(CliExplore, DrawsTheFirstViolation) {
  const TempFile file(".dot");
  (void)run_isoscope("explore " + kBank + " --level cc --assert-only --dot " + file.path());
  const std::string dot = slurp(file.path());
  EXPECT_THAT(dot, HasSubstr("digraph"));
  EXPECT_THAT(dot, HasSubstr("alice[1]"));
  EXPECT_THAT(dot, HasSubstr("rw acct"));
}

TEST(CliExplore, PointsAtWhatIsWrongWithAProgram) {
  const Ran syntax = run_isoscope("explore - --level cc", "session a {\n  { x := raed(y) }\n}\n");
  EXPECT_EQ(syntax.exit_code, 2);
  EXPECT_THAT(syntax.err, HasSubstr("<stdin>:2:"));
  const Ran level = run_isoscope("explore - --level cc",
                                 "session a { { x := read(y) } }\nsession b { @cd { } }\n");
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_THAT(level.err, HasSubstr("<stdin>:2:14"));
  const Ran overflow =
      run_isoscope("explore - --level cc",
                   "session a { { x := read(y)\n  write(y, (x + 2) * 9223372036854775807) } }\n");
  EXPECT_EQ(overflow.exit_code, 2);
  EXPECT_THAT(overflow.err, HasSubstr("<stdin>:2:"));
  const Ran base = run_isoscope("explore " + kBank + " --level rc --base cc");
  EXPECT_EQ(base.exit_code, 2);
  EXPECT_THAT(base.err, HasSubstr("lose histories"));
}

}  // namespace
}  // namespace isoscope
