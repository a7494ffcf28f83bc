#include "record/words.h"

#include <algorithm>
#include <array>

#include "sql/read/pg_parse.h"
#include "support/spelling.h"

namespace isoscope::record {

std::string name_of(std::string_view text, const Word& word) {
  const std::string_view written = text.substr(word.begin, word.end - word.begin);
  if (written.size() < 2 || written.front() != '"' || written.back() != '"') return word.text;
  std::string name;
  for (std::size_t i = 1; i + 1 < written.size(); ++i) {
    if (written[i] == '"') ++i;  // of two, one
    name += written[i];
  }
  return name;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  const auto tokens = sql::scan_sql(text);
  if (!tokens) return words;
  int depth = 0;
  for (const sql::SqlToken& token : *tokens) {
    Word word{lower_case(text.substr(token.begin, token.end - token.begin)), token.begin, token.end,
              depth};
    if (word.text.starts_with("--") || word.text.starts_with("/*")) continue;
    if (word.text == "(" || word.text == "[") ++depth;
    if (word.text == ")" || word.text == "]") word.depth = --depth;
    words.push_back(std::move(word));
  }
  return words;
}

NamesOf::NamesOf(std::string_view text) : text_(lower_case(text)) {
  for (const Word& word : words_of(text)) {
    names_.insert(name_of(text, word));
    may_have_all_ |= word.text.starts_with("u&");  // U&"…" may spell any name
  }
}

bool NamesOf::contains(const std::string& name) const {
  // Where the text cannot be scanned, any place of it may be a name.
  if (names_.empty()) return text_.find(lower_case(name)) != std::string::npos;
  return may_have_all_ || names_.contains(name);
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
