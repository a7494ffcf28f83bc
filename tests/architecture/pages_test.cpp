// The pages of the project agree with each other: their links lead somewhere, README.md leads to
// all of them, and one version is told everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/input.h"
#include "support/paths.h"
#include "support/version.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string text_of(const fs::path& path) {
  const auto text = read_whole(path.string());
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

// Every page but the template of the README, whose links stand for those of README.md.
std::vector<fs::path> all_pages() {
  const fs::path root = source_dir();
  std::vector<fs::path> pages;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const char* folder : {"docs", "src", "examples", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() == ".md" && path.filename() != "README.in.md") pages.push_back(path);
    }
  }
  return pages;
}

// "## A level for a transaction" has the anchor a-level-for-a-transaction.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  LineReader lines = LineReader::over(page);
  for (std::string_view line; lines.next(line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(byte));
      if (c == ' ') anchor += '-';
    }
    anchors.insert(anchor);
  }
  return anchors;
}

// Where the links of a page lead, except into the web.
std::vector<std::string> links_of(const std::string& page) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::vector<std::string> targets;
  for (std::sregex_iterator found(page.begin(), page.end(), link), end; found != end; ++found) {
    const std::string target = (*found)[1];
    if (target.find("://") == std::string::npos) targets.push_back(target);
  }
  return targets;
}

TEST(Pages, HaveLinksThatLeadSomewhere) {
  std::size_t links = 0;
  for (const fs::path& page : all_pages()) {
    for (const std::string& link : links_of(text_of(page))) {
      ++links;
      const std::size_t hash = link.find('#');
      const fs::path target =
          hash == 0 ? page : page.parent_path() / link.substr(0, std::min(hash, link.size()));
      ASSERT_TRUE(fs::exists(target)) << page << ": " << link;
      if (hash == std::string::npos) continue;
      EXPECT_TRUE(anchors_of(text_of(target)).contains(link.substr(hash + 1)))
          << page << ": " << link;
    }
  }
  EXPECT_GT(links, 50U);
}

TEST(Pages, AreAllReachedFromTheReadme) {
  // By itself, or through a page that it links.
  const fs::path root = source_dir();
  std::set<std::string> reached;
  std::vector<fs::path> open = {root / "README.md"};
  while (!open.empty()) {
    const fs::path from = open.back();
    open.pop_back();
    for (const std::string& link : links_of(text_of(from))) {
      const fs::path to = (from.parent_path() / link.substr(0, link.find('#'))).lexically_normal();
      const bool is_new = reached.insert(to.lexically_relative(root).string()).second;
      if (is_new && to.extension() == ".md") open.push_back(to);
    }
  }
  for (const fs::path& page : all_pages()) {
    const std::string path = fs::relative(page, source_dir()).string();
    const bool is_for_readers = path.starts_with("docs/") || path.find('/') == std::string::npos;
    if (!is_for_readers || path == "README.md") continue;
    EXPECT_TRUE(reached.contains(path)) << path << " is not linked from README.md";
  }
}

TEST(Pages, TellWhatMakeCanDo) {
  static const std::regex target(R"((?:^|\n)([a-z-]+):[^\n]*## )");
  const fs::path root = source_dir();
  const std::string makefile = text_of(root / "Makefile");
  const std::string told = text_of(root / "README.md") + text_of(root / "CONTRIBUTING.md");
  std::size_t targets = 0;
  for (std::sregex_iterator found(makefile.begin(), makefile.end(), target), end; found != end;
       ++found) {
    ++targets;
    const std::string name = (*found)[1];
    EXPECT_THAT(told, HasSubstr(name == "all" ? "`make`" : "make " + name));
  }
  EXPECT_GE(targets, 8U);
}

TEST(Pages, TellOneVersion) {
  const fs::path root = source_dir();
  const std::string version(kVersion);
  EXPECT_THAT(text_of(root / "CMakeLists.txt"), HasSubstr("VERSION " + version + " "));
  EXPECT_THAT(text_of(root / "CITATION.cff"), HasSubstr("\nversion: " + version + "\n"));
  EXPECT_THAT(text_of(root / "CHANGELOG.md"), HasSubstr("\n## [" + version + "] - "));
}

}  // namespace
}  // namespace isoscope
