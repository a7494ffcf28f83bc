// Subqueries in expressions: a Select into a hidden variable before the statement.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/read/query_parts.h"
#include "sql/read/whole_queries.h"

namespace isoscope::sql {
namespace {

// A query is a larger thing to build than an operator: fewer of them fit into each other.
constexpr int kLevelsOfSubquery = 10;

Statement model_of(const Scope& scope, Place place) { return {.place = place, .text = scope.text}; }

Expr add_exists(Scope& scope, BuiltQuery built, Place place, bool runs_whole = false) {
  built.query.outputs.clear();
  built.query.order_by.clear();
  const VarId var = scope.frame->add_hidden("exists", Type::Boolean, false, place);
  scope.before->push_back(model_of(scope, place)
                              .with(Select{.query = std::move(built.query),
                                           .targets = {var},
                                           .in_expression = true,
                                           .runs_whole = runs_whole,
                                           .exists = true}));
  return make_variable(*scope.frame, var, place);
}

Expr add_scalar(Scope& scope, BuiltQuery built, Place place, bool runs_whole = false) {
  if (built.columns.size() != 1) {
    scope.findings.fail(place, "a subquery that is a value has one column");
    return make_null(Type::Integer, place);
  }
  const ResultColumn& column = built.columns[0];
  const VarId var =
      scope.frame->add_hidden("subquery", column.type, column.is_array, place, column.bits);
  add_select(*scope.before, scope, std::move(built), {var},
             Select{.in_expression = true, .is_scalar = true, .runs_whole = runs_whole},
             model_of(scope, place));
  return make_variable(*scope.frame, var, place);
}

bool may_be_null(const Expr& expr, const Scope& scope, const Query& query) {
  if (expr.op == ExprOp::Integer || expr.op == ExprOp::Decimal || expr.op == ExprOp::Text ||
      expr.op == ExprOp::Boolean)
    return false;
  if (expr.op != ExprOp::Column || query.rows) return true;
  return !scope.catalog.table(query.sources[expr.source]).columns[expr.column].not_null;
}

// Are there columns of the query around among the values that IN looks for? Then that query must be
// one whose columns are variables.
bool looks_for_columns(Scope& scope, const std::vector<Expr>& tests) {
  const auto column = std::ranges::find_if(tests, uses_column);
  if (column == tests.end()) return false;
  if (scope.is_used_inside != nullptr) {
    *scope.is_used_inside = true;
  } else {
    scope.findings.fail(column->place, "IN (SELECT …) looks for a column of the query around it",
                        "a join can be modelled");
  }
  return true;
}

// Numbers of both types can be compared as they are.
Expr comparable(Scope& scope, Expr test, Type type) {
  if (type == Type::Integer && test.type == Type::Numeric) return test;
  return adapt(scope, std::move(test), type, false, "IN");
}

// (a, b) IN (SELECT c, d …): true if EXISTS (… AND c = a AND d = b). Otherwise NULL, if there is a
// row of which NULLs do not let us say that it is another one, and false if there is none.
Expr add_membership(Scope& scope, BuiltQuery built, std::vector<Expr> tests, bool null_is_false,
                    Place place) {
  if (looks_for_columns(scope, tests)) return make_null(Type::Boolean, place);
  if (tests.size() != built.columns.size()) {
    scope.findings.fail(place, "IN (SELECT …) has as many columns as there are values on its left");
    return make_null(Type::Boolean, place);
  }
  if (built.query.is_aggregate() && tests.size() == 1) {  // one row, whatever it finds
    Expr test = comparable(scope, std::move(tests[0]), built.columns[0].type);
    Expr value = add_scalar(scope, std::move(built), place);
    return make(ExprOp::Equal, Type::Boolean, {std::move(test), std::move(value)}, place);
  }
  if (built.query.is_aggregate() || built.query.limit || built.query.offset ||
      !built.query.distinct_on.empty() || !built.computed.empty()) {
    const NamedRows rows = rows_of(scope, std::move(built), "", place);
    if (scope.findings.failed()) return make_null(Type::Boolean, place);
    built = query_of_rows(rows, place);
  }
  if (built.query.lock != Lock::None) {
    scope.findings.fail(place, "IN (SELECT … FOR UPDATE) locks rows that do not match, too",
                        "lock the rows by a query before, or add LIMIT");
    return make_null(Type::Boolean, place);
  }
  std::optional<Expr> unclear;  // is it perhaps this row?
  bool has_nulls = false;
  BuiltQuery others = built;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const Expr output = built.query.outputs[i].expr;
    const Expr test = comparable(scope, std::move(tests[i]), built.columns[i].type);
    const Expr same = make(ExprOp::Equal, Type::Boolean, {output, test}, place);
    std::vector<Expr> ways;
    // Of a single column, no row is the same here.
    if (tests.size() > 1) ways.push_back(same);
    for (const Expr& side : {output, test}) {
      if (!may_be_null(side, scope, built.query)) continue;
      has_nulls = true;
      ways.push_back(make(ExprOp::IsNull, Type::Boolean, {side}, place));
    }
    if (!ways.empty())
      unclear = both(std::move(unclear),
                     ways.size() == 1 ? std::move(ways[0])
                                      : make(ExprOp::Or, Type::Boolean, std::move(ways), place));
    built.query.where = both(std::move(built.query.where), same);
  }
  Expr is_there = add_exists(scope, std::move(built), place);
  if (!has_nulls || null_is_false) return is_there;
  others.query.where = both(std::move(others.query.where), *std::move(unclear));
  others.query.lock = Lock::None;
  const Expr is_unclear = add_exists(scope, std::move(others), place);
  const Expr unknown =
      make(ExprOp::If, Type::Boolean,
           {is_unclear, make_null(Type::Boolean, place), make_boolean(false, place)}, place);
  return make(ExprOp::If, Type::Boolean, {is_there, make_boolean(true, place), unknown}, place);
}

// ARRAY (SELECT …): all values, in the order of the rows.
Expr add_array(Scope& scope, BuiltQuery built, Place place) {
  if (built.columns.size() != 1 || built.columns[0].is_array) {
    scope.findings.fail(place, "ARRAY (SELECT …) has one column of plain values");
    return make_null(Type::Integer, place);
  }
  const Type type = built.columns[0].type;
  const std::uint8_t bits = built.columns[0].bits;
  const NamedRows rows = rows_of(scope, std::move(built), "", place);
  if (scope.findings.failed()) return make_null(type, place);
  BuiltQuery all = query_of_rows(rows, place);
  all.query.outputs[0].aggregate = Aggregate::Array;
  all.columns[0].is_array = true;
  const VarId var = scope.frame->add_hidden("array", type, true, place, bits);
  add_select(*scope.before, scope, std::move(all), {var}, Select{.in_expression = true},
             model_of(scope, place));
  // Of no rows it is empty, where array_agg is NULL.
  Expr empty = make(ExprOp::ArrayOf, type, {}, place);
  empty.is_array = true;
  Expr list = make(ExprOp::Coalesce, type,
                   {make_variable(*scope.frame, var, place), std::move(empty)}, place);
  list.is_array = true;
  return list;
}

}  // namespace

