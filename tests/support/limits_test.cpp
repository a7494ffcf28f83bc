// Budgets, the flag that stops a process, and the watch over its memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/budget.h"
#include "support/input.h"
#include "support/stopwatch.h"
#include "support/watch.h"

namespace isoscope {
namespace {

// Runs `body` in a process of its own, because the flag that stops a process stays set. Returns the
// process's exit code, or -1 if a signal ended it.
template <class Body>
int exit_code_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Budget, WithoutALimitOrWithAnAbsurdOneDoesNotExpire) {
  EXPECT_FALSE(Budget().expired_now());
  EXPECT_EQ(Budget().remaining(), std::nullopt);
  EXPECT_FALSE(Budget::seconds(1e10).expired_now());
  EXPECT_FALSE(Budget::seconds(1e300).expired_now());
}

TEST(Budget, EndsWithTheSoonerOfItsLimits) {
  EXPECT_TRUE(Budget::seconds(0).within(100).expired_now());
  EXPECT_TRUE(Budget::seconds(100).within(0).expired_now());
  EXPECT_TRUE(Budget::seconds(1e10).within(0).expired_now());
  Budget whole = Budget::seconds(100);
  EXPECT_FALSE(whole.within(50).expired_now());
}

TEST(Budget, EndsWhenTheProcessIsAskedToStop) {
  EXPECT_EQ(exit_code_of_child([] {
              Budget unlimited;
              if (unlimited.expired()) return 1;
              request_stop(StopReason::Interrupt);
              request_stop(StopReason::Memory);  // the first reason counts
              if (!unlimited.expired() || !Budget::seconds(100).expired_now()) return 2;
              return limit_reached() == "an interrupt" ? 0 : 3;
            }),
            0);
}

TEST(Watch, StopsAProcessThatHoldsTooMuchMemory) {
  EXPECT_EQ(exit_code_of_child([] {
              const std::size_t limit = resident_bytes() + (std::size_t{64} << 20U);
              const Watch watch({.memory_bytes = limit});
              Budget budget = Budget::seconds(20);
              std::vector<std::vector<char>> held;
              while (!budget.expired_now() && held.size() < 1000) {
                held.emplace_back(std::size_t{1} << 20U, 'x');
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              }
              return limit_reached() == "the memory limit" ? 0 : 1;
            }),
            0);
}

TEST(Watch, InterruptsListenersAndThenTakesTheLastResort) {
  EXPECT_EQ(exit_code_of_child([] {
              std::atomic<bool> interrupted = false;
              const StopListener listener([&] { interrupted = true; });
              const Watch watch({.budget = Budget::seconds(0.05),
                                 .grace_seconds = 0.1,
                                 .last_resort = [&](std::string_view limit) {
                                   std::_Exit(interrupted && limit == "the time limit" ? 0 : 1);
                                 }});
              std::this_thread::sleep_for(std::chrono::seconds(20));
              return 2;
            }),
            0);
}

TEST(Input, WaitsForAPipeNoLongerThanTheBudget) {
  const auto path =
      std::filesystem::temp_directory_path() / ("isoscope-pipe-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Stopwatch watch;
  const auto text = read_whole(path.string(), Budget::seconds(0.2));
  std::filesystem::remove(path);
  ASSERT_FALSE(text.ok());
  EXPECT_TRUE(text.error().is_limit);
  EXPECT_LT(watch.seconds(), 10);
}

TEST(Input, ReadsAPipeThatDeliversInPieces) {
  const auto path =
      std::filesystem::temp_directory_path() / ("isoscope-slow-pipe-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    const int pipe = ::open(path.c_str(), O_WRONLY);
    for (const char* piece : {"one\n", "two\nthr", "ee\n"}) {
      EXPECT_GT(::write(pipe, piece, std::char_traits<char>::length(piece)), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    ::close(pipe);
  });
  const auto text = read_whole(path.string(), Budget::seconds(30));
  writer.join();
  std::filesystem::remove(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace isoscope
