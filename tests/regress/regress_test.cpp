// Every file of tests/regress keeps its promises: a bug that was fixed stays fixed.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/run_isoscope.h"
#include "formats/formats.h"
#include "regress/regress_case.h"
#include "support/judged.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path kFolder = fs::path(source_dir()) / "tests" / "regress";

// The files of the mechanism itself; everything else in the folder is a case.
bool is_mechanism(const fs::path& path) {
  return path.filename() == "README.md" || path.filename() == "CMakeLists.txt" ||
         path.extension() == ".cpp" || path.extension() == ".h";
}

// The names of the cases: NAME for the file NAME, and for NAME.case without such a file.
std::vector<std::string> case_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const fs::path& path = entry.path();
    if (is_mechanism(path)) continue;
    names.insert((path.extension() == ".case" ? path.stem() : path.filename()).string());
  }
  return {names.begin(), names.end()};
}

Result<RegressCase> read_case(const std::string& name) {
  const std::string beside = (kFolder / (name + ".case")).string();
  const bool is_beside = fs::exists(beside);
  const auto text = read_whole(is_beside ? beside : (kFolder / name).string());
  if (!text) return text.error();
  auto found = read_regress_case(*text, is_beside ? Lines::OfACaseFile : Lines::OfAFile);
  if (!found) return found.error().in(name + (is_beside ? ".case" : ""));
  return found;
}

// A folder that goes away with the run.
class TempFolder {
 public:
  TempFolder() { fs::create_directory(file_.path()); }
  ~TempFolder() { fs::remove_all(file_.path()); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return file_.path(); }

 private:
  TempFile file_{".folder"};
};

// Runs in tests/regress, where messages name the file as the case does.
void expect_keeps(const RegressRun& run, const std::string& name) {
  constexpr int kStopped = 124;  // what timeout(1) answers
  const TempFolder temp;
  const std::string script = temp.path() + "/run.sh";
  std::ofstream(script) << with_word(with_word(run.command, "FILE", name), "TEMP", temp.path())
                        << '\n';
  const std::string programs = fs::path(isoscope_binary()).parent_path().string();
  const Ran ran = run_shell(fmt::format("cd {} && PATH={}:$PATH timeout -k 5 {} sh {}",
                                        kFolder.string(), programs, run.seconds, script));
  SCOPED_TRACE(fmt::format("{}:{}: {}\n{}{}", name, run.line, run.command, ran.out, ran.err));
  EXPECT_NE(ran.exit_code, kStopped) << "did not end within " << run.seconds << " s";
  EXPECT_EQ(ran.exit_code, run.exit_code.value_or(-1));
  for (const std::string& piece : run.says) EXPECT_THAT(ran.out + ran.err, HasSubstr(piece));
  for (const std::string& piece : run.says_not) {
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr(piece)));
  }
}

class Regress : public ::testing::TestWithParam<std::string> {};

TEST_P(Regress, StaysFixed) {
  const auto promised = read_case(GetParam());
  ASSERT_TRUE(promised.ok()) << render(promised.error());
  if (!promised->expected.empty()) {
    const auto h = read_history((kFolder / GetParam()).string());
    ASSERT_TRUE(h.ok()) << render(h.error());
    for (const Expectation& expected : promised->expected)
      EXPECT_EQ(judged(*h, expected.level), expected.verdict) << expected.level;
  }
  for (const RegressRun& run : promised->runs) expect_keeps(run, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, Regress, ::testing::ValuesIn(case_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

// The list of ctest is made when this program is linked; the folder may have grown since.
TEST(RegressFolder, HoldsACasePerFile) {
  std::size_t cases = 0;
  std::size_t promises = 0;
  for (const std::string& name : case_names()) {
    const auto promised = read_case(name);
    ASSERT_TRUE(promised.ok()) << render(promised.error());
    ++cases;
    promises += promised->expected.size() + promised->runs.size();
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const bool speaks_for_another =
        entry.path().extension() == ".case" && fs::exists(kFolder / entry.path().stem());
    if (!is_mechanism(entry.path()) && !speaks_for_another) ++files;
  }
  EXPECT_EQ(cases, files);
  EXPECT_GE(promises, cases);
  EXPECT_GE(cases, 3U) << "the files of tests/regress are gone";
}

}  // namespace
}  // namespace isoscope
