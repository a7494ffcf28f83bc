// The repository stands alone: nothing in it reads or names a place outside, and every path that
// it names is there.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

struct TreeFile {
  std::string path;  // within the tree
  std::string text;  // empty if the file is binary
};

// What git would keep: everything but what builds and tools leave behind.
bool is_left_behind(const std::string& top) {
  return top == ".git" || top == ".cache" || top.starts_with("build") ||
         top == "compile_commands.json";
}

std::vector<TreeFile> files_of_the_tree() {
  const fs::path root = source_dir();
  std::vector<TreeFile> files;
  const auto add = [&](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) ADD_FAILURE() << "cannot read " << path;
    std::ostringstream text;
    text << in.rdbuf();
    const bool is_binary = text.view().find('\0') != std::string_view::npos;
    files.push_back({path.lexically_relative(root).generic_string(),
                     is_binary ? std::string() : std::move(text).str()});
  };
  for (const auto& top : fs::directory_iterator(root)) {
    if (is_left_behind(top.path().filename().string())) continue;
    if (!top.is_directory()) {
      add(top.path());
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  }
  std::ranges::sort(files, {}, &TreeFile::path);
  return files;
}

const std::vector<TreeFile>& tree() {
  static const std::vector<TreeFile> files = files_of_the_tree();
  return files;
}

bool is_in(char c, std::string_view set) { return set.find(c) != set.npos; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Calls `visit` with each place where `fragment` begins a word.
void for_each_place(std::string_view text, std::string_view fragment,
                    const std::function<void(std::size_t)>& visit) {
  for (std::size_t at = text.find(fragment); at != text.npos; at = text.find(fragment, at + 1)) {
    if (at > 0 && is_word(text[at - 1]) && is_word(fragment.front())) continue;
    visit(at);
  }
}

std::string place(const TreeFile& file, std::size_t at) {
  const auto line =
      1 + std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return file.path + ":" + std::to_string(line);
}

// The path that begins at `at`, without a full stop that ends a sentence.
std::string path_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() &&
         (is_word(text[end]) || text[end] == '/' || text[end] == '.' || text[end] == '-')) {
    ++end;
  }
  while (end > at && text[end - 1] == '.') --end;
  return std::string(text.substr(at, end - at));
}

// Is the path, seen from `folder`, that of something within the tree?
bool is_there(const fs::path& folder, const std::string& path) {
  const fs::path within = (folder / path).lexically_normal();
  if (within.is_absolute() || *within.begin() == "..") return false;
  return fs::exists(fs::path(source_dir()) / within);
}

// Links of a page are relative to its folder; docs/README.in.md becomes the README.md of the root.
fs::path folder_of(const TreeFile& file) {
  return file.path == "docs/README.in.md" ? fs::path() : fs::path(file.path).parent_path();
}

TEST(StandsAlone, SeesTheWholeTree) {
  EXPECT_GT(tree().size(), 900U);
  std::set<std::string> tops;
  for (const TreeFile& file : tree()) tops.insert(fs::path(file.path).begin()->string());
  for (const char* top : {".ci", "CMakeLists.txt", "README.md", "bench", "cmake", "docs",
                          "examples", "levels", "scripts", "src", "tests", "workloads"}) {
    EXPECT_TRUE(tops.contains(top)) << top;
  }
}

// What no line may hold, with a '~' somewhere inside, because this file is part of the tree.
std::vector<std::string> names_of_places_outside() {
  std::vector<std::string> fragments = {"/wo~rk/",   "/ho~me/",     "/ro~ot/",
                                        "/tm~p/",    "/mn~t/",      "/Use~rs/",  // machines
                                        "shar~ed/",  "\"shar~ed\"", "\"/.~./",
                                        "/ \".~.\"",  // beside us
                                        "DESI~GN",   "STY~LE.md",   "STY~LE section",
                                        "[not~es",   "our not~es",  "not~es/"};  // pages
  for (std::string& fragment : fragments) std::erase(fragment, '~');
  return fragments;
}

