// INSERT, UPDATE and DELETE.
#include <fmt/format.h>

#include <algorithm>

#include "sql/query_builder.h"

namespace isoscope::sql {
namespace {

std::optional<std::uint32_t> expect_column(const Scope& scope, const Table& table,
                                           const std::string& name, Place place) {
  const auto column = find_column(table, name);
  if (!column)
    scope.findings.fail(place, fmt::format("'{}' has no column '{}'", table.name, name),
                        suggest_column(table, name));
  return column;
}

bool is_default(const Tree& value) { return kind_of(value) == "SetToDefault"; }

Expr value_for(Scope& scope, const Table& table, std::uint32_t column, Expr value) {
  return adapt(scope, std::move(value), table.columns[column].type, false,
               fmt::format("column '{}'", table.columns[column].name));
}

// The columns that an INSERT gives values, in their order.
std::vector<std::uint32_t> insert_columns(const Scope& scope, const Tree& node,
                                          const Table& table) {
  std::vector<std::uint32_t> columns;
  if (has(node, "cols")) {
    for (const Tree& entry : child(node, "cols")) {
      const Tree& target = inside(entry);
      const auto column = expect_column(scope, table, text_of(target, "name"), scope.place(target));
      if (column) columns.push_back(*column);
    }
    return columns;
  }
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].is_hidden) columns.push_back(i);
  }
  return columns;
}

// SET of UPDATE and of ON CONFLICT DO UPDATE.
std::vector<SetColumn> build_sets(Scope& scope, const Tree& targets, const Table& table) {
  std::vector<SetColumn> sets;
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    const Place place = scope.place(target);
    const auto column = expect_column(scope, table, text_of(target, "name"), place);
    if (!column) continue;
    if (has(target, "indirection"))
      scope.findings.fail(place, "a part of a column cannot be set here", "set the whole column");
    const Tree* value = &child(target, "val");
    if (kind_of(*value) == "MultiAssignRef") {
      const Tree& parts = inside(*value);
      const Tree& row = child(child(child(parts, "source"), "RowExpr"), "args");
      const auto number = static_cast<std::size_t>(number_of(parts, "colno") - 1);
      if (number >= row.size()) {
        scope.findings.fail(place, "this SET of several columns is not modelled",
                            "set the columns one by one");
        continue;
      }
      value = &row[number];
    }
    if (is_default(*value)) {
      const Column& declared = table.columns[*column];
      if (declared.is_fresh) scope.findings.fail(place, "SET … = DEFAULT of a fresh column");
      sets.push_back({*column, declared.default_value.value_or(make_null(declared.type, place))});
      continue;
    }
    sets.push_back({*column, value_for(scope, table, *column, build_expr(scope, *value))});
  }
  return sets;
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> columns) {
  std::ranges::sort(columns);
  return columns;
}

void build_conflict(const Scope& given, const Tree& clause, TableId id, const std::string& name,
                    Statement& insert) {
  Scope scope = given;
  scope.sources = {{.table = id, .name = name}, {.table = id, .name = "excluded"}};
  scope.first_source_only = true;
  const Table& table = scope.catalog.table(id);
  const Place place = scope.place(clause);
  const Tree& infer = child(clause, "infer");
  if (const std::string constraint = text_of(infer, "conname"); !constraint.empty()) {
    if (constraint != table.name + "_pkey")
      scope.findings.fail(place, "ON CONFLICT ON CONSTRAINT is not modelled",
                          "name the columns, as in ON CONFLICT (a, b)");
    insert.conflict_key = table.primary_key;
  }
  for (const Tree& entry : child(infer, "indexElems")) {
    const auto column = expect_column(scope, table, text_of(inside(entry), "name"), place);
    if (column) insert.conflict_key.push_back(*column);
  }
  const auto is_key = [&](const std::vector<std::uint32_t>& key) {
    return sorted(key) == sorted(insert.conflict_key);
  };
  if (!insert.conflict_key.empty() && !is_key(table.primary_key) &&
      std::ranges::none_of(table.unique, is_key))
    scope.findings.fail(place, fmt::format("ON CONFLICT names no key of '{}'", table.name),
                        "a PRIMARY KEY or UNIQUE constraint must have these columns");
  insert.conflict = OnConflict::Nothing;
  if (text_of(clause, "action") != "ONCONFLICT_UPDATE") return;
  insert.conflict = OnConflict::Update;
  insert.conflict_sets = build_sets(scope, child(clause, "targetList"), table);
  if (has(clause, "whereClause"))
    insert.conflict_where = build_condition(scope, child(clause, "whereClause"));
}

