#pragma once
// Words of SQL texts, as they are written.
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::races {

inline bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Is the word, in small letters, in the text, in letters of any size?
bool has_word(std::string_view text, std::string_view word);

// A statement as PostgreSQL's scanner sees it, without comments. What stands in a constant, or is a
// part of a longer name, is none of its words; but the words of the text that DO runs are.
class StatementWords {
 public:
  explicit StatementWords(std::string_view sql);

  // Do these words follow each other? In small letters, with a blank between each two.
  bool have(std::string_view phrase) const;
  // Is a function called in whose name this part occurs?
  bool call(std::string_view part) const;

 private:
  bool is_inserted_into(std::size_t word) const;

  std::vector<std::string> words_;  // in small letters
};

}  // namespace isoscope::races
