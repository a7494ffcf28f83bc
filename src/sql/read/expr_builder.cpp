#include "sql/read/expr_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "sql/read/lazy_parts.h"
#include "sql/read/nesting.h"
#include "sql/read/query_parts.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

constexpr int kMaxDepth = kMaxLevels;  // of expressions in each other

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

// What BETWEEN, IN and the like abbreviate repeats an operand. In each other they repeat what is
// repeated already: a short text can stand for more than fits into any memory. False if it is too
// much.
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

// A uuid that PostgreSQL would print in another way.
bool is_odd_uuid(std::string_view text) {
  std::size_t digits = 0;
  bool is_odd = text.size() != 36;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isxdigit(byte) != 0) {
      ++digits;
      is_odd = is_odd || std::isupper(byte) != 0;
    } else if (c != '-' && c != '{' && c != '}') {
      return false;
    }
  }
  return digits == 32 && is_odd;
}

Expr build_constant(Scope& scope, const Tree& node, Place place) {
  if (has(node, "ival")) return make_integer(number_of(child(node, "ival"), "ival"), place);
  if (has(node, "sval")) {
    std::string text = text_of(child(node, "sval"), "sval");
    if (is_odd_uuid(text))
      scope.findings.note(place, "a uuid is compared as it is written", NoteKind::Gap);
    return make_text(std::move(text), place);
  }
  if (has(node, "boolval")) return make_boolean(flag_of(child(node, "boolval"), "boolval"), place);
  if (has(node, "fval")) {
    // A number that is too large for a plain one is kept as text by the parser, too.
    const std::string digits = text_of(child(node, "fval"), "fval");
    std::int64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return make_integer(number, place);
    if (const auto decimal = parse_decimal(digits)) return make_decimal(*decimal, place);
    scope.findings.note(place, fmt::format("the number {} is treated as some number", digits),
                        NoteKind::Gap);
    Expr opaque = make(ExprOp::Opaque, Type::Numeric, {}, place);
    opaque.text = digits;
    return opaque;
  }
  if (has(node, "bsval")) scope.findings.fail(place, "bit strings are not modelled");
  return make_null(Type::Text, place);
}

// The branches of CASE, COALESCE, … agree on a type: that of the first that is no constant.
void unify(Scope& scope, const std::vector<Expr*>& values, std::string_view what) {
  const Expr* model = nullptr;
  for (const Expr* value : values) {
    if (model == nullptr && !has_no_type(*value)) model = value;
  }
  for (const Expr* value : values) {
    if (model == nullptr && value->op != ExprOp::Null) model = value;
  }
  if (model == nullptr) return;
  Type type = model->type;
  const bool is_array = model->is_array;
  const std::uint8_t bits = model->bits;
  for (const Expr* value : values) {
    if (type == Type::Integer) type = type_of_numbers(*value, *value);
  }
  for (Expr* value : values) *value = adapt(scope, std::move(*value), type, is_array, what, bits);
}

Expr build_case(Scope& scope, const Tree& node, Place place) {
  std::optional<Expr> subject;
  if (has(node, "arg")) subject = build_expr(scope, child(node, "arg"));
  const Tree& branches = child(node, "args");
  // Each branch stands in the ones before it.
  const int depth = scope.depth;
  if (subject && !repeats(scope, *subject, branches.size(), place))
    return make_null(Type::Text, place);
  std::vector<Expr> tests;
  std::vector<Expr> results;
  LazyParts parts(scope, place);
  // The branches before are not taken; with `is_taken` the last one is.
  const auto comes_to = [&](bool is_taken) {
    std::optional<Expr> all;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      (void)repeats(scope, tests[i], 1, place);
      const bool is_last = is_taken && i + 1 == tests.size();
      all = both(std::move(all), is_last ? tests[i] : is_not_true(tests[i]));
    }
    return *all;
  };
  for (const Tree& entry : branches) {
    ++scope.depth;
    const Tree& when = inside(entry);
    Expr test = subject ? compare(scope, ExprOp::Equal, *subject,
                                  build_expr(scope, child(when, "expr")), place)
                        : build_condition(scope, child(when, "expr"));
    if (tests.empty()) {
      parts.end_first();
    } else {
      parts.end([&] { return comes_to(false); });
    }
    tests.push_back(std::move(test));
    results.push_back(build_expr(scope, child(when, "result")));
    parts.end([&] { return comes_to(true); });
  }
  results.push_back(has(node, "defresult") ? build_expr(scope, child(node, "defresult"))
                                           : make_null(Type::Text, place));
  parts.end([&] { return comes_to(false); });
  scope.depth = depth;
  std::vector<Expr*> values;
  for (Expr& result : results) values.push_back(&result);
  unify(scope, values, "CASE");
  Expr value = std::move(results.back());
  for (std::size_t i = tests.size(); i-- > 0;) {
    const bool is_array = value.is_array;
    const Type type = results[i].type;
    value = make(ExprOp::If, type, {std::move(tests[i]), std::move(results[i]), std::move(value)},
                 place);
    value.is_array = is_array;
  }
  return value;
}

