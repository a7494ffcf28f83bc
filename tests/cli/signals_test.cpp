// SIGINT and SIGTERM end every command like a time limit: what was found is delivered, the exit
// code is 3, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "cli/spawned_isoscope.h"

namespace isoscope {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::IsSubsetOf;

constexpr double kBeforeSignal = 0.5;
constexpr double kAtMost = 10;

std::string endless_program() {
  std::string text;
  for (int s = 0; s < 8; ++s) {
    const std::string n = std::to_string(s);
    text += "session s" + n + " { { a := read(x); b := read(y); write(x, " + n + "); write(y, ";
    text += n + ") } }\n";
  }
  return text;
}

struct LongCommand {
  std::string name;
  std::vector<std::string> arguments;
  std::set<std::string> leaves = {};  // files that it may leave besides what it was given
  bool prints_json = true;
};

// Each goes on for minutes.
std::vector<LongCommand> long_commands() {
  const std::string tpcc = source_dir() + "/examples/audit/tpcc.sql";
  return {
      {"check", {"check", "hard.jsonl", "--level", "hard", "--spec", "hard.level", "--json"}},
      {"check_minimize",
       {"check", "violated.jsonl", "--level", "ser", "--explain", "all", "--most", "1000000000",
        "--minimize", "small.hist", "--dot", "small.dot", "--json"},
       {"small.hist", "small.dot"}},
      {"predict", {"predict", "observed.jsonl", "--level", "rc", "--all", "100000", "--json"}},
      {"audit", {"audit", tpcc, "--level", "ec", "--cycle", "6", "--all", "--json"}},
      {"audit_prove", {"audit", tpcc, "--level", "psi", "--prove", "--advise", "--json"}},
      {"synth", {"synth", "--allow", "ser", "--forbid", "si", "--most-txns", "40", "--json"}},
      {"synth_count", {"synth", "--count", "--txns", "7", "--keys", "7", "--json"}},
      {"compare", {"compare", "ser", "si", "--no-proof", "--most-txns", "40", "--json"}},
      {"compare_matrix",
       {"compare", "--matrix", "rc", "ra", "cc", "pc", "psi", "si", "ser", "--no-proof",
        "--most-txns", "40", "--json"}},
      {"explore",
       {"explore", "endless.txn", "--level", "rc", "--histories", "all.jsonl", "--json"},
       {"all.jsonl"}},
      {"explore_outcomes",
       {"explore", "endless.txn", "--level", "si", "--outcomes", "--threads", "2", "--json"}},
      {"explore_weakest", {"explore", "endless.txn", "--weakest", "--json"}},
      {"run",
       {"run", "endless.txn", "--store", "weak", "--level", "ser", "--runs", "1000000000",
        "--trace", "trace.jsonl", "--json"},
       {"trace.jsonl"}},
      {"generate_history",
       {"generate", "history", "--txns", "1000000000", "-o", "new.jsonl", "--json"}},
      // These read from a pipe that stays silent.
      {"check_pipe", {"check", "-", "--level", "si", "--json"}},
      {"predict_pipe", {"predict", "-", "--level", "cc", "--json"}},
      {"audit_pipe", {"audit", "-", "--level", "cc", "--json"}},
      {"explore_pipe", {"explore", "-", "--level", "cc", "--json"}},
      {"run_pipe", {"run", "-", "--store", "serial", "--json"}},
      {"synth_pipe", {"synth", "--allow", "si", "--forbid", "ser", "--spec", "-", "--json"}},
      {"compare_pipe", {"compare", "si", "ser", "--spec", "-", "--json"}},
      {"levels_pipe", {"levels", "--spec", "-", "--json"}},
      {"stats_pipe", {"stats", "-", "--json"}},
      {"convert_pipe", {"convert", "-", "--to", "jsonl", "-o", "new.jsonl", "--json"}},
  };
}

void add_inputs(const TempFolder& folder) {
  folder.add("endless.txn", endless_program());
  const auto make = [&](const std::string& arguments) {
    const Ran made = run_isoscope_in(folder.path(), arguments);
    ASSERT_EQ(made.exit_code, 0) << arguments << made.err;
  };
  // A level that only the general engine decides, and a history that is too long for it.
  folder.add("hard.level",
             "level hard over co\naxiom A: forall x: key, t1, t2, t3: txn.\n"
             "    wr[x](t1, t3) and writes(t2, x) and t1 != t2 and co(t2, t3)  implies  "
             "(co(t2, t1) or wr(t2, t3))\n");
  make("generate history --level ser --txns 2000 --keys 40 --seed 1 -o hard.jsonl");
  make("generate history --level cc --txns 2000 --keys 40 --seed 1 -o violated.jsonl");
  make("generate history --level ser --txns 60 --keys 10 --sessions 6 --seed 1 -o observed.jsonl");
}

class CliSignals : public testing::TestWithParam<LongCommand> {};

TEST_P(CliSignals, EndTheCommandLikeATimeLimit) {
  const TempFolder folder;
  add_inputs(folder);
  std::set<std::string> expected = folder.names();
  const LongCommand& command = GetParam();
  expected.insert(command.leaves.begin(), command.leaves.end());
  expected.insert({"stdout", "stderr"});
  for (const int signal : {SIGINT, SIGTERM}) {
    SpawnedIsoscope isoscope(folder, command.arguments);
    ASSERT_FALSE(isoscope.wait(kBeforeSignal))
        << "it ended by itself: " << folder.text_of("stdout") << folder.text_of("stderr");
    isoscope.send(signal);
    const auto status = isoscope.wait(kAtMost);
    ASSERT_TRUE(status) << "it does not end";
    ASSERT_TRUE(WIFEXITED(*status)) << WTERMSIG(*status);
    EXPECT_EQ(WEXITSTATUS(*status), 3) << folder.text_of("stdout") << folder.text_of("stderr");
    const std::string out = folder.text_of("stdout");
    ASSERT_TRUE(json::accept(out)) << out;
    EXPECT_EQ(json::parse(out)["verdict"], "unknown");
    EXPECT_THAT(out, testing::HasSubstr("interrupt"));
    EXPECT_THAT(out, testing::Not(testing::HasSubstr("did not stop by itself")));
    EXPECT_THAT(folder.names(), IsSubsetOf(expected));
  }
  if (command.leaves.contains("all.jsonl")) {
    std::istringstream lines(folder.text_of("all.jsonl"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) ASSERT_TRUE(json::accept(line));
    EXPECT_EQ(count, json::parse(folder.text_of("stdout"))["histories"]);
    EXPECT_GT(count, 0U);
  }
  for (const char* history : {"trace.jsonl", "small.hist"}) {
    if (folder.names().contains(history)) {
      EXPECT_EQ(run_isoscope_in(folder.path(), "stats " + std::string(history)).exit_code, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, CliSignals, testing::ValuesIn(long_commands()),
                         [](const auto& test) { return test.param.name; });

// Whoever sends two signals does not want to wait.
TEST(CliSecondSignal, EndsTheCommandAtOnce) {
  const TempFolder folder;
  SpawnedIsoscope isoscope(folder,
                           {"generate", "history", "--txns", "1000000000", "-o", "new.jsonl"});
  ASSERT_FALSE(isoscope.wait(kBeforeSignal));
  isoscope.send(SIGINT);
  isoscope.send(SIGTERM);
  const auto status = isoscope.wait(kAtMost);
  ASSERT_TRUE(status);
  EXPECT_TRUE((WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM) ||
              (WIFEXITED(*status) && WEXITSTATUS(*status) == 3));
  EXPECT_THAT(folder.names(), IsSubsetOf({"stdout", "stderr"}));
}

}  // namespace
}  // namespace isoscope
