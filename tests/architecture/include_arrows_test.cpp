// Reads our #include lines and fails on an arrow that points the wrong way.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

// A folder may include itself and those before it.
const std::vector<std::string> kFolders = {
    "support",  "graph",   "history",  "spec",  "verdict", "formats", "sat",
    "smt",      "program", "workload", "sql",   "check",   "store",   "predict",
    "generate", "synth",   "explore",  "audit", "report",  "api",     "cli"};

std::ptrdiff_t rank_of(const std::string& folder) {
  return std::find(kFolders.begin(), kFolders.end(), folder) - kFolders.begin();
}

// "history" of `#include "history/history.h"`; empty for system headers.
std::string included_folder(const std::string& line) {
  constexpr std::string_view kStart = "#include \"";
  if (!line.starts_with(kStart)) return {};
  const std::string path = line.substr(kStart.size());
  return path.substr(0, path.find('/'));
}

TEST(Architecture, IncludesPointOnlyToEarlierFolders) {
  const fs::path src = fs::path(source_dir()) / "src";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    ++files;
    const std::string folder = fs::relative(entry.path(), src).begin()->string();
    ASSERT_LT(rank_of(folder), std::ssize(kFolders)) << "unknown folder src/" << folder;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::string target = included_folder(line);
      if (target.empty()) continue;
      EXPECT_LE(rank_of(target), rank_of(folder)) << entry.path() << ": " << line;
      EXPECT_LT(rank_of(target), std::ssize(kFolders)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(files, 30U);
}

TEST(Architecture, EveryFolderExplainsItself) {
  for (const std::string& folder : kFolders)
    EXPECT_TRUE(fs::exists(fs::path(source_dir()) / "src" / folder / "README.md")) << folder;
}

}  // namespace
}  // namespace isoscope