// COALESCE stops at the first value; LEAST and GREATEST compute all.
Expr build_list(Scope& scope, ExprOp op, std::string_view what, const Tree& node, Place place) {
  std::vector<Expr> args;
  LazyParts parts(scope, place);
  for (const Tree& arg : child(node, "args")) {
    Expr value = build_expr(scope, arg);
    if (args.empty() || op != ExprOp::Coalesce) {
      parts.end_first();
    } else {
      parts.end([&] {
        std::optional<Expr> all;
        for (const Expr& earlier : args) {
          (void)repeats(scope, earlier, 1, place);
          all = both(std::move(all), make(ExprOp::IsNull, Type::Boolean, {earlier}, place));
        }
        return *all;
      });
    }
    args.push_back(std::move(value));
  }
  if (args.empty()) return make_null(Type::Integer, place);
  std::vector<Expr*> values;
  for (Expr& arg : args) values.push_back(&arg);
  unify(scope, values, what);
  const Type type = args.front().type;
  Expr list = make(op, type, std::move(args), place);
  list.is_array = list.args.front().is_array;
  if (op != ExprOp::Coalesce) note_order(scope, list, place);
  return list;
}

Expr build_logic(Scope& scope, const Tree& node, Place place) {
  const std::string name = text_of(node, "boolop");
  const ExprOp op = name == "OR_EXPR" ? ExprOp::Or : ExprOp::And;
  std::vector<Expr> args;
  LazyParts parts(scope, place);
  bool is_decided = false;
  for (const Tree& arg : child(node, "args")) {
    Expr part = build_condition(scope, arg);
    if (args.empty()) {
      parts.end_first();
    } else {
      parts.end([&] {
        std::optional<Expr> all;
        for (const Expr& earlier : args) {
          (void)repeats(scope, earlier, 1, place);
          all = both(std::move(all), goes_on_after(op, earlier));
        }
        return *all;
      });
    }
    if (!args.empty()) parts.note_known(part);
    if (!is_decided && decides(op, part)) {
      is_decided = true;
      if (parts.has_statements() ||
          std::ranges::any_of(args, [](const Expr& e) { return may_fail(e); }))
        refuse_dropped(scope, place);
    }
    args.push_back(std::move(part));
  }
  if (args.empty()) return make_null(Type::Boolean, place);
  if (name == "NOT_EXPR") return not_of(std::move(args.front()));
  return make(op, Type::Boolean, std::move(args), place);
}

Expr build_boolean_test(Scope& scope, const Tree& node, Place place) {
  const std::string test = text_of(node, "booltesttype");
  Expr value = build_condition(scope, child(node, "arg"));
  const bool negated = test.find("NOT") != std::string::npos;
  const auto choose = [&](Expr condition) {
    return make(ExprOp::If, Type::Boolean,
                {std::move(condition), make_boolean(!negated, place), make_boolean(negated, place)},
                place);
  };
  if (test.find("UNKNOWN") != std::string::npos)
    return choose(make(ExprOp::IsNull, Type::Boolean, {std::move(value)}, place));
  if (test.find("FALSE") != std::string::npos) return choose(not_of(std::move(value)));
  return choose(std::move(value));
}

Expr build_element(Scope& scope, const Tree& node) {
  Expr array = build_expr(scope, child(node, "arg"));
  const Place place = array.place;
  const Tree& path = child(node, "indirection");
  const Tree& indices = path.size() == 1 ? child(path[0], "A_Indices") : no_tree();
  if (indices.is_null() || flag_of(indices, "is_slice")) {
    scope.findings.fail(place, "only one element of an array can be taken here",
                        "as in a[i]; slices and fields of values are not modelled");
    return array;
  }
  if (!array.is_array) {
    scope.findings.fail(place, "this has an index, but is no array");
    return array;
  }
  Expr index =
      adapt(scope, build_expr(scope, child(indices, "uidx")), Type::Integer, false, "an index");
  const Type type = array.type;
  return make(ExprOp::Element, type, {std::move(array), std::move(index)}, place);
}

Expr build_array(Scope& scope, const Tree& node, Place place) {
  std::vector<Expr> elements;
  for (const Tree& element : child(node, "elements"))
    elements.push_back(build_expr(scope, element));
  std::vector<Expr*> values;
  for (Expr& element : elements) values.push_back(&element);
  unify(scope, values, "ARRAY");
  const Type type = elements.empty() ? Type::Integer : elements.front().type;
  Expr array = make(ExprOp::ArrayOf, type, std::move(elements), place);
  array.is_array = true;
  for (const Expr& arg : array.args) {
    if (arg.is_array) scope.findings.fail(place, "arrays of arrays are not modelled");
  }
  return array;
}

