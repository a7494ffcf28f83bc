// Subqueries in expressions: a Select into a hidden variable before the statement.
#include <fmt/format.h>

#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

// A query is a larger thing to build than an operator: fewer of them fit into each other.
constexpr int kLevelsOfSubquery = 10;

Statement model_of(const Scope& scope, Place place) { return {.place = place, .text = scope.text}; }

Expr add_exists(Scope& scope, BuiltQuery built, Place place) {
  built.query.outputs.clear();
  built.query.order_by.clear();
  const VarId var = scope.frame->add_hidden("exists", Type::Boolean, false, place);
  scope.before->push_back(model_of(scope, place)
                              .with(Select{.query = std::move(built.query),
                                           .targets = {var},
                                           .in_expression = true,
                                           .exists = true}));
  return make_variable(*scope.frame, var, place);
}

Expr add_scalar(Scope& scope, BuiltQuery built, Place place) {
  if (built.columns.size() != 1) {
    scope.findings.fail(place, "a subquery that is a value has one column");
    return make_null(Type::Integer, place);
  }
  const ResultColumn& column = built.columns[0];
  const VarId var =
      scope.frame->add_hidden("subquery", column.type, column.is_array, place, column.bits);
  add_select(*scope.before, scope, std::move(built), {var},
             Select{.in_expression = true, .is_scalar = true}, model_of(scope, place));
  return make_variable(*scope.frame, var, place);
}

// test IN (SELECT output …) as EXISTS (SELECT … WHERE … AND output = test).
Expr add_membership(Scope& scope, BuiltQuery built, Expr test, Place place) {
  if (uses_column(test)) {
    // The query around must be one whose columns are variables.
    if (scope.is_used_inside != nullptr) {
      *scope.is_used_inside = true;
    } else {
      scope.findings.fail(test.place, "IN (SELECT …) looks for a column of the query around it",
                          "a join can be modelled");
    }
    return make_null(Type::Boolean, place);
  }
  if (built.columns.size() != 1) {
    scope.findings.fail(place, "IN (SELECT …) has one column");
    return make_null(Type::Boolean, place);
  }
  const Type type = built.columns[0].type;
  // Numbers of both types can be compared as they are.
  if (type != Type::Integer || test.type != Type::Numeric)
    test = adapt(scope, std::move(test), type, false, "IN");
  if (built.query.is_aggregate()) {
    Expr value = add_scalar(scope, std::move(built), place);
    return make(ExprOp::Equal, Type::Boolean, {std::move(test), std::move(value)}, place);
  }
  if (built.query.limit || built.query.offset || !built.query.distinct_on.empty()) {
    const NamedRows rows = rows_of(scope, std::move(built), "", place);
    built = query_of_rows(rows, place);
  }
  scope.findings.note(place, "IN (SELECT …) without a match is false, even if there are NULLs",
                      NoteKind::Gap);
  Expr output = built.query.outputs[0].expr;
  built.query.where =
      both(std::move(built.query.where),
           make(ExprOp::Equal, Type::Boolean, {std::move(output), std::move(test)}, place));
  return add_exists(scope, std::move(built), place);
}

// (a, b) IN (SELECT c, d …) in the same way.
Expr add_row_membership(Scope& scope, BuiltQuery built, const Tree& row, Place place) {
  std::vector<Expr> tests;
  for (const Tree& arg : child(inside(row), "args")) tests.push_back(build_expr(scope, arg));
  const bool fits = tests.size() == built.columns.size() && !built.query.is_aggregate() &&
                    built.computed.empty() && !built.query.limit && !built.query.offset;
  if (!fits) {
    scope.findings.fail(place, "this comparison of rows is not modelled");
    return make_null(Type::Boolean, place);
  }
  scope.findings.note(place, "IN (SELECT …) without a match is false, even if there are NULLs",
                      NoteKind::Gap);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (uses_column(tests[i]) && scope.is_used_inside != nullptr) {
      *scope.is_used_inside = true;
      return make_null(Type::Boolean, place);
    }
    Expr test = adapt(scope, std::move(tests[i]), built.columns[i].type, false, "IN");
    built.query.where = both(
        std::move(built.query.where),
        make(ExprOp::Equal, Type::Boolean, {built.query.outputs[i].expr, std::move(test)}, place));
  }
  return add_exists(scope, std::move(built), place);
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
  Scope inner = scope;
  inner.outer = &scope;
  inner.depth += kLevelsOfSubquery;
  BuiltQuery built = build_query(inner, child(child(sublink, "subselect"), "SelectStmt"));
  if (scope.findings.failed()) return make_null(Type::Integer, place);
  if (kind == "ARRAY_SUBLINK") return add_array(scope, std::move(built), place);
  if (is_membership) {
    if (kind_of(child(sublink, "testexpr")) == "RowExpr")
      return add_row_membership(scope, std::move(built), child(sublink, "testexpr"), place);
    Expr test = build_expr(scope, child(sublink, "testexpr"));
    return add_membership(scope, std::move(built), std::move(test), place);
  }
  if (kind == "EXPR_SUBLINK") return add_scalar(scope, std::move(built), place);
  // An aggregate has a row whatever it finds.
  if (built.query.is_aggregate()) return make_boolean(true, place);
  return add_exists(scope, std::move(built), place);
}

}  // namespace isoscope::sql