void build_returning(const Scope& given, const Tree& list, const std::vector<std::size_t>& named,
                     Statement& write, const std::string& name) {
  if (!list.is_array() || list.empty()) {
    if (!named.empty())
      given.findings.fail(write.place, "INTO without RETURNING", "add RETURNING and the columns");
    return;
  }
  Scope scope = given;
  scope.sources = {{.table = write.table, .name = name}};
  const Table& table = scope.catalog.table(write.table);
  std::vector<ResultColumn> columns;
  for (const Tree& entry : list) {
    const Tree& value = child(inside(entry), "val");
    const Place place = scope.place(inside(entry));
    const Tree& fields = child(child(value, "ColumnRef"), "fields");
    if (fields.is_array() && !fields.empty() && has(fields.back(), "A_Star")) {
      for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].is_hidden) continue;
        write.returning.push_back(make_column(scope, 0, i, place));
        columns.push_back({table.columns[i].name, table.columns[i].type, false});
      }
      continue;
    }
    Expr expr = build_expr(scope, value);
    std::string as = text_of(inside(entry), "name");
    if (as.empty()) as = fields.is_array() ? last_name(fields) : "?column?";
    columns.push_back({as, expr.type, expr.is_array});
    write.returning.push_back(std::move(expr));
  }
  if (named.empty()) {
    write.returning.clear();
    return;
  }
  write.targets = bind_targets(scope, columns, named, write.place);
  for (std::size_t i = 0; i < write.targets.size() && i < write.returning.size(); ++i) {
    const Variable& variable = scope.frame->variable(write.targets[i]);
    write.returning[i] = adapt(scope, std::move(write.returning[i]), variable.type,
                               variable.is_array, fmt::format("'{}'", variable.name));
  }
}

// The row's values: one Insert, without what follows VALUES.
Statement build_row(Scope& scope, const Tree& values, const std::vector<std::uint32_t>& columns,
                    bool names_columns, TableId id, const Statement& model) {
  Statement insert = model;
  insert.op = StatementOp::Insert;
  insert.table = id;
  if (values.size() > columns.size() || (names_columns && values.size() < columns.size())) {
    scope.findings.fail(insert.place, fmt::format("{} values for {} columns of '{}'", values.size(),
                                                  columns.size(), scope.catalog.table(id).name));
    return insert;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_default(values[i])) continue;
    if (is_nextval(values[i])) {
      scope.catalog.tables[id.index].columns[columns[i]].is_fresh = true;
      continue;
    }
    Expr value = build_expr(scope, values[i]);
    insert.sets.push_back(
        {columns[i], value_for(scope, scope.catalog.table(id), columns[i], std::move(value))});
  }
  return insert;
}

// INSERT … SELECT: a loop over the rows of the query.
void add_insert_select(std::vector<Statement>& to, const Scope& scope, const Tree& select,
                       const std::vector<std::uint32_t>& columns, Statement insert,
                       const Statement& model) {
  BuiltQuery built = build_query(scope, select);
  if (scope.findings.failed()) return;
  if (built.columns.size() > columns.size()) {
    scope.findings.fail(
        model.place, fmt::format("{} values for {} columns", built.columns.size(), columns.size()));
    return;
  }
  const Table& table = scope.catalog.table(insert.table);
  std::vector<VarId> targets;
  for (std::size_t i = 0; i < built.columns.size(); ++i) {
    const Column& column = table.columns[columns[i]];
    targets.push_back(scope.frame->add_hidden("inserted", column.type, false, model.place));
    insert.sets.push_back({columns[i], make_variable(*scope.frame, targets.back(), model.place)});
  }
  Statement loop = make_loop(scope, std::move(built), targets, model);
  insert.continues = true;
  loop.body.push_back(std::move(insert));
  to.push_back(std::move(loop));
}

