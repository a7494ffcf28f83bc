#pragma once
// Words, numbers and signs of the .txn language, with their places.
//
// A token is a view into the text that the caller keeps. A newline is a token, for it ends a
// statement, except between parentheses or brackets; comments are none.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace isoscope::txn {

enum class TokenKind : std::uint8_t { Name, Keyword, Number, Sign, Level, Newline, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text = {};  // of a level: what follows the '@'
  std::size_t offset = 0;      // of its first byte
  Place place = {};
  std::uint64_t magnitude = 0;  // of a number; at most 2^63, which only '-' may precede

  bool is(std::string_view word) const {
    return (kind == TokenKind::Sign || kind == TokenKind::Keyword) && text == word;
  }
  bool is_end() const { return kind == TokenKind::End; }
  std::size_t end() const { return offset + text.size(); }
};
std::string show(const Token& token);  // "'x'", "the end of the line"

// The tokens of a text; the last is of kind End. Errors name signs of other languages and what to
// write instead.
Result<std::vector<Token>> tokenize(std::string_view text);

}  // namespace isoscope::txn
