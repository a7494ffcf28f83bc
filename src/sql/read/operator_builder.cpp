#include <fmt/format.h>

#include <array>

#include "sql/read/lazy_parts.h"
#include "sql/read/operators.h"
#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

struct BinaryOperator {
  std::string_view name;
  ExprOp op;
};
constexpr std::array<BinaryOperator, 12> kArithmetic = {{{"+", ExprOp::Add},
                                                         {"-", ExprOp::Subtract},
                                                         {"*", ExprOp::Multiply},
                                                         {"/", ExprOp::Divide},
                                                         {"%", ExprOp::Modulo},
                                                         {"=", ExprOp::Equal},
                                                         {"<>", ExprOp::NotEqual},
                                                         {"!=", ExprOp::NotEqual},
                                                         {"<", ExprOp::Less},
                                                         {"<=", ExprOp::LessEqual},
                                                         {">", ExprOp::Greater},
                                                         {">=", ExprOp::GreaterEqual}}};

std::optional<ExprOp> find_operator(std::string_view name) {
  for (const BinaryOperator& known : kArithmetic) {
    if (known.name == name) return known.op;
  }
  return std::nullopt;
}

bool is_comparison(ExprOp op) { return op >= ExprOp::Equal && op <= ExprOp::GreaterEqual; }

// Gives a constant the type of its partner.
void agree(Scope& scope, Expr& left, Expr& right, std::string_view what) {
  if (left.type == Type::Integer && !has_no_type(left) && right.type == Type::Numeric &&
      !has_no_type(right)) {
    left = adapt(scope, std::move(left), right.type, right.is_array, what);
    return;
  }
  if (has_no_type(left) && !has_no_type(right)) {
    left = adapt(scope, std::move(left), right.type, right.is_array, what, right.bits);
  } else {
    right = adapt(scope, std::move(right), left.type, left.is_array, what, left.bits);
  }
}

std::size_t size_of(const Expr& expr) {
  std::size_t size = 1;
  for (const Expr& arg : expr.args) size += size_of(arg);
  return size;
}

}  // namespace

bool repeats(Scope& scope, const Expr& operand, std::size_t times, Place place) {
  constexpr std::size_t kMaxRepeated = 1'000'000;  // in a file
  if (!operand.args.empty()) scope.catalog.num_repeated += size_of(operand) * times;
  if (scope.catalog.num_repeated <= kMaxRepeated) return true;
  scope.findings.fail(place, "this expression is too large when its abbreviations are written out",
                      "BETWEEN, IN, NULLIF, CASE and IS DISTINCT FROM repeat their operands: give "
                      "these variables of their own");
  return false;
}

Expr not_of(Expr condition) {
  const Place place = condition.place;
  return make(ExprOp::Not, Type::Boolean, {std::move(condition)}, place);
}

Expr compare(Scope& scope, ExprOp op, Expr left, Expr right, Place place) {
  agree(scope, left, right, "this comparison");
  const bool is_order = op != ExprOp::Equal && op != ExprOp::NotEqual;
  if (is_order && left.type == Type::Text)
    scope.findings.note(place,
                        "texts are ordered by their bytes, not as a collation or a type does",
                        NoteKind::Gap);
  return make(op, Type::Boolean, {std::move(left), std::move(right)}, place);
}