void add_insert(std::vector<Statement>& to, const Scope& given, const Tree& node, TableId id,
                const std::string& name, const std::vector<std::size_t>& named,
                const Statement& model) {
  Scope scope = given;
  const std::vector<std::uint32_t> columns = insert_columns(scope, node, scope.catalog.table(id));
  const Tree& select = child(child(node, "selectStmt"), "SelectStmt");
  const auto finish = [&](Statement& insert) {
    if (has(node, "onConflictClause"))
      build_conflict(given, child(node, "onConflictClause"), id, name, insert);
    build_returning(given, child(node, "returningList"), named, insert, name);
  };
  const bool counts_rows = scope.frame->function().row_count.has_value();
  if (!select.is_null() && !has(select, "valuesLists")) {
    Statement insert = model;
    insert.op = StatementOp::Insert;
    insert.table = id;
    finish(insert);
    if (counts_rows || !named.empty())
      scope.findings.fail(
          model.place, "INSERT … SELECT with RETURNING or ROW_COUNT is not modelled", "use a loop");
    add_insert_select(to, given, select, columns, std::move(insert), model);
    return;
  }
  static const Tree kDefaults = Tree::array({Tree{{"List", Tree{{"items", Tree::array()}}}}});
  const Tree& rows = select.is_null() ? kDefaults : child(select, "valuesLists");
  if (rows.size() > 1 && counts_rows)
    scope.findings.fail(model.place, "INSERT of several rows with ROW_COUNT is not modelled",
                        "use one INSERT for each row");
  for (const Tree& row : rows) {
    const bool names_columns = has(node, "cols") && !select.is_null();
    Statement insert =
        build_row(scope, child(inside(row), "items"), columns, names_columns, id, model);
    finish(insert);
    to.push_back(std::move(insert));
  }
}

}  // namespace

void add_write(std::vector<Statement>& to, const Scope& given, const std::string& kind,
               const Tree& node, const std::vector<std::size_t>& named, bool strict,
               const Statement& model) {
  Scope scope = given;
  scope.sources.clear();
  const Tree& relation = child(node, "relation");
  const Place place = scope.place(relation);
  if (has(node, "withClause"))
    scope.findings.fail(model.place, "WITH is not modelled", "use one statement for each part");
  const auto id = scope.catalog.expect_table(text_of(relation, "relname"), place, scope.findings);
  if (!id || scope.findings.failed()) return;
  const std::string alias = text_of(child(relation, "alias"), "aliasname");
  const std::string name = alias.empty() ? scope.catalog.table(*id).name : alias;
  if (kind == "InsertStmt") {
    add_insert(to, scope, node, *id, name, named, model);
    return;
  }
  if (has(node, "fromClause") || has(node, "usingClause"))
    scope.findings.fail(model.place, "UPDATE … FROM and DELETE … USING are not modelled",
                        "use a loop over the other table");
  if (scope.catalog.cascading.contains(*id) && kind == "DeleteStmt")
    scope.findings.fail(model.place, "this DELETE changes rows of other tables (ON DELETE)",
                        "delete them by statements of their own");
  scope.sources = {{.table = *id, .name = name}};
  Statement write = model;
  write.op = kind == "UpdateStmt" ? StatementOp::Update : StatementOp::Delete;
  write.table = *id;
  write.strict = strict;
  if (has(node, "whereClause")) write.where = build_condition(scope, child(node, "whereClause"));
  if (kind == "UpdateStmt")
    write.sets = build_sets(scope, child(node, "targetList"), scope.catalog.table(*id));
  build_returning(scope, child(node, "returningList"), named, write, name);
  to.push_back(std::move(write));
}

}  // namespace isoscope::sql
