// What the program shows on a terminal, and what it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/paths.h"

namespace isoscope {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// What the program writes to a terminal of this kind.
std::string on_terminal(const std::string& terminal, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), isoscope_binary());
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = 100;
  int terminal_end = -1;
  const pid_t child = ::forkpty(&terminal_end, nullptr, nullptr, &size);
  if (child == 0) {
    ::setenv("TERM", terminal.c_str(), 1);
    ::unsetenv("NO_COLOR");
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    if (::chdir(source_dir().c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  std::string shown;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(terminal_end, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // EIO when the program has ended
    shown.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal_end);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 127);
  return shown;
}

const std::vector<std::string> kCheck = {"check", "examples/lost-update.hist", "--level", "si"};
// Goes on for minutes.
const std::vector<std::string> kLong = {"synth",     "--allow", "ser",         "--forbid", "si",
                                        "--timeout", "2.5",     "--most-txns", "40"};

TEST(OnATerminal, ColoursAreShownUnlessItIsDumb) {
  EXPECT_THAT(on_terminal("xterm", kCheck), HasSubstr("\x1b["));
  EXPECT_THAT(on_terminal("dumb", kCheck), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal("dumb", kCheck), HasSubstr("lost update"));
}

TEST(OnATerminal, ProgressTellsThePhaseAndTheSeconds) {
  const std::string shown = on_terminal("xterm", kLong);
  EXPECT_THAT(shown, HasSubstr("searching histories of "));
  EXPECT_THAT(shown, HasSubstr("(1 s)"));
  EXPECT_THAT(shown, HasSubstr("(2 s)"));
  // The line is erased before the answer.
  const std::size_t answer = shown.rfind("unknown");
  ASSERT_NE(answer, std::string::npos) << shown;
  EXPECT_GT(shown.rfind("\r\x1b[K"), shown.rfind(" s)"));
}

TEST(OnATerminal, ProgressHasABarAndTheTimeThatIsLeftWhereTheFractionIsKnown) {
  const std::string shown =
      on_terminal("xterm", {"run", "examples/programs/bank.txn", "--store", "weak", "--level", "cc",
                            "--runs", "100000000", "--timeout", "4"});
  EXPECT_THAT(shown, HasSubstr("failed an assertion"));
  EXPECT_THAT(shown, HasSubstr(" [...................."));
  EXPECT_THAT(shown, ContainsRegex("\\] [0-9]+ %"));
}

TEST(OnATerminal, ProgressHasARateWhereOnlyACountIsKnown) {
  const std::string shown = on_terminal("xterm", {"explore", "tests/corpus/programs/tpcc-1.txn",
                                                  "--level", "true", "--timeout", "5"});
  EXPECT_THAT(shown, HasSubstr("histories so far"));
  EXPECT_THAT(shown, HasSubstr(" per second"));
}

TEST(OnATerminal, ProgressIsNotShownInTheFirstSecond) {
  EXPECT_THAT(on_terminal("xterm", kCheck), Not(AnyOf(HasSubstr("\x1b[K"), HasSubstr(" s)"))));
}

TEST(OnATerminal, ProgressIsNotShownIfItIsDumbOrQuietIsAsked) {
  EXPECT_THAT(on_terminal("dumb", kLong), Not(HasSubstr("\x1b")));
  std::vector<std::string> quiet = kLong;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(on_terminal("xterm", quiet), "");
}

}  // namespace
}  // namespace isoscope
