// Functions in LANGUAGE sql.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/pg_parse.h"
#include "sql/read/plpgsql_builder.h"
#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

// The last statement gives the result.
void add_last_select(std::vector<Statement>& to, const FunctionHead& head, const Scope& scope,
                     BuiltQuery built, const Statement& model) {
  Frame& frame = *scope.frame;
  if (head.returns_rows) {
    to.push_back(make_row_loop(scope, std::move(built), model));
    return;
  }
  std::vector<VarId> targets;
  std::vector<Expr> values;
  const bool returns_all = head.returns_record || !head.outputs.empty();
  for (const ResultColumn& column : built.columns) {
    targets.push_back(
        frame.add_hidden("result", column.type, column.is_array, model.place, column.bits));
    if (values.empty() || returns_all)
      values.push_back(make_variable(frame, targets.back(), model.place));
  }
  add_select(to, scope, std::move(built), targets, Select(), model);
  to.push_back(model.with(Return{.value = gather(std::move(values), model.place)}));
}

// A write with RETURNING at the end: its first value is the result.
void add_last_write(std::vector<Statement>& to, const FunctionHead& head, const Scope& scope,
                    const std::string& kind, const Tree& node, const Statement& model) {
  if (head.returns_rows || head.returns_record || head.outputs.size() > 1) {
    NamedRows rows;
    rows.rows = add_row_set(scope, "returned", to, model.place);
    std::vector<ResultColumn> columns;
    add_write_rows(to, scope, kind, node, rows.rows, columns, model);
    if (scope.findings.failed()) return;
    rows.columns = source_columns(columns);
    add_last_select(to, head, scope, query_of_rows(rows, model.place), model);
    return;
  }
  const DeclaredType type{.type = scope.frame->function().returns.value_or(Type::Integer)};
  const std::size_t target = scope.frame->add_named("(returned)", type, scope.catalog, model.place);
  add_write(to, scope, kind, node, {target}, false, model);
  to.push_back(model.with(
      Return{.value = make_variable(*scope.frame, scope.frame->named(target).var, model.place)}));
}

}  // namespace

std::vector<Statement> build_sql_body(const FunctionHead& head, const std::string& body,
                                      BodyText& text, Catalog& catalog, Frame& frame,
                                      Findings& findings) {
  std::vector<Statement> statements;
  const Locator where = text.locator(0, 0);
  const auto tree = parse_sql(body);
  if (!tree) {
    const std::size_t offset = offset_of(body, tree.error().where);
    findings.fail(where.place(static_cast<std::int64_t>(offset)), tree.error().what,
                  tree.error().hint);
    return statements;
  }
  const bool returns = frame.function().returns.has_value() || head.returns_rows;
  std::size_t first = 0;  // token of the statement
  for (std::size_t i = 0; i < tree->size() && !findings.failed(); ++i) {
    const Tree& entry = (*tree)[i];
    const Tree& statement = child(entry, "stmt");
    const std::string kind = kind_of(statement);
    const Tree& node = inside(statement);
    const auto begin = static_cast<std::size_t>(number_of(entry, "stmt_location"));
    Statement model;
    while (first + 1 < text.num_tokens() && text.token(first).begin < begin) ++first;
    if (first < text.num_tokens()) {
      if (text.word(first) == ";" && first + 1 < text.num_tokens()) ++first;
      model.place = text.place_of_token(first);
      model.text = text.text_from(first, ";");
    }
    std::vector<Statement> before;
    std::vector<Statement> made;
    const Scope scope{.catalog = catalog,
                      .findings = findings,
                      .frame = &frame,
                      .where = where,
                      .before = &before,
                      .text = model.text};
    const bool is_last = returns && i + 1 == tree->size();
    if (kind == "SelectStmt") {
      BuiltQuery built = build_query(scope, node);
      if (findings.failed()) break;
      if (is_last) {
        add_last_select(made, head, scope, std::move(built), model);
      } else if (!before.empty() && before.back().advisory() != nullptr &&
                 built.query.outputs.size() == 1) {
        // SELECT pg_advisory_xact_lock(…) is the lock alone.
        before.back().as<Select>().targets.clear();
        before.back().as<Select>().in_expression = false;
      } else {
        if (!built.query.is_aggregate()) built.query.outputs.clear();
        made.push_back(model.with(Select{.query = std::move(built.query)}));
      }
    } else if (kind == "InsertStmt" || kind == "UpdateStmt" || kind == "DeleteStmt") {
      if (is_last && has(node, "returningList")) {
        add_last_write(made, head, scope, kind, node, model);
      } else {
        add_write(made, scope, kind, node, {}, false, model);
      }
    } else {
      findings.fail(model.place, "this statement is not modelled",
                    "SELECT, INSERT, UPDATE and DELETE are");
    }
    make_one_statement(frame, before, made);
    std::ranges::move(before, std::back_inserter(statements));
    std::ranges::move(made, std::back_inserter(statements));
  }
  return statements;
}

}  // namespace isoscope::sql
