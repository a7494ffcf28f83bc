// The programs of the examples and of the corpus parse and run.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "program/serial_run.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::vector<fs::path> programs_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".txn") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void expect_runs(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const auto text = read_whole(path.string());
  ASSERT_TRUE(text.ok());
  const auto program = parse_program(*text);
  ASSERT_TRUE(program.ok()) << render(program.error().in(path.string()));
  EXPECT_GE(program->outline().sessions.size(), 2U);
  const SerialRun run = run_serially(*program);
  EXPECT_FALSE(run.fault.has_value());
  // What the assertions of these programs claim holds of every serial run.
  EXPECT_FALSE(run.failed.has_value());
}

TEST(ExamplePrograms, RunSeriallyWithoutFailure) {
  const auto paths = programs_in(fs::path(source_dir()) / "examples" / "programs");
  EXPECT_EQ(paths.size(), 8U);  // as many as the folder holds
  for (const fs::path& path : paths) expect_runs(path);
}

TEST(CorpusPrograms, RunSeriallyWithoutFailure) {
  const auto paths = programs_in(fs::path(source_dir()) / "tests" / "corpus" / "programs");
  EXPECT_EQ(paths.size(), 11U);  // as many as the folder holds
  for (const fs::path& path : paths) expect_runs(path);
}

TEST(ExamplePrograms, MixLevels) {
  const auto text = read_whole(source_dir() + "/examples/programs/mixed-levels.txn");
  ASSERT_TRUE(text.ok());
  const auto program = parse_program(*text);
  ASSERT_TRUE(program.ok());
  std::vector<std::string> levels;
  for (const Call& call : program->outline().calls) levels.push_back(call.name + "@" + call.level);
  EXPECT_THAT(levels, ElementsAre("bump(1)@ser", "bump(2)@ser", "bump(2)@ser", "report()@"));
}

}  // namespace
}  // namespace isoscope
