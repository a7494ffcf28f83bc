// Every command keeps its time limit in every phase, and says so.
#include "limits/hard_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

// One second is asked for; the rest is for machines that are busy with other tests.
constexpr double kMostSeconds = 10;

std::vector<HardInput> all_inputs() {
  std::vector<HardInput> all;
  for (const auto& table : {history_inputs(), program_inputs(), sql_inputs(), level_inputs()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

// The row's arguments with the paths of its files, which are written now.
class Prepared {
 public:
  explicit Prepared(const HardInput& input) : arguments_(input.arguments) {
    for (std::size_t i = 0; i < input.files.size(); ++i) {
      files_.push_back(std::make_unique<TempFile>(input.files[i].ending));
      std::ofstream(files_.back()->path(), std::ios::binary) << input.files[i].content();
      replace_all("{" + std::to_string(i) + "}", files_.back()->path());
    }
  }
  const std::string& arguments() const { return arguments_; }

 private:
  void replace_all(const std::string& what, const std::string& by) {
    for (std::size_t at = arguments_.find(what); at != std::string::npos;
         at = arguments_.find(what, at + by.size()))
      arguments_.replace(at, what.size(), by);
  }

  std::vector<std::unique_ptr<TempFile>> files_;
  std::string arguments_;
};

class HardInputs : public testing::TestWithParam<HardInput> {};

TEST_P(HardInputs, EndWithUnknownSoonAfterTheTimeLimit) {
#ifdef ISOSCOPE_IS_SLOW_BUILD
  GTEST_SKIP() << "only release builds are held to the clock";
#endif
  const Prepared prepared(GetParam());
  for (const std::string ending : {"", " --json"}) {
    const auto start = std::chrono::steady_clock::now();
    const Ran ran = run_isoscope(prepared.arguments() + " --timeout 1" + ending);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const std::string all = (ran.out + ran.err).substr(0, 2000);
    EXPECT_EQ(ran.exit_code, GetParam().exit_code) << all;
    EXPECT_THAT(ran.out + ran.err, testing::HasSubstr(GetParam().says)) << all;
    EXPECT_THAT(ran.out + ran.err, testing::Not(testing::HasSubstr("did not stop by itself")));
    if (GetParam().exit_code == 3) {
      EXPECT_THAT(ran.out + ran.err, testing::HasSubstr("time limit")) << all;
    }
    EXPECT_LT(seconds.count(), kMostSeconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HardInputs, testing::ValuesIn(all_inputs()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace isoscope
