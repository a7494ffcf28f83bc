// Texts that are nearly SQL: words of real programs in the wrong places.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sql/application.h"
#include "sql/read/pg_parse.h"
#include "sql/well_formed.h"
#include "support/input.h"
#include "support/paths.h"
#include "support/rng.h"

namespace isoscope::sql {
namespace {

namespace fs = std::filesystem;

// The words of a text, each with the blanks before it; strings as words, so that bodies are cut
// as well.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  const auto is_part = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool joins = !word.empty() && is_part(text[i]) && is_part(text[i - 1]);
    const bool is_blank = std::isspace(static_cast<unsigned char>(text[i])) != 0;
    const bool after_blank = i > 0 && std::isspace(static_cast<unsigned char>(text[i - 1])) != 0;
    if (!joins && !after_blank && !word.empty() && !(is_blank && after_blank)) {
      words.push_back(word);
      word.clear();
    }
    word += text[i];
  }
  words.push_back(word);
  return words;
}

std::string mutate(std::vector<std::string> words, const std::vector<std::string>& pool, Rng& rng) {
  const std::size_t changes = 1 + rng.below(4);
  for (std::size_t i = 0; i < changes && !words.empty(); ++i) {
    const std::size_t at = rng.below(words.size());
    switch (rng.below(5)) {
      case 0: words.erase(words.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: words[at] = pool[rng.below(pool.size())]; break;
      case 2:
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), pool[rng.below(pool.size())]);
        break;
      case 3: std::swap(words[at], words[rng.below(words.size())]); break;
      default: {
        const std::size_t end = std::min(words.size(), at + 1 + rng.below(20));
        const std::vector<std::string> piece(words.begin() + static_cast<std::ptrdiff_t>(at),
                                             words.begin() + static_cast<std::ptrdiff_t>(end));
        const auto to = words.begin() + static_cast<std::ptrdiff_t>(rng.below(words.size()));
        words.insert(to, piece.begin(), piece.end());
      }
    }
  }
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

std::vector<fs::path> seeds() {
  std::vector<fs::path> paths;
  for (const char* folder : {"tests/corpus/apps", "tests/fuzz/corpus/sql", "examples/audit"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / folder)) {
      if (entry.path().extension() == ".sql") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);  // folders have no order, and the seed must tell what is tried
  return paths;
}

TEST(FrontEnd, SurvivesMutations) {
  std::vector<std::vector<std::string>> programs;
  std::vector<std::string> pool = {" OVER ()",
                                   " UNION",
                                   " GROUP BY 1",
                                   " WITH x AS (SELECT 1)",
                                   " BEGIN ATOMIC",
                                   " RETURN",
                                   " EXECUTE 'x'",
                                   " $$",
                                   " '",
                                   " /*",
                                   " --",
                                   " ARRAY[",
                                   " ::",
                                   " $1",
                                   " NULL"};
  for (const fs::path& path : seeds()) {
    const auto text = read_whole(path.string());
    ASSERT_TRUE(text.ok());
    programs.push_back(words_of(*text));
    pool.insert(pool.end(), programs.back().begin(), programs.back().end());
  }
  ASSERT_EQ(programs.size(), 18U);  // as many as the three folders hold
  const char* wanted = std::getenv("ISOSCOPE_MUTATIONS");
  const int runs = wanted != nullptr ? std::atoi(wanted) : 3'000;
  Rng rng(wanted != nullptr ? static_cast<std::uint64_t>(runs) : 7);
  int understood = 0;
  for (int i = 0; i < runs; ++i) {
    const std::string text = mutate(programs[rng.below(programs.size())], pool, rng);
    const auto app = parse_application(text);
    if (!app) {
      EXPECT_FALSE(app.error().what.empty()) << text;
      EXPECT_GT(app.error().where.line, 0U) << app.error().what << "\n" << text;
      continue;
    }
    understood += app->functions.empty() ? 0 : 1;
    EXPECT_EQ(find_flaw(*app), "") << text;
    EXPECT_EQ(app->problems.size(), app->left_out.size());
    for (const Error& problem : app->problems)
      EXPECT_GT(problem.where.line, 0U) << problem.what << "\n" << text;
  }
  EXPECT_GT(understood, runs / 10);
}

}  // namespace
}  // namespace isoscope::sql