TEST(StandsAlone, NamesNoPlaceOutside) {
  const std::vector<std::string> fragments = names_of_places_outside();
  std::vector<std::string> found;
  for (const TreeFile& file : tree()) {
    for (const std::string& fragment : fragments) {
      for_each_place(file.text, fragment, [&](std::size_t at) {
        // `src/…` and `${folder}/…` go on from somewhere: the path is not absolute.
        const bool goes_on = at > 0 && fragment.front() == '/' &&
                             (is_word(file.text[at - 1]) || is_in(file.text[at - 1], ".-})>*"));
        if (!goes_on) found.push_back(place(file, at) + ": " + fragment);
      });
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

// A folder whose files are named from there: `spec/levels.h` is in src, its test in tests.
struct NamedFolder {
  std::string name;
  std::vector<fs::path> seen_from;
};

std::vector<NamedFolder> named_folders() {
  std::vector<NamedFolder> folders;
  for (const char* name : {".ci/", "bench/", "cmake/", "docs/", "examples/", "levels/", "scripts/",
                           "src/", "tests/", "workloads/"}) {
    folders.push_back({name, {fs::path()}});
  }
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "src")) {
    if (entry.is_directory())
      folders.push_back({entry.path().filename().string() + "/", {"src", "tests", "examples"}});
  }
  return folders;
}

TEST(StandsAlone, NamesOnlyPathsThatAreThere) {
  const std::set<std::string> endings = {".cmake", ".cpp",   ".edn", ".h",  ".hist", ".html",
                                         ".json",  ".level", ".md",  ".py", ".sh",   ".sql",
                                         ".svg",   ".tsv",   ".txn", ".txt"};
  const std::vector<NamedFolder> folders = named_folders();
  std::size_t seen = 0;
  std::vector<std::string> found;
  for (const TreeFile& file : tree()) {
    const auto check = [&](std::size_t at, const std::vector<fs::path>& seen_from) {
      const std::string path = path_at(file.text, at);
      if (!endings.contains(fs::path(path).extension().string())) return;
      ++seen;
      if (std::ranges::none_of(seen_from, [&](const fs::path& p) { return is_there(p, path); }))
        found.push_back(place(file, at) + ": " + path);
    };
    for (const NamedFolder& folder : folders) {
      for_each_place(file.text, folder.name, [&](std::size_t at) {
        if (at == 0 || !is_in(file.text[at - 1], "/.-")) check(at, folder.seen_from);
      });
    }
    for_each_place(file.text, "../", [&](std::size_t at) {
      if (at == 0 || !is_in(file.text[at - 1], "/.")) check(at, {folder_of(file)});
    });
  }
  EXPECT_THAT(found, IsEmpty());
  EXPECT_GT(seen, 2000U);
}

// `hist` of the heading "## `hist`": what a link writes behind '#'.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    if (is_word(c) || c == '-') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c == ' ') {
      anchor += '-';
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      anchor += c;
    }
  }
  return anchor;
}

bool has_heading(const std::string& path, const std::string& anchor) {
  const auto text = read_whole(source_dir() + "/" + path);
  if (!text) return false;
  LineReader lines = LineReader::over(*text);
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with("#") && line.find_first_not_of("# ") != line.npos &&
        anchor_of(line) == anchor) {
      return true;
    }
  }
  return false;
}

// A page with blanks in place of its code, where `wr[x](t1, t3)` is no link.
std::string prose_of(std::string page) {
  bool in_fence = false;
  bool in_code = false;
  for (std::size_t at = 0; at < page.size(); ++at) {
    const bool starts_line = at == 0 || page[at - 1] == '\n';
    if (starts_line) in_code = false;
    if (starts_line && page.compare(at, 3, "```") == 0) {
      in_fence = !in_fence;
      at += 2;
    } else if (page[at] == '`') {
      in_code = !in_code;
    } else if ((in_fence || in_code) && page[at] != '\n') {
      page[at] = ' ';
    }
  }
  return page;
}

TEST(StandsAlone, LinksOnlyToPagesThatAreThere) {
  std::size_t seen = 0;
  std::vector<std::string> found;
  for (const TreeFile& file : tree()) {
    if (!file.path.ends_with(".md")) continue;
    const std::string prose = prose_of(file.text);
    for_each_place(prose, "](", [&](std::size_t at) {
      const std::size_t end = prose.find_first_of(") \n", at + 2);
      const std::string link = prose.substr(at + 2, end - at - 2);
      if (link.starts_with("http") || link.starts_with("mailto:")) return;
      ++seen;
      const std::string target = link.substr(0, link.find('#'));
      const std::string page = target.empty()
                                   ? file.path
                                   : (folder_of(file) / target).lexically_normal().generic_string();
      const bool there = target.empty() || is_there(folder_of(file), target);
      const auto hash = link.find('#');
      if (!there || (hash != link.npos && !has_heading(page, link.substr(hash + 1))))
        found.push_back(place(file, at) + ": " + link);
    });
  }
  EXPECT_THAT(found, IsEmpty());
  EXPECT_GT(seen, 50U);
}

}  // namespace
}  // namespace isoscope
