#pragma once
// A walk over the tokens of a program, with the errors that every parser of a part needs.
#include <string>

#include "program/token.h"
#include "support/token_stream.h"

namespace isoscope::txn {

inline constexpr int kMaxNesting = 200;  // of blocks and parentheses together

class TokenStream : public TokenStreamOf<Token> {
 public:
  using TokenStreamOf<Token>::TokenStreamOf;

  void skip_newlines() {
    while (peek().kind == TokenKind::Newline) take();
  }
  void skip_separators() {
    while (peek().kind == TokenKind::Newline || peek().is(";")) take();
  }

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
  int open_ = 0;
};

}  // namespace isoscope::txn