Expr build_parameter(Scope& scope, const Tree& node, Place place) {
  const std::int64_t number = number_of(node, "number");
  if (scope.frame != nullptr && number >= 1 &&
      static_cast<std::size_t>(number) <= scope.frame->positional.size()) {
    const auto index = scope.frame->positional[static_cast<std::size_t>(number - 1)];
    return make_variable(*scope.frame, scope.frame->named(index).var, place);
  }
  scope.findings.fail(place, fmt::format("there is no parameter ${}", number));
  return make_null(Type::Integer, place);
}

Expr build_kind(Scope& scope, const std::string& kind, const Tree& node) {
  const Place place = scope.place(node);
  if (kind == "A_Const") return build_constant(scope, node, place);
  if (kind == "ColumnRef") return build_name(scope, node, place);
  if (kind == "ParamRef") return build_parameter(scope, node, place);
  if (kind == "A_Expr") return build_operator(scope, node, place);
  if (kind == "BoolExpr") return build_logic(scope, node, place);
  if (kind == "FuncCall") return build_call(scope, node, place);
  if (kind == "TypeCast") return build_cast(scope, node, place);
  if (kind == "SubLink") return build_subquery(scope, node, place);
  if (kind == "CaseExpr") return build_case(scope, node, place);
  if (kind == "BooleanTest") return build_boolean_test(scope, node, place);
  if (kind == "A_Indirection") return build_element(scope, node);
  if (kind == "A_ArrayExpr") return build_array(scope, node, place);
  if (kind == "CollateClause") {
    scope.findings.note(place, "COLLATE is ignored", NoteKind::Gap);
    return build_expr(scope, child(node, "arg"));
  }
  if (kind == "CoalesceExpr") return build_list(scope, ExprOp::Coalesce, "COALESCE", node, place);
  if (kind == "MinMaxExpr") {
    const bool least = text_of(node, "op") == "IS_LEAST";
    return build_list(scope, least ? ExprOp::Least : ExprOp::Greatest, least ? "LEAST" : "GREATEST",
                      node, place);
  }
  if (kind == "NullTest") {
    const bool is_null = text_of(node, "nulltesttype") != "IS_NOT_NULL";
    if (auto record = build_record_test(scope, child(node, "arg"), is_null, place))
      return *std::move(record);
    Expr test = make(ExprOp::IsNull, Type::Boolean, {build_expr(scope, child(node, "arg"))}, place);
    return is_null ? test : not_of(std::move(test));
  }
  if (kind == "SQLValueFunction") {
    scope.findings.note(place, "the time and the user are unknown values", NoteKind::Free);
    const std::string op = text_of(node, "op");
    const bool is_name =
        op.find("USER") != std::string::npos || op.find("ROLE") != std::string::npos ||
        op.find("CATALOG") != std::string::npos || op.find("SCHEMA") != std::string::npos;
    Expr opaque = make(ExprOp::Opaque, is_name ? Type::Text : Type::Integer, {}, place);
    opaque.text = op;
    opaque.is_volatile = true;
    return opaque;
  }
  scope.findings.fail(place, fmt::format("this kind of expression ({}) is not modelled", kind));
  return make_null(Type::Integer, place);
}

}  // namespace

Expr build_expr(Scope& scope, const Tree& node) {
  if (scope.findings.failed()) return make_null(Type::Integer, {});
  if (scope.depth > kMaxDepth) {
    scope.findings.fail(scope.place(inside(node)), "this expression nests too deeply",
                        fmt::format("at most {} in each other", kMaxDepth));
    return make_null(Type::Integer, {});
  }
  ++scope.depth;
  const std::string kind = kind_of(node);
  const bool may_not_run = scope.may_not_run;
  const bool in_lazy_part = scope.in_lazy_part;
  const bool null_is_false = scope.null_is_false;
  const bool is_and_or = kind == "BoolExpr" && text_of(inside(node), "boolop") != "NOT_EXPR";
  if (kind == "CaseExpr" || kind == "CoalesceExpr" || is_and_or)
    scope.may_not_run = scope.in_lazy_part = true;
  if (!is_and_or && kind != "SubLink") scope.null_is_false = false;
  Expr expr = build_kind(scope, kind, inside(node));
  scope.may_not_run = may_not_run;
  scope.in_lazy_part = in_lazy_part;
  scope.null_is_false = null_is_false;
  --scope.depth;
  return expr;
}

Expr build_condition(Scope& scope, const Tree& node) {
  return adapt(scope, build_expr(scope, node), Type::Boolean, false, "a condition");
}

Expr build_filter(Scope& scope, const Tree& node) {
  scope.null_is_false = true;
  Expr condition = build_condition(scope, node);
  scope.null_is_false = false;
  note_order_of_parts(scope, condition);
  return condition;
}

}  // namespace isoscope::sql
