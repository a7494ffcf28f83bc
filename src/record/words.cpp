#include "record/words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sql/pg_parse.h"

namespace isoscope::record {

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  const auto tokens = sql::scan_sql(text);
  if (!tokens) return words;
  int depth = 0;
  for (const sql::SqlToken& token : *tokens) {
    Word word{std::string(text.substr(token.begin, token.end - token.begin)), token.begin,
              token.end, depth};
    if (word.text.starts_with("--") || word.text.starts_with("/*")) continue;
    std::ranges::transform(word.text, word.text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word.text == "(" || word.text == "[") ++depth;
    if (word.text == ")" || word.text == "]") word.depth = --depth;
    words.push_back(std::move(word));
  }
  return words;
}

bool ends_condition(std::string_view word) {
  constexpr std::array<std::string_view, 12> kClauses = {
      "group", "having", "window",    "order", "limit",     "offset",
      "fetch", "for",    "returning", "union", "intersect", "except"};
  return std::ranges::find(kClauses, word) != kClauses.end();
}

bool is_keyword(const std::vector<Word>& words, std::size_t i) {
  if (words[i].depth != 0) return false;
  if (i == 0) return true;
  const std::string& before = words[i - 1].text;
  return before != "as" && before != "." && !(before == "within" && words[i].text == "group");
}

}  // namespace isoscope::record
