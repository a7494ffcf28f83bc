#pragma once
// A walk over the tokens of a program, with the errors that every parser of a part needs.
#include <fmt/format.h>

#include <string>

#include "program/token.h"

namespace isoscope::txn {

inline constexpr int kMaxNesting = 200;  // of blocks and parentheses together

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  std::size_t position() const { return at_; }
  void go_back_to(std::size_t position) { at_ = position; }
  bool at_end() const { return peek().kind == TokenKind::End; }
  const Token& take() {
    const Token& token = tokens_[at_];
    if (token.kind != TokenKind::End) ++at_;
    return token;
  }
  bool take_if(std::string_view text) {
    if (!peek().is(text)) return false;
    ++at_;
    return true;
  }
  void skip_newlines() {
    while (peek().kind == TokenKind::Newline) ++at_;
  }
  void skip_separators() {
    while (peek().kind == TokenKind::Newline || peek().is(";")) ++at_;
  }

  Error wrong(std::string_view expected, std::string hint = {}) const;
  Result<Token> expect(std::string_view sign, std::string_view context, std::string hint = {});
  // A name that the author chooses: no keyword.
  Result<Token> expect_name(std::string_view what);

  // What stands from the token at `first` up to here, on one line and without comments.
  std::string text_from(std::size_t first) const;

  // Counts what is open, so that no text exhausts the stack.
  class Nesting {
   public:
    explicit Nesting(TokenStream& stream) : stream_(stream) { ++stream_.open_; }
    ~Nesting() { --stream_.open_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool is_too_deep() const { return stream_.open_ > kMaxNesting; }

   private:
    TokenStream& stream_;
  };
  Error too_deep() const;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int open_ = 0;
};

}  // namespace isoscope::txn
