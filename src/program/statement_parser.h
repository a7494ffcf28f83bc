#pragma once
// Reads the statements of a transaction.
#include <string_view>

#include "program/ast.h"
#include "program/expression_parser.h"
#include "program/token_stream.h"
#include "support/result.h"

namespace isoscope::txn {

class StatementParser {
 public:
  // What they mention of the program goes into `syntax`: families of keys, assertions.
  StatementParser(TokenStream& tokens, ExpressionParser& expressions, Syntax& syntax)
      : tokens_(tokens), expressions_(expressions), syntax_(syntax) {}

  // { … }, after newlines. `of_what` has it, for people.
  Result<Block> parse_block(std::string_view of_what);
  // Its text is what was read from that token on.
  AssertionId add_assertion(std::size_t first_token, Place place);

 private:
  // Is the token so far ahead, or the first behind newlines there, a '{'?
  bool begins_block(std::size_t ahead) const {
    while (tokens_.peek(ahead).kind == TokenKind::Newline) ++ahead;
    return tokens_.peek(ahead).is("{");
  }
  Result<Stmt> parse_statement();
  Result<Stmt> parse_assignment();
  Result<Stmt> parse_write();
  Result<Stmt> parse_if();
  Result<Stmt> parse_for();
  Result<Stmt> parse_while();
  Result<Stmt> parse_lock();
  Result<Stmt> parse_one_statement();
  Result<Stmt> parse_assert();
  Result<ExprPtr> parse_condition(std::string_view after);
  Result<KeyExpr> parse_key(Context context_of_indices);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  Syntax& syntax_;
  bool in_statement_ = false;  // inside of stmt { … }
};

}  // namespace isoscope::txn