namespace {

Expr binary(Scope& scope, const std::string& name, Expr left, Expr right, Place place) {
  if (name == "||") {
    if (left.is_array || right.is_array)
      scope.findings.fail(place, "|| of arrays is not modelled", "use ARRAY[…] or a loop");
    note_scale(scope, {&left, 1}, place);
    note_scale(scope, {&right, 1}, place);
    return make(ExprOp::Concat, Type::Text, {std::move(left), std::move(right)}, place);
  }
  const auto op = find_operator(name);
  if (!op) {
    scope.findings.note(place, fmt::format("the operator {} is treated as some function", name),
                        NoteKind::Free);
    note_scale(scope, {&left, 1}, place);
    note_scale(scope, {&right, 1}, place);
    // -> and #>> take a part of a document, which is kept as a text.
    const bool is_part = name.starts_with("->") || name.starts_with("#>");
    const bool is_test = !is_part && name.find_first_of("~@?<>&") != std::string::npos;
    Expr opaque = make(ExprOp::Opaque,
                       is_test   ? Type::Boolean
                       : is_part ? Type::Text
                                 : left.type,
                       {std::move(left), std::move(right)}, place);
    opaque.text = name;
    return opaque;
  }
  if (is_comparison(*op)) return compare(scope, *op, std::move(left), std::move(right), place);
  const std::string what = fmt::format("the operator {}", name);
  const Type type = type_of_numbers(left, right);
  left = adapt(scope, std::move(left), type, false, what, right.bits);
  right = adapt(scope, std::move(right), type, false, what, left.bits);
  if (type == Type::Numeric && *op == ExprOp::Divide) note_scale(scope, {&left, 1}, place);
  return make(*op, type, {std::move(left), std::move(right)}, place);
}

// (a, b) < (c, d) as a < c, but b < d where a = c: at the first pair that is not equal, or is not
// known to be, the server stops.
Expr order_rows(Scope& scope, ExprOp op, std::vector<Expr> lefts, std::vector<Expr> rights,
                Place place) {
  const bool is_rising = op == ExprOp::Less || op == ExprOp::LessEqual;
  const ExprOp strict = is_rising ? ExprOp::Less : ExprOp::Greater;
  Expr rest = compare(scope, op, std::move(lefts.back()), std::move(rights.back()), place);
  for (std::size_t i = lefts.size() - 1; i-- > 0;) {
    if (!repeats(scope, lefts[i], 1, place) || !repeats(scope, rights[i], 1, place))
      return make_null(Type::Boolean, place);
    Expr is_same = compare(scope, ExprOp::Equal, lefts[i], rights[i], place);
    Expr differs = compare(scope, strict, std::move(lefts[i]), std::move(rights[i]), place);
    rest = make(ExprOp::If, Type::Boolean,
                {std::move(is_same), std::move(rest), std::move(differs)}, place);
  }
  return rest;
}

// (a, b) = (c, d) as a = c AND b = d.
Expr compare_rows(Scope& scope, const std::string& name, const Tree& left, const Tree& right,
                  Place place) {
  const Tree& left_parts = child(inside(left), "args");
  const Tree& right_parts = child(inside(right), "args");
  const auto op = find_operator(name);
  if (!op || !is_comparison(*op) || left_parts.size() != right_parts.size() || left_parts.empty()) {
    scope.findings.fail(place, "this comparison of rows is not modelled",
                        "compare the columns one by one");
    return make_null(Type::Boolean, place);
  }
  const LazyParts all_parts(scope, place);
  std::vector<Expr> lefts;
  std::vector<Expr> rights;
  for (std::size_t i = 0; i < left_parts.size(); ++i) {
    lefts.push_back(build_expr(scope, left_parts[i]));
    rights.push_back(build_expr(scope, right_parts[i]));
  }
  if (*op != ExprOp::Equal && *op != ExprOp::NotEqual)
    return order_rows(scope, *op, std::move(lefts), std::move(rights), place);
  std::optional<Expr> all;
  for (std::size_t i = 0; i < lefts.size(); ++i)
    all = both(std::move(all),
               compare(scope, ExprOp::Equal, std::move(lefts[i]), std::move(rights[i]), place));
  return *op == ExprOp::Equal ? *all : not_of(std::move(*all));
}

Expr build_between(Scope& scope, const std::string& kind, const Tree& node, Place place) {
  const Tree& ends = child(inside(child(node, "rexpr")), "items");
  if (ends.size() != 2) return make_null(Type::Boolean, place);
  LazyParts parts(scope, place);
  Expr value = build_expr(scope, child(node, "lexpr"));
  Expr low = build_expr(scope, ends[0]);
  const bool is_symmetric = kind.find("SYM") != std::string::npos;
  if (!is_symmetric) parts.end_first();
  Expr high = build_expr(scope, ends[1]);
  if (!repeats(scope, value, is_symmetric ? 3 : 1, place)) return make_null(Type::Boolean, place);
  if (is_symmetric && (!repeats(scope, low, 1, place) || !repeats(scope, high, 1, place)))
    return make_null(Type::Boolean, place);
  const auto between = [&](Expr first, Expr last) {
    Expr from = compare(scope, ExprOp::GreaterEqual, value, std::move(first), place);
    Expr to = compare(scope, ExprOp::LessEqual, value, std::move(last), place);
    return make(ExprOp::And, Type::Boolean, {std::move(from), std::move(to)}, place);
  };
  Expr within = between(low, high);
  // Not from the least to the greatest: these pass over a NULL.
  if (is_symmetric)
    within = make(ExprOp::Or, Type::Boolean, {std::move(within), between(high, low)}, place);
  return kind.find("NOT") != std::string::npos ? not_of(std::move(within)) : within;
}

Expr build_in_list(Scope& scope, const std::string& name, const Tree& node, Place place) {
  const Expr value = build_expr(scope, child(node, "lexpr"));
  std::vector<Expr> tests;
  const Tree& items = child(inside(child(node, "rexpr")), "items");
  if (!repeats(scope, value, items.size(), place)) return make_null(Type::Boolean, place);
  for (const Tree& item : items)
    tests.push_back(compare(scope, ExprOp::Equal, value, build_expr(scope, item), place));
  if (tests.empty()) return make_boolean(name != "=", place);
  Expr any = tests.size() == 1 ? std::move(tests.front())
                               : make(ExprOp::Or, Type::Boolean, std::move(tests), place);
  return name == "=" ? any : not_of(std::move(any));
}

// x = ANY (array), x <> ALL (array).
Expr build_any(Scope& scope, bool all, const std::string& name, const Tree& node, Place place) {
  if (name != (all ? "<>" : "=")) {
    scope.findings.fail(place, fmt::format("{} {} (…) is not modelled", name, all ? "ALL" : "ANY"),
                        "= ANY (…) and <> ALL (…) are");
    return make_null(Type::Boolean, place);
  }
  Expr value = build_expr(scope, child(node, "lexpr"));
  Expr array = build_expr(scope, child(node, "rexpr"));
  if (has_no_type(value))
    value = adapt(scope, std::move(value), array.type, false, "this comparison", array.bits);
  array = adapt(scope, std::move(array), value.type, true, all ? "ALL" : "ANY", value.bits);
  Expr in = make(ExprOp::InArray, Type::Boolean, {std::move(value), std::move(array)}, place);
  return all ? not_of(std::move(in)) : in;
}

// IS DISTINCT FROM: NULL is equal to itself.
Expr distinct(Scope& scope, bool negated, Expr left, Expr right, Place place) {
  agree(scope, left, right, "this comparison");
  if (!repeats(scope, left, 2, place) || !repeats(scope, right, 2, place))
    return make_null(Type::Boolean, place);
  const auto is_null = [&](const Expr& e) {
    return make(ExprOp::IsNull, Type::Boolean, {e}, place);
  };
  Expr null_pair = make(ExprOp::And, Type::Boolean, {is_null(left), is_null(right)}, place);
  Expr one_null = make(ExprOp::Or, Type::Boolean, {is_null(left), is_null(right)}, place);
  Expr equal = make(ExprOp::Equal, Type::Boolean, {std::move(left), std::move(right)}, place);
  Expr same = make(ExprOp::If, Type::Boolean,
                   {std::move(one_null), std::move(null_pair), std::move(equal)}, place);
  return negated ? same : not_of(std::move(same));
}

}  // namespace

