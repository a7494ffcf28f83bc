#pragma once
// Reads expressions and keys.
//
//     key  := NAME [ "[" expr { "," expr } "]" ]
//     expr := int | NAME | "self" | ("min" | "max") "(" expr { "," expr } ")" | "(" expr ")"
//           | NAME "[" int "]" "." NAME | "committed" "(" NAME "[" int "]" ")"    # in final claims
//           | "final" "(" key ")"                                                 # in final claims
//           | ("-" | "!") expr | expr OPERATOR expr
//
// Operators from the tightest: - ! then * / % then + - then & then ^ then | then == != < <= > >=
// then && then ||; those of one strength join to the left.
#include <optional>

#include "program/ast.h"
#include "program/token_stream.h"

namespace isoscope::txn {

// Operators in a row make a tree as deep as the row is long.
inline constexpr int kMaxTreeDepth = 2'000;

// Where an expression stands decides what it may name.
enum class Context : std::uint8_t { Transaction, FinalClaim, Constant };

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  Result<ExprPtr> parse(Context context);
  // What `self` is worth from now on: the number of the session in session w[1..5]; if anything.
  void set_self(std::optional<std::int64_t> self) { self_ = self; }
  bool has_self() const { return self_.has_value(); }
  Result<KeyExpr> parse_key(Context context_of_indices);

 private:
  Result<ExprPtr> parse_joined(int power);
  Result<ExprPtr> parse_operand();
  Result<ExprPtr> parse_number(bool negative);
  Result<ExprPtr> parse_name();
  Result<ExprPtr> parse_committed();
  Result<ExprPtr> parse_final_value();
  Result<ExprPtr> parse_extreme();
  // alice[1]
  Result<Expr> parse_transaction_of_session();
  Result<ExprPtr> make(Expr expr) const;

  TokenStream& tokens_;
  Context context_ = Context::Transaction;
  std::optional<std::int64_t> self_;
};

}  // namespace isoscope::txn
