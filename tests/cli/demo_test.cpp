// isoscope demo: a walk that needs nothing and leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class Demo : public testing::Test {
 protected:
  Demo() {
    fs::create_directories(folder_ + "/here");
    fs::create_directories(folder_ + "/tmp");
  }
  ~Demo() override { fs::remove_all(folder_); }
  Ran run(const std::string& arguments) {
    return run_isoscope_in(folder_ + "/here", "demo " + arguments, {},
                           "export TMPDIR=" + folder_ + "/tmp;");
  }
  const std::string folder_ =
      (fs::temp_directory_path() / ("isoscope-demo-test-" + std::to_string(::getpid()))).string();
};

TEST_F(Demo, ShowsAPredictionThatHappensAndAnAnomalyWithItsRepair) {
  const Ran ran = run("");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "");
  for (const char* part : {"session alice { deposit(20) }", "$ isoscope check observed.jsonl",
                           "validated", "write skew", "repairs that make pg-rr enough"})
    EXPECT_THAT(ran.out, HasSubstr(part));
}

TEST_F(Demo, TellsEachCommandWithItsExitCode) {
  const json answer = json::parse(run("--json").out);
  EXPECT_EQ(answer["verdict"], "shown");
  ASSERT_EQ(answer["steps"].size(), 5U);
  std::vector<int> codes;
  for (const json& step : answer["steps"]) codes.push_back(step["exit_code"].get<int>());
  EXPECT_THAT(codes, testing::ElementsAre(0, 0, 1, 1, 1));
}

TEST_F(Demo, LeavesNoFileBehindAlsoWhenItsTimeIsOver) {
  EXPECT_EQ(run("--timeout 0.01").exit_code, 3);
  EXPECT_EQ(run("-o walk.txt").exit_code, 0);
  EXPECT_TRUE(fs::is_empty(folder_ + "/tmp"));
  EXPECT_TRUE(fs::exists(folder_ + "/here/walk.txt"));
}

}  // namespace
}  // namespace isoscope
