#include "program/token_stream.h"

namespace isoscope::txn {

namespace {

std::string show(const Token& token) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::Newline:
      return "the end of the line";
    case TokenKind::Level:
      return fmt::format("'@{}'", token.text);
    default:
      return fmt::format("'{}'", token.text);
  }
}

}  // namespace

Error TokenStream::wrong(std::string_view expected, std::string hint) const {
  return Error{.where = peek().place,
               .what = fmt::format("expected {}, found {}", expected, show(peek())),
               .hint = std::move(hint)};
}

Result<Token> TokenStream::expect(std::string_view sign, std::string_view context,
                                  std::string hint) {
  if (peek().is(sign)) return take();
  return wrong(fmt::format("'{}' {}", sign, context), std::move(hint));
}

Result<Token> TokenStream::expect_name(std::string_view what) {
  if (peek().kind == TokenKind::Name) return take();
  if (peek().kind == TokenKind::Keyword)
    return wrong(what,
                 fmt::format("'{}' is a word of the language; take another name", peek().text));
  return wrong(what);
}

std::string TokenStream::text_from(std::size_t first) const {
  std::string text;
  for (std::size_t i = first; i < at_; ++i) {
    if (i > first && tokens_[i].offset > tokens_[i - 1].end()) text += ' ';
    text += tokens_[i].text;
  }
  return text;
}

Error TokenStream::too_deep() const {
  return Error{.where = peek().place,
               .what = fmt::format("this nests deeper than {}", kMaxNesting),
               .hint = "keep parts in locals of their own"};
}

}  // namespace isoscope::txn
