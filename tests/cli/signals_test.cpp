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
    text += "session s" + n + " { { a := read(x); b := read(y); write(x, a * 8 + b + " + n;
    text += "); write(y, b * 8 + a + " + n + ") } }\n";
  }
  return text + "assert final(x) >= 0\nassert final(y) >= 0\n";
}

// Every transaction updates the same keys: nothing can be predicted, which takes long to see.
std::string updates() {
  std::string text = "init x=0 y=0 z=0\n";
  for (int t = 0; t < 60; ++t) {
    const std::string old = std::to_string(t);
    const std::string next = std::to_string(t + 1);
    text += "s" + std::to_string(t % 8) + ": [r(x," + old + ") r(y," + old + ") r(z," + old +
            ") w(x," + next + ") w(y," + next + ") w(z," + next + ")]\n";
  }
  return text;
}

struct LongCommand {
  std::string name;
  std::vector<std::string> arguments;
  std::set<std::string> leaves = {};  // files that it may leave besides what it was given
  // What was found before stays found.
  int exit_code = 3;
  std::string verdict = "unknown";
  double before_signal = kBeforeSignal;  // seconds; enough to find it on a busy machine

  friend void PrintTo(const LongCommand& command, std::ostream* out) { *out << command.name; }
};

// Each goes on for minutes.
std::vector<LongCommand> long_commands() {
  const std::string tpcc = source_dir() + "/examples/audit/tpcc.sql";
  return {
      {"check", {"check", "serial.jsonl", "--level", "path", "--spec", "path.level"}},
      {"predict",
       {"predict", "updates.hist", "--level", "si", "--predicted", "new.jsonl"},
       {"new.jsonl"}},
      {"audit", {"audit", tpcc, "--level", "psi", "--prove", "--advise"}},
      {"audit_all",
       {"audit", tpcc, "--level", "ec", "--cycle", "6", "--all", "--history", "run.hist"},
       {"run.hist"},
       1,
       "anomaly",
       4},
      {"synth", {"synth", "--allow", "ser", "--forbid", "si", "--most-txns", "40"}},
      {"synth_count", {"synth", "--count", "--txns", "5", "--keys", "5"}},
      {"compare", {"compare", "ser", "si", "--no-proof", "--most-txns", "40"}},
      {"compare_matrix",
       {"compare", "--matrix", "cc", "pc", "psi", "si", "ser", "--no-proof", "--most-txns", "30"}},
      {"explore",
       {"explore", "endless.txn", "--level", "rc", "--histories", "all.jsonl"},
       {"all.jsonl"}},
      {"explore_outcomes",
       {"explore", "endless.txn", "--level", "si", "--outcomes", "--threads", "2"}},
      {"explore_weakest", {"explore", "endless.txn", "--weakest"}},
      {"run",
       {"run", "endless.txn", "--store", "weak", "--level", "ser", "--runs", "1000000000",
        "--trace", "trace.jsonl"},
       {"trace.jsonl"}},
      {"generate", {"generate", "history", "--txns", "1000000000", "-o", "new.jsonl"}},
      // These read from a pipe that stays silent.
      {"check_pipe", {"check", "-", "--level", "si"}},
      {"predict_pipe", {"predict", "-", "--level", "cc"}},
      {"audit_pipe", {"audit", "-", "--level", "cc"}},
      {"explore_pipe", {"explore", "-", "--level", "cc"}},
      {"run_pipe", {"run", "-", "--store", "serial"}},
      {"synth_pipe", {"synth", "--allow", "si", "--forbid", "ser", "--spec", "-"}},
      {"compare_pipe", {"compare", "si", "ser", "--spec", "-"}},
      {"levels_pipe", {"levels", "--spec", "-"}},
      {"stats_pipe", {"stats", "-"}},
      {"convert_pipe", {"convert", "-", "--to", "jsonl", "-o", "new.jsonl"}},
  };
}

void add_inputs(const TempFolder& folder) {
  folder.add("endless.txn", endless_program());
  folder.add("path.level",
             "level path over co\naxiom A: forall a, b, c, d, e: txn.\n"
             "    co(a, b) and co(b, c) and co(c, d) and co(d, e) implies co(a, e)\n");
  const auto make = [&](const std::string& arguments) {
    const Ran made = run_isoscope_in(folder.path(), "generate history --seed 1 " + arguments);
    ASSERT_EQ(made.exit_code, 0) << arguments << made.err;
  };
  make("--level ser --txns 1000 --keys 10 -o serial.jsonl");
  make("--level cc --txns 2000 --keys 40 -o violated.jsonl");
  folder.add("updates.hist", updates());
}

// The end of an output, which may be long.
std::string tail(const std::string& text) {
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 500));
}

class CliSignals : public testing::TestWithParam<LongCommand> {};

TEST_P(CliSignals, EndTheCommandLikeATimeLimit) {
  const TempFolder folder;
  add_inputs(folder);
  std::set<std::string> expected = folder.names();
  const LongCommand& command = GetParam();
  expected.insert(command.leaves.begin(), command.leaves.end());
  expected.insert({"stdout", "stderr"});
  std::vector<std::string> arguments = command.arguments;
  arguments.emplace_back("--json");
  for (const int signal : {SIGINT, SIGTERM}) {
    SpawnedIsoscope isoscope(folder, arguments);
    ASSERT_FALSE(isoscope.wait(command.before_signal))
        << "it ended by itself: " << tail(folder.text_of("stdout") + folder.text_of("stderr"));
    isoscope.send(signal);
    const auto status = isoscope.wait(kAtMost);
    ASSERT_TRUE(status) << "it does not end";
    ASSERT_TRUE(WIFEXITED(*status)) << "it ended by signal " << WTERMSIG(*status);
    const std::string out = folder.text_of("stdout");
    EXPECT_EQ(WEXITSTATUS(*status), command.exit_code) << tail(out + folder.text_of("stderr"));
    ASSERT_TRUE(json::accept(out)) << tail(out);
    EXPECT_EQ(json::parse(out)["verdict"], command.verdict);
    EXPECT_TRUE(out.find("did not stop by itself") == std::string::npos) << tail(out);
    EXPECT_THAT(folder.names(), IsSubsetOf(expected));
  }
  // What it left is valid.
  if (command.leaves.contains("all.jsonl")) {
    std::istringstream lines(folder.text_of("all.jsonl"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) ASSERT_TRUE(json::accept(line));
    EXPECT_EQ(count, json::parse(folder.text_of("stdout"))["histories"]);
    EXPECT_GT(count, 0U);
  }
  for (const char* history : {"trace.jsonl", "run.hist", "new.jsonl"}) {
    if (!folder.names().contains(history)) continue;
    EXPECT_EQ(run_isoscope_in(folder.path(), "stats " + std::string(history)).exit_code, 0);
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
  if (WIFSIGNALED(*status)) {
    EXPECT_THAT(WTERMSIG(*status), AnyOf(SIGINT, SIGTERM));
  } else {  // it was faster
    EXPECT_EQ(WEXITSTATUS(*status), 3);
  }
  EXPECT_THAT(folder.names(), IsSubsetOf({"stdout", "stderr"}));
}

}  // namespace
}  // namespace isoscope
