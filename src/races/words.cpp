#include "races/words.h"

#include "sql/read/pg_parse.h"
#include "support/spelling.h"

namespace isoscope::races {
namespace {

// Of a text that cannot be scanned (one with U&): its names, and each other character.
std::vector<std::string> words_of_any(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    if (end == at) ++end;
    if (text.find_first_not_of(" \t\r\n", at) == at) words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

bool has_word(std::string_view text, std::string_view word) {
  const std::string small = lower_case(text);
  for (std::size_t at = small.find(word); at != std::string::npos; at = small.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_name(small[at - 1])) && (end == small.size() || !is_of_name(small[end])))
      return true;
  }
  return false;
}

StatementWords::StatementWords(std::string_view sql) {
  const auto tokens = sql::scan_sql(sql);
  if (!tokens) {
    words_ = words_of_any(lower_case(sql));
    return;
  }
  for (const sql::SqlToken& token : *tokens) {
    std::string word = lower_case(sql.substr(token.begin, token.end - token.begin));
    if (word.starts_with("--") || word.starts_with("/*")) continue;
    const bool is_run =
        !words_.empty() && words_[0] == "do" && word.find_first_of("'$") != std::string::npos;
    if (is_run) {
      for (std::string& inner : words_of_any(word)) words_.push_back(std::move(inner));
    } else {
      words_.push_back(std::move(word));
    }
  }
}

bool StatementWords::have(std::string_view phrase) const {
  const std::vector<std::string> wanted = words_of_any(std::string(phrase));
  return std::search(words_.begin(), words_.end(), wanted.begin(), wanted.end()) != words_.end();
}

bool StatementWords::call(std::string_view part) const {
  for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
    if (words_[i + 1] == "(" && words_[i].find(part) != std::string::npos && !is_inserted_into(i))
      return true;
  }
  return false;
}

// INSERT INTO name (…), INSERT INTO schema.name (…): a table and its columns.
bool StatementWords::is_inserted_into(std::size_t word) const {
  while (word >= 2 && words_[word - 1] == ".") word -= 2;
  return word > 0 && words_[word - 1] == "into";
}

}  // namespace isoscope::races
