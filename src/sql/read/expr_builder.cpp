#include "sql/read/expr_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sql/read/lazy_parts.h"
#include "sql/read/nesting.h"
#include "sql/read/operators.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

constexpr int kMaxDepth = kMaxLevels;  // of expressions in each other

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
