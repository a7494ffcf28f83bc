#pragma once
// Words of SQL texts, as they are written.
#include <cctype>
#include <string>
#include <string_view>

#include "support/spelling.h"

namespace isoscope::races {

inline bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Is the word, in small letters, in the text, in letters of any size?
inline bool has_word(std::string_view text, std::string_view word) {
  const std::string small = lower_case(text);
  for (std::size_t at = small.find(word); at != std::string::npos; at = small.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_name(small[at - 1])) && (end == small.size() || !is_of_name(small[end])))
      return true;
  }
  return false;
}

}  // namespace isoscope::races
