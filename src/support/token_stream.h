#pragma once
// A walk over the tokens of a text, with the errors that every parser needs.
//
// A Token has a text, a place, `is(word)`, `is_end()`, and a function `show(token)` beside it that
// says what it is, for people. The last token is the end, and it is never taken.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace isoscope {

template <class Token>
class TokenStreamOf {
 public:
  explicit TokenStreamOf(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& last() const { return tokens_[at_ - 1]; }  // requires: one was taken
  const Token& at(std::size_t position) const { return tokens_[position]; }
  std::size_t position() const { return at_; }
  void go_back_to(std::size_t position) { at_ = position; }
  bool at_end() const { return peek().is_end(); }
  const Token& take() {
    const Token& token = tokens_[at_];
    if (!token.is_end()) ++at_;
    return token;
  }
  bool take_if(std::string_view text) {
    if (!peek().is(text)) return false;
    ++at_;
    return true;
  }

  Error wrong(std::string_view expected, std::string hint = {}) const {
    Error error{.where = peek().place,
                .what = fmt::format("expected {}, found {}", expected, show(peek()))};
    error.hint = std::move(hint);
    return error;
  }
  Result<Token> expect(std::string_view sign, std::string_view context,
                       const std::string& hint = {}) {
    if (peek().is(sign)) return take();
    return wrong(fmt::format("'{}' {}", sign, context), hint);
  }
  // For a name that the author chooses, where a word of the language stands.
  Error is_a_word(std::string_view expected) const {
    return wrong(expected,
                 fmt::format("'{}' is a word of the language; take another name", peek().text));
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace isoscope
