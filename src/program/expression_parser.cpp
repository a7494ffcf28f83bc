#include "program/expression_parser.h"

#include <algorithm>
#include <array>
#include <limits>

namespace isoscope::txn {

namespace {

struct Operator {
  std::string_view sign;
  int power;  // the higher, the tighter it binds
  ExprKind kind;
  Op op;
};

constexpr std::array<Operator, 16> kOperators = {{
    {"||", 1, ExprKind::Or, Op::Copy},
    {"&&", 2, ExprKind::And, Op::Copy},
    {"==", 3, ExprKind::Binary, Op::Equal},
    {"!=", 3, ExprKind::Binary, Op::NotEqual},
    {"<", 3, ExprKind::Binary, Op::Less},
    {"<=", 3, ExprKind::Binary, Op::LessEqual},
    {">", 3, ExprKind::Binary, Op::Greater},
    {">=", 3, ExprKind::Binary, Op::GreaterEqual},
    {"|", 4, ExprKind::Binary, Op::BitOr},
    {"^", 5, ExprKind::Binary, Op::BitXor},
    {"&", 6, ExprKind::Binary, Op::BitAnd},
    {"+", 7, ExprKind::Binary, Op::Add},
    {"-", 7, ExprKind::Binary, Op::Subtract},
    {"*", 8, ExprKind::Binary, Op::Multiply},
    {"/", 8, ExprKind::Binary, Op::Divide},
    {"%", 8, ExprKind::Binary, Op::Modulo},
}};

constexpr std::string_view kFinalHint =
    "alice[1].b is local b of the first transaction of session alice";

std::string closes(const Token& open) {
  return fmt::format("it closes the '{}' at {}:{}", open.text, open.place.line, open.place.column);
}

std::vector<ExprPtr> parts_of(ExprPtr first, ExprPtr second = nullptr) {
  std::vector<ExprPtr> parts;
  parts.push_back(std::move(first));
  if (second) parts.push_back(std::move(second));
  return parts;
}

}  // namespace

Result<ExprPtr> ExpressionParser::make(Expr expr) const {
  for (const ExprPtr& part : expr.parts) expr.depth = std::max(expr.depth, part->depth + 1);
  if (expr.depth > kMaxTreeDepth)
    return Error{.where = expr.place,
                 .what = fmt::format("more than {} operators in a row", kMaxTreeDepth),
                 .hint = "keep parts in locals of their own"};
  return ExprPtr(std::make_unique<Expr>(std::move(expr)));
}

Result<ExprPtr> ExpressionParser::parse(Context context) {
  context_ = context;
  return parse_joined(0);
}

// Joins operands as long as the operator between them binds tighter than `power`.
Result<ExprPtr> ExpressionParser::parse_joined(int power) {
  auto left = parse_operand();
  while (left) {
    const auto* op = std::find_if(kOperators.begin(), kOperators.end(),
                                  [&](const Operator& o) { return tokens_.peek().is(o.sign); });
    if (op == kOperators.end() || op->power <= power) break;
    const Place place = tokens_.take().place;
    auto right = parse_joined(op->power);
    if (!right) return right;
    left = make({.kind = op->kind,
                 .place = place,
                 .op = op->op,
                 .parts = parts_of(std::move(*left), std::move(*right))});
  }
  return left;
}

Result<ExprPtr> ExpressionParser::parse_operand() {
  const TokenStream::Nesting nesting(tokens_);
  if (nesting.is_too_deep()) return tokens_.too_deep();
  const Token& token = tokens_.peek();
  if (token.kind == TokenKind::Number) return parse_number(false);
  if (token.kind == TokenKind::Name) return parse_name();
  if (token.is("-") && tokens_.peek(1).kind == TokenKind::Number) {
    tokens_.take();
    return parse_number(true);
  }
  if (token.is("-") || token.is("!")) {
    const Token sign = tokens_.take();
    auto operand = parse_operand();
    if (!operand) return operand;
    return make({.kind = ExprKind::Unary,
                 .place = sign.place,
                 .op = sign.is("-") ? Op::Negate : Op::Not,
                 .parts = parts_of(std::move(*operand))});
  }
  if (token.is("(")) {
    const Token open = tokens_.take();
    auto inner = parse_joined(0);
    if (!inner) return inner;
    if (auto close = tokens_.expect(")", "here", closes(open)); !close) return close.error();
    return inner;
  }
  if (token.is("committed")) return parse_committed();
  if (token.is("min") || token.is("max")) return parse_extreme();
  if (token.is("read"))
    return Error{.where = token.place,
                 .what = "a read cannot stand inside an expression",
                 .hint = "read into a local first: v := read(x)"};
  std::string hint;
  if (token.kind == TokenKind::Newline)
    hint = "an expression goes on in the next line only inside parentheses";
  if (token.is("=")) hint = "equality is '=='";
  return tokens_.wrong("an expression", std::move(hint));
}

Result<ExprPtr> ExpressionParser::parse_number(bool negative) {
  const Token token = tokens_.take();
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (!negative && token.magnitude > kLargest)
    return Error{.where = token.place,
                 .what = "this number does not fit into 64 bits",
                 .hint = "the largest is 9223372036854775807"};
  const std::uint64_t bits = negative ? ~token.magnitude + 1 : token.magnitude;
  return make(
      {.kind = ExprKind::Number, .place = token.place, .number = static_cast<std::int64_t>(bits)});
}

Result<ExprPtr> ExpressionParser::parse_name() {
  const Token& name = tokens_.peek();
  if (self_ && name.text == "self" && context_ != Context::FinalClaim) {
    tokens_.take();
    return make({.kind = ExprKind::Number, .place = name.place, .number = *self_});
  }
  if (name.text == "true" || name.text == "false")
    return Error{.where = name.place,
                 .what = fmt::format("there is no '{}'", name.text),
                 .hint = name.text == "true" ? "write 1: anything but 0 is true"
                                             : "write 0: anything else is true"};
  if (name.text == "final" && tokens_.peek(1).is("(")) return parse_final_value();
  if (tokens_.peek(1).is("(")) {
    return Error{.where = name.place,
                 .what = fmt::format("'{}' is not a function", name.text),
                 .hint = context_ == Context::FinalClaim
                             ? "there are committed(…), final(…), min(…) and max(…)"
                             : "there are min(…) and max(…); transactions are called by sessions"};
  }
  const bool is_indexed = tokens_.peek(1).is("[");
  if (context_ == Context::Constant)
    return Error{.where = name.place,
                 .what = fmt::format("'{}' is not a constant", name.text),
                 .hint = "only numbers and operators can stand here"};
  if (context_ == Context::Transaction) {
    if (is_indexed && tokens_.peek(3).is("]") && tokens_.peek(4).is("."))
      return Error{.where = name.place,
                   .what = "a transaction cannot see the locals of another",
                   .hint = "only an assert outside of transactions can"};
    if (is_indexed)
      return Error{.where = name.place,
                   .what = fmt::format("'{}[…]' is a key: use read({}[…])", name.text, name.text),
                   .hint = "read into a local first: v := read(x[1])"};
    const Token local = tokens_.take();
    return make({.kind = ExprKind::Local, .place = local.place, .name = {local.text, local.place}});
  }
  if (!is_indexed)
    return Error{.where = name.place,
                 .what = fmt::format("'{}' alone says nothing about the finished run", name.text),
                 .hint = fmt::format("{}; final({}) is the value of a key", kFinalHint, name.text)};
  auto expr = parse_transaction_of_session();
  if (!expr) return expr.error();
  if (auto dot = tokens_.expect(".", "and a local", std::string(kFinalHint)); !dot)
    return dot.error();
  auto local = tokens_.expect_name("a local");
  if (!local) return local.error();
  expr->kind = ExprKind::FinalLocal;
  expr->name = {local->text, local->place};
  return make(std::move(*expr));
}

Result<Expr> ExpressionParser::parse_transaction_of_session() {
  auto session = tokens_.expect_name("a session");
  if (!session) return session.error();
  if (auto open = tokens_.expect("[", "and a number after the session", std::string(kFinalHint));
      !open)
    return open.error();
  const Token number = tokens_.peek();
  if (number.kind != TokenKind::Number)
    return tokens_.wrong("the number of a transaction", "they count from 1");
  auto parsed = parse_number(false);
  if (!parsed) return parsed.error();
  if (auto close = tokens_.expect("]", "after the number", std::string(kFinalHint)); !close)
    return close.error();
  return Expr{.place = session->place,
              .number = (*parsed)->number,
              .session = {session->text, session->place},
              .number_place = number.place};
}

Result<ExprPtr> ExpressionParser::parse_committed() {
  const Token word = tokens_.take();
  if (context_ != Context::FinalClaim)
    return Error{.where = word.place,
                 .what = "'committed' cannot stand here",
                 .hint = "only an assert outside of transactions sees the finished run"};
  auto open = tokens_.expect("(", "after 'committed'", "committed(alice[1])");
  if (!open) return open.error();
  auto expr = parse_transaction_of_session();
  if (!expr) return expr.error();
  if (auto close = tokens_.expect(")", "here", closes(*open)); !close) return close.error();
  expr->kind = ExprKind::Committed;
  return make(std::move(*expr));
}

// final(stock[2])
Result<ExprPtr> ExpressionParser::parse_final_value() {
  const Token word = tokens_.take();
  if (context_ != Context::FinalClaim)
    return Error{.where = word.place,
                 .what = "'final' cannot stand here",
                 .hint = "only an assert outside of transactions sees the finished run"};
  const Token open = tokens_.take();
  auto key = parse_key(Context::Constant);
  context_ = Context::FinalClaim;
  if (!key) return key.error();
  if (auto close = tokens_.expect(")", "after the key", closes(open)); !close) return close.error();
  return make({.kind = ExprKind::FinalValue,
               .place = word.place,
               .name = key->family,
               .parts = std::move(key->indices)});
}

Result<ExprPtr> ExpressionParser::parse_extreme() {
  const Token word = tokens_.take();
  auto open = tokens_.expect("(", "after it", fmt::format("{}(a, b)", word.text));
  if (!open) return open.error();
  Expr expr{
      .kind = ExprKind::Binary, .place = word.place, .op = word.is("min") ? Op::Min : Op::Max};
  do {
    auto part = parse_joined(0);
    if (!part) return part;
    expr.parts.push_back(std::move(*part));
  } while (tokens_.take_if(","));
  if (auto close = tokens_.expect(")", "after the arguments", closes(*open)); !close)
    return close.error();
  return make(std::move(expr));
}

Result<KeyExpr> ExpressionParser::parse_key(Context context_of_indices) {
  auto family = tokens_.expect_name("a key");
  if (!family) return family.error();
  KeyExpr key{.family = {family->text, family->place}, .indices = {}};
  if (!tokens_.peek().is("[")) return key;
  const Token open = tokens_.take();
  do {
    auto index = parse(context_of_indices);
    if (!index) return index.error();
    key.indices.push_back(std::move(*index));
  } while (tokens_.take_if(","));
  if (auto close = tokens_.expect("]", "after the indices", closes(open)); !close)
    return close.error();
  return key;
}

}  // namespace isoscope::txn
