#pragma once
// The words of a statement: what PostgreSQL's scanner sees, without comments.
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::record {

struct Word {
  std::string text;  // in small letters
  std::size_t begin = 0;
  std::size_t end = 0;
  int depth = 0;  // of parentheses and brackets; that of a pair is what stands around it
};

// The name that a word of the text is, as the server reads it: in small letters, unless it is in
// quotes.
std::string name_of(std::string_view text, const Word& word);
// Empty if the text cannot be scanned.
std::vector<Word> words_of(std::string_view text);
// The names that a text may have.
class NamesOf {
 public:
  explicit NamesOf(std::string_view text);
  // As the server reads it.
  bool contains(const std::string& name) const;

 private:
  std::string text_;  // in small letters
  std::set<std::string> names_;
  bool may_have_all_ = false;
};
// Does a clause after the condition begin with this word?
bool ends_condition(std::string_view word);
// A keyword in the outermost clauses, and no label or column of that name?
bool is_keyword(const std::vector<Word>& words, std::size_t i);

}  // namespace isoscope::record