// OLD.* IS DISTINCT FROM NEW.*: some column is.
Expr build_distinct(Scope& scope, bool negated, const Tree& node, Place place) {
  const Tree& left = child(node, "lexpr");
  const Tree& right = child(node, "rexpr");
  if (!is_star(left) || !is_star(right))
    return distinct(scope, negated, build_expr(scope, left), build_expr(scope, right), place);
  std::vector<NamedExpr> lefts = star_columns(scope, left);
  std::vector<NamedExpr> rights = star_columns(scope, right);
  if (lefts.size() != rights.size() || lefts.empty()) {
    scope.findings.fail(place, "this comparison of rows is not modelled",
                        "compare the columns one by one");
    return make_null(Type::Boolean, place);
  }
  std::optional<Expr> same;
  for (std::size_t i = 0; i < lefts.size(); ++i)
    same = both(std::move(same),
                distinct(scope, true, std::move(lefts[i].expr), std::move(rights[i].expr), place));
  return negated ? *std::move(same) : not_of(*std::move(same));
}

Expr build_operator(Scope& scope, const Tree& node, Place place) {
  const std::string kind = text_of(node, "kind");
  const std::string name = last_name(child(node, "name"));
  const Tree& left = child(node, "lexpr");
  const Tree& right = child(node, "rexpr");
  if (kind.find("BETWEEN") != std::string::npos) return build_between(scope, kind, node, place);
  if (kind == "AEXPR_IN") return build_in_list(scope, name, node, place);
  if (kind == "AEXPR_OP_ANY" || kind == "AEXPR_OP_ALL")
    return build_any(scope, kind == "AEXPR_OP_ALL", name, node, place);
  if (kind == "AEXPR_DISTINCT" || kind == "AEXPR_NOT_DISTINCT")
    return build_distinct(scope, kind == "AEXPR_NOT_DISTINCT", node, place);
  if (kind == "AEXPR_NULLIF") {
    Expr value = build_expr(scope, left);
    if (!repeats(scope, value, 1, place)) return value;
    Expr other = build_expr(scope, right);
    // It has the type with which it is compared.
    if (value.type == Type::Integer && type_of_numbers(value, other) == Type::Numeric)
      value = adapt(scope, std::move(value), Type::Numeric, false, "NULLIF");
    Expr equal = compare(scope, ExprOp::Equal, value, std::move(other), place);
    const Type type = value.type;
    return make(ExprOp::If, type, {std::move(equal), make_null(type, place), std::move(value)},
                place);
  }
  if (kind_of(left) == "RowExpr" && kind_of(right) == "RowExpr")
    return compare_rows(scope, name, left, right, place);
  if (left.is_null()) {
    Expr value = build_expr(scope, right);
    const Type type = type_of_numbers(value, value);
    value = adapt(scope, std::move(value), type, false, fmt::format("the sign {}", name));
    if (name == "+") return value;
    if (name == "-" && value.op == ExprOp::Decimal)
      return make_decimal(-*parse_decimal(value.text), place);
    if (name == "-" && value.op == ExprOp::Integer && value.number != INT64_MIN &&
        fits(value.bits, -value.number)) {
      value.number = -value.number;  // of the type that it has: -1::bigint is a bigint
      return value;
    }
    if (name == "-") return make(ExprOp::Negate, type, {std::move(value)}, place);
    if (name == "@") return make(ExprOp::Abs, type, {std::move(value)}, place);
    scope.findings.fail(place, fmt::format("the operator {} is not modelled", name));
    return value;
  }
  const std::size_t mark = scope.before != nullptr ? scope.before->size() : 0;
  Expr l = build_expr(scope, left);
  Expr made = binary(scope, name, std::move(l), build_expr(scope, right), place);
  refuse_dropped_operand(scope, made, scope.before != nullptr && scope.before->size() > mark);
  return computed_early(scope, std::move(made));
}

}  // namespace isoscope::sql