Expr build_subquery(Scope& scope, const Tree& sublink, Place place) {
  const std::string kind = text_of(sublink, "subLinkType");
  if (scope.before == nullptr || scope.frame == nullptr) {
    scope.findings.fail(place, "a subquery cannot stand here", "select into a variable first");
    return make_null(Type::Integer, place);
  }
  const std::string op = last_name(child(sublink, "operName"));
  const bool is_membership = kind == "ANY_SUBLINK" && (op.empty() || op == "=");
  if (kind != "EXISTS_SUBLINK" && kind != "EXPR_SUBLINK" && kind != "ARRAY_SUBLINK" &&
      !is_membership) {
    scope.findings.fail(place, "this kind of subquery is not modelled",
                        "EXISTS (…), x IN (SELECT …) and (SELECT …) are");
    return make_null(Type::Integer, place);
  }
  const bool null_is_false = std::exchange(scope.null_is_false, false);  // build_expr sets it back
  Scope inner = scope;
  inner.outer = &scope;
  inner.depth += kLevelsOfSubquery;
  inner.is_subquery = true;
  const Tree& select = child(child(sublink, "subselect"), "SelectStmt");
  BuiltQuery built = build_query(inner, select);
  if (scope.findings.failed()) return make_null(Type::Integer, place);
  if (kind == "ARRAY_SUBLINK") return add_array(scope, std::move(built), place);
  if (is_membership) {
    const Tree& left = child(sublink, "testexpr");
    std::vector<Expr> tests;
    if (kind_of(left) == "RowExpr") {
      for (const Tree& arg : child(inside(left), "args")) tests.push_back(build_expr(scope, arg));
    } else {
      tests.push_back(build_expr(scope, left));
    }
    return add_membership(scope, std::move(built), std::move(tests), null_is_false, place);
  }
  if (kind == "EXPR_SUBLINK") {
    note_second_row(scope, select, built.query, place);
    return add_scalar(scope, std::move(built), place, scope.runs_whole == &select);
  }
  note_first_row(scope, select, built.query);
  // An aggregate has a row whatever it finds.
  if (built.query.is_aggregate()) return make_boolean(true, place);
  const bool runs_whole = scope.runs_whole == &select && names_one_row(scope, built.query);
  return add_exists(scope, std::move(built), place, runs_whole);
}

}  // namespace isoscope::sql
