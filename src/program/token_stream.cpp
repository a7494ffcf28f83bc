#include "program/token_stream.h"

namespace isoscope::txn {

std::string show(const Token& token) {
  switch (token.kind) {
    case TokenKind::End: return "the end of the text";
    case TokenKind::Newline: return "the end of the line";
    case TokenKind::Level: return fmt::format("'@{}'", token.text);
    default: return fmt::format("'{}'", token.text);
  }
}

Result<Token> TokenStream::expect_name(std::string_view what) {
  if (peek().kind == TokenKind::Name) return take();
  return peek().kind == TokenKind::Keyword ? is_a_word(what) : wrong(what);
}

std::string TokenStream::text_from(std::size_t first) const {
  std::string text;
  for (std::size_t i = first; i < position(); ++i) {
    if (i > first && at(i).offset > at(i - 1).end()) text += ' ';
    text += at(i).text;
  }
  return text;
}

Error TokenStream::too_deep() const {
  return Error{.where = peek().place,
               .what = fmt::format("this nests deeper than {}", kMaxNesting),
               .hint = "keep parts in locals of their own"};
}

}  // namespace isoscope::txn
