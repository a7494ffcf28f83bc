// docs/architecture.md lists the folders of src/ from the bottom up. That list is the only one:
// these tests read it and hold the tree, the build and the #include lines to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/doc_blocks.h"
#include "support/doc_tables.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kSourceFolder = "src/";

const fs::path& root() {
  static const fs::path path = source_dir();
  return path;
}

const std::string& page() {
  static const std::string text = *read_whole((root() / "docs/architecture.md").string());
  return text;
}

struct Folder {
  std::string name;        // "support"
  std::string open_first;  // "result.h"
};

// The rows of the page's table. A folder may include itself and those before it.
const std::vector<Folder>& folders() {
  static const std::vector<Folder> all = [] {
    std::vector<Folder> rows;
    for (const DocRow& row : doc_table(page(), "folder")) {
      const std::string path = without_ticks(row.at(0));
      if (path.starts_with(kSourceFolder))
        rows.push_back({path.substr(kSourceFolder.size()), without_ticks(row.at(2))});
    }
    return rows;
  }();
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Folder& folder : folders()) result.push_back(folder.name);
  return result;
}

std::ptrdiff_t rank_of(const std::string& folder) {
  return std::ranges::find(folders(), folder, &Folder::name) - folders().begin();
}

// "history" of `#include "history/history.h"`; empty for system headers.
std::string included_folder(const std::string& line) {
  constexpr std::string_view kStart = "#include \"";
  if (!line.starts_with(kStart)) return {};
  const std::string path = line.substr(kStart.size());
  return path.substr(0, path.find('/'));
}

// The folders that this CMakeLists.txt adds, in its order, without `prefix`.
std::vector<std::string> added_folders(const fs::path& cmake_file, const std::string& prefix) {
  const std::string start = "add_subdirectory(" + prefix;
  std::vector<std::string> result;
  std::ifstream in(cmake_file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(start))
      result.push_back(line.substr(start.size(), line.find(')') - start.size()));
  }
  return result;
}

TEST(Architecture, ListsEveryFolderOfTheSources) {
  std::set<std::string> present;
  for (const auto& entry : fs::directory_iterator(root() / "src")) {
    if (entry.is_directory()) present.insert(entry.path().filename().string());
  }
  const std::vector<std::string> listed = names();
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), present);
  EXPECT_THAT(listed, SizeIs(present.size())) << "a folder is listed twice";
}

TEST(Architecture, ListsFoldersInTheOrderOfTheBuild) {
  EXPECT_THAT(added_folders(root() / "CMakeLists.txt", std::string(kSourceFolder)),
              ElementsAreArray(names()));
}

TEST(Architecture, IncludesPointOnlyToEarlierFolders) {
  const fs::path src = root() / "src";
  std::size_t arrows = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const std::string folder = fs::relative(entry.path(), src).begin()->string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::string target = included_folder(line);
      if (target.empty()) continue;
      ++arrows;
      EXPECT_LE(rank_of(target), rank_of(folder)) << entry.path() << ": " << line;
      EXPECT_LT(rank_of(target), std::ssize(folders())) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(arrows, 1000U);
}

// The table of rooms in src/sql/README.md is such a list too: a room may include itself and those
// before it.
TEST(Architecture, RoomsOfSqlIncludeOnlyEarlierRooms) {
  const fs::path src = root() / "src";
  std::vector<std::string> rooms;
  for (const DocRow& row : doc_table(*read_whole((src / "sql/README.md").string()), "folder"))
    rooms.push_back(without_ticks(row.at(0)));
  ASSERT_THAT(rooms, SizeIs(4));
  std::size_t arrows = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src / "sql")) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const std::string room = fs::relative(entry.path().parent_path(), src).string() + "/";
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (included_folder(line) != "sql") continue;
      const std::string path = line.substr(line.find('"') + 1);
      const std::string target = path.substr(0, path.rfind('/') + 1);
      ++arrows;
      EXPECT_LE(std::ranges::find(rooms, target), std::ranges::find(rooms, room))
          << entry.path() << ": " << line;
      EXPECT_NE(std::ranges::find(rooms, target), rooms.end()) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(arrows, 100U);
}

TEST(Architecture, DrawsEveryFolder) {
  const std::vector<DocBlock> blocks = doc_blocks(page());
  ASSERT_FALSE(blocks.empty());
  for (const Folder& folder : folders()) EXPECT_THAT(blocks.front().text, HasSubstr(folder.name));
}

TEST(Architecture, NamesAHeaderThatExists) {
  for (const Folder& folder : folders())
    EXPECT_TRUE(fs::exists(root() / "src" / folder.name / folder.open_first)) << folder.name;
}

TEST(Architecture, EveryFolderExplainsItself) {
  for (const Folder& folder : folders())
    EXPECT_TRUE(fs::exists(root() / "src" / folder.name / "README.md")) << folder.name;
}

TEST(Architecture, EveryFolderHasTests) {
  const std::vector<std::string> tested = added_folders(root() / "tests/CMakeLists.txt", "");
  for (const Folder& folder : folders())
    EXPECT_THAT(tested, ::testing::Contains(folder.name)) << "tests/CMakeLists.txt";
}

}  // namespace
}  // namespace isoscope
