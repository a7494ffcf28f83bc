// isoscope generate program, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"

namespace isoscope {
namespace {

using testing::HasSubstr;

TEST(GenerateProgram, WritesAProgramThatExploreReads) {
  for (const char* workload :
       {"smallbank", "voter", "tpcc", "wikipedia", "courseware", "twitter", "shopping-cart"}) {
    const Ran made = run_isoscope(std::string("generate program ") + workload +
                                  " --sessions 2 --txns 1 --access point --seed 5");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("session s2 {"));
    const Ran explored = run_isoscope("explore - --level ser", made.out);
    EXPECT_EQ(explored.exit_code, 0) << workload << explored.out << explored.err;
  }
}

TEST(GenerateProgram, ClaimsFailUnderCausalConsistency) {
  const Ran made = run_isoscope("generate program voter --sessions 2 --txns 1 --areas 1");
  EXPECT_EQ(run_isoscope("explore - --level cc --assert-only", made.out).exit_code, 1);
  EXPECT_EQ(run_isoscope("explore - --level si --assert-only", made.out).exit_code, 0);
}

TEST(GenerateProgram, RepeatsItselfFromTheCommandInItsComment) {
  const Ran made = run_isoscope("generate program tpcc --txns 2 --seed 9 --districts 1 -s 2");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::size_t first = made.out.find("# isoscope ") + 11;
  const std::string command = made.out.substr(first, made.out.find('\n', first) - first);
  EXPECT_EQ(run_isoscope(command).out, made.out) << command;
}

TEST(GenerateProgram, WritesToAFileAndTellsItsSizeAsJson) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("isoscope-program-" + std::to_string(::getpid()) + ".txn");
  const Ran ran = run_isoscope("generate program twitter --json -o " + file.string());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["transactions"], 12);
  EXPECT_EQ(slurp(file.string()), run_isoscope("generate program twitter").out);
  std::filesystem::remove(file);
}

TEST(GenerateProgram, RefusesWhatItCannotMake) {
  const auto refuses = [](const std::string& arguments, const std::string& why) {
    const Ran ran = run_isoscope("generate program " + arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    EXPECT_EQ(ran.out.empty(), arguments.find("--json") == std::string::npos) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refuses("", "workload");
  refuses("smalbank", "did you mean 'smallbank'?");
  refuses("smallbank --accounts 1", "--accounts 1: from 2 to 1000 are possible");
  refuses("smallbank --accounts many", "--accounts");
  refuses("smallbank --warehouses 2", "smallbank has no --warehouses");
  refuses("tpcc --sessions 0", "--sessions: 0 is too small");
  refuses("tpcc --sessions 1000 --txns 1000", "more than 5000 transactions");
  refuses("tpcc --access sideways", "--access");
}

}  // namespace
}  // namespace isoscope
