// docs/papers.md lists every paper that is cited, and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>

#include "support/doc_tables.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

bool is_text(const fs::path& path) {
  for (const char* extension : {".h", ".cpp", ".md", ".level", ".workload", ".txt"}) {
    if (path.extension() == extension) return true;
  }
  return false;
}

// Keys that a file cites, [AuthorAuthor-VENUE'YY] or [Author-YYYY, section 2], and one such file.
using Citations = std::map<std::string, std::string>;

void add_citations(const fs::path& path, Citations& citations) {
  static const std::regex key(R"(\[([A-Z][A-Za-z]*-([A-Za-z]+'[0-9]{2}|[0-9]{4}))[\],])");
  const auto text = read_whole(path.string());
  ASSERT_TRUE(text) << path;
  for (std::sregex_iterator found(text->begin(), text->end(), key), end; found != end; ++found)
    citations.emplace((*found)[1].str(), path.string());
}

Citations all_citations() {
  Citations citations;
  for (const char* folder : {"src", "levels", "workloads", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / folder)) {
      if (is_text(entry.path()) && entry.path().filename() != "papers.md")
        add_citations(entry.path(), citations);
    }
  }
  return citations;
}

std::map<std::string, DocRow> listed_papers() {
  std::map<std::string, DocRow> papers;
  const auto page = read_whole((fs::path(source_dir()) / "docs/papers.md").string());
  for (const DocRow& row : doc_table(*page, "key")) {
    const std::string key = row.at(0).substr(1, row.at(0).size() - 2);
    EXPECT_TRUE(papers.emplace(key, row).second) << key << " is listed twice";
  }
  return papers;
}

TEST(Papers, ListsEveryCitation) {
  const auto papers = listed_papers();
  for (const auto& [key, file] : all_citations())
    EXPECT_TRUE(papers.contains(key)) << file << " cites [" << key << "]";
}

TEST(Papers, ListsNothingThatNobodyCites) {
  const Citations citations = all_citations();
  EXPECT_GT(citations.size(), 20U);
  for (const auto& [key, row] : listed_papers())
    EXPECT_TRUE(citations.contains(key)) << "[" << key << "] is cited nowhere";
}

TEST(Papers, NamesFilesThatExist) {
  static const std::regex place(R"(`([a-z_/]+(\.h|\.cpp)?/?)`)");
  std::size_t places = 0;
  for (const auto& [key, row] : listed_papers()) {
    const std::string& where = row.at(2);
    for (std::sregex_iterator found(where.begin(), where.end(), place), end; found != end;
         ++found) {
      const std::string path = (*found)[1];
      if (path.find('/') == std::string::npos) continue;  // a folder of src/, or a level's name
      ++places;
      EXPECT_TRUE(fs::exists(fs::path(source_dir()) / "src" / path) ||
                  fs::exists(fs::path(source_dir()) / path))
          << "[" << key << "]: " << path;
    }
  }
  EXPECT_GT(places, 10U);
}

}  // namespace
}  // namespace isoscope
