// Subqueries in expressions: a Select into a hidden variable before the statement.
#include <fmt/format.h>

#include "sql/query_builder.h"

namespace isoscope::sql {
namespace {

// A query is a larger thing to build than an operator: fewer of them fit into each other.
constexpr int kLevelsOfSubquery = 10;

Statement model_of(const Scope& scope, Place place) { return {.place = place, .text = scope.text}; }

Expr add_exists(Scope& scope, BuiltQuery built, Place place) {
  built.query.outputs.clear();
  built.query.order_by.clear();
  Statement select = model_of(scope, place);
  select.op = StatementOp::Select;
  select.query = std::move(built.query);
  select.exists = true;
  const VarId var = scope.frame->add_hidden("exists", Type::Boolean, false, place);
  select.targets = {var};
  scope.before->push_back(std::move(select));
  return make_variable(*scope.frame, var, place);
}

Expr add_scalar(Scope& scope, BuiltQuery built, Place place) {
  if (built.columns.size() != 1) {
    scope.findings.fail(place, "a subquery that is a value has one column");
    return make_null(Type::Integer, place);
  }
  const VarId var =
      scope.frame->add_hidden("subquery", built.columns[0].type, built.columns[0].is_array, place);
  add_select(*scope.before, scope, std::move(built), {var}, false, model_of(scope, place));
  return make_variable(*scope.frame, var, place);
}

// test IN (SELECT output …) as EXISTS (SELECT … WHERE … AND output = test).
Expr add_membership(Scope& scope, BuiltQuery built, Expr test, Place place) {
  if (uses_column(test)) {
    scope.findings.fail(test.place, "IN (SELECT …) looks for a column of the query around it",
                        "a join can be modelled");
    return make_null(Type::Boolean, place);
  }
  if (built.columns.size() != 1) {
    scope.findings.fail(place, "IN (SELECT …) has one column");
    return make_null(Type::Boolean, place);
  }
  const Type type = built.columns[0].type;
  test = adapt(scope, std::move(test), type, false, "IN");
  if (built.query.is_aggregate()) {
    Expr value = add_scalar(scope, std::move(built), place);
    return make(ExprOp::Equal, Type::Boolean, {std::move(test), std::move(value)}, place);
  }
  if (built.query.limit || built.query.offset) {
    scope.findings.fail(place, "IN (SELECT … LIMIT …) is not modelled");
    return make_null(Type::Boolean, place);
  }
  scope.findings.note(place, "IN (SELECT …) without a match is false, even if there are NULLs",
                      NoteKind::Gap);
  Expr output = built.query.outputs[0].expr;
  built.query.where =
      both(std::move(built.query.where),
           make(ExprOp::Equal, Type::Boolean, {std::move(output), std::move(test)}, place));
  return add_exists(scope, std::move(built), place);
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
  if (kind != "EXISTS_SUBLINK" && kind != "EXPR_SUBLINK" && !is_membership) {
    scope.findings.fail(place, "this kind of subquery is not modelled",
                        "EXISTS (…), x IN (SELECT …) and (SELECT …) are");
    return make_null(Type::Integer, place);
  }
  Scope inner = scope;
  inner.outer = &scope;
  inner.depth += kLevelsOfSubquery;
  BuiltQuery built = build_query(inner, child(child(sublink, "subselect"), "SelectStmt"));
  if (scope.findings.failed()) return make_null(Type::Integer, place);
  if (is_membership) {
    Expr test = build_expr(scope, child(sublink, "testexpr"));
    return add_membership(scope, std::move(built), std::move(test), place);
  }
  if (kind == "EXPR_SUBLINK") return add_scalar(scope, std::move(built), place);
  // An aggregate has a row whatever it finds.
  if (built.query.is_aggregate()) return make_boolean(true, place);
  return add_exists(scope, std::move(built), place);
}

}  // namespace isoscope::sql
