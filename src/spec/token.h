#pragma once
// Words and signs of the level language, with their places.
//
// A token is a view into the text that the caller keeps. Comments are no tokens but are kept
// beside them: the one next to a level's declaration becomes the level's summary.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace isoscope {

enum class TokenKind : std::uint8_t { Name, Sign, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;   // a name, or one of ( ) [ ] , : . = != | \ & ; + * ? - ^-1
  std::size_t offset = 0;  // of its first byte
  Place place;

  bool is(std::string_view word) const { return kind != TokenKind::End && text == word; }
  bool is_name() const { return kind == TokenKind::Name; }
  bool is_end() const { return kind == TokenKind::End; }
  std::size_t end() const { return offset + text.size(); }
};

inline std::string show(const Token& token) {
  return token.is_end() ? "the end of the text" : "'" + std::string(token.text) + "'";
}

struct Comment {
  std::string_view text;  // without '#' and surrounding blanks
  std::size_t offset = 0;
  std::size_t end = 0;
  Place place;
  bool stands_alone = false;  // on a line of its own
};

struct Tokens {
  std::vector<Token> all;  // ends with one of kind End
  std::vector<Comment> comments;
};

// Splits a text. Errors name signs of other languages and what to write instead.
Result<Tokens> tokenize(std::string_view text);

}  // namespace isoscope
