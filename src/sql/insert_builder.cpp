// INSERT: the rows, and what happens where one is there already.
#include <fmt/format.h>

#include <algorithm>

#include "sql/write_builder.h"

namespace isoscope::sql {
namespace {

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> columns) {
  std::ranges::sort(columns);
  return columns;
}

}  // namespace

// The columns that an INSERT gives values, in their order.
std::vector<std::uint32_t> WriteBuilder::insert_columns() {
  std::vector<std::uint32_t> columns;
  if (has(node_, "cols")) {
    for (const Tree& entry : child(node_, "cols")) {
      const Tree& target = inside(entry);
      const auto column =
          expect_column(scope_, table(), text_of(target, "name"), scope_.place(target));
      if (column) columns.push_back(*column);
    }
    return columns;
  }
  for (std::uint32_t i = 0; i < table().columns.size(); ++i) {
    if (!table().columns[i].is_hidden) columns.push_back(i);
  }
  return columns;
}

void WriteBuilder::build_conflict(Insert& insert) {
  if (!has(node_, "onConflictClause")) return;
  const Tree& clause = child(node_, "onConflictClause");
  Scope scope = scope_;
  scope.sources = {{.table = id_, .name = name_}, {.table = id_, .name = "excluded", .number = 1}};
  scope.first_source_only = true;
  const Place place = scope.place(clause);
  const Tree& infer = child(clause, "infer");
  if (const std::string constraint = text_of(infer, "conname"); !constraint.empty()) {
    const auto named = table().constraint_names.find(constraint);
    if (named != table().constraint_names.end()) {
      insert.conflict_key = named->second;
    } else if (constraint == table().name + "_pkey") {
      insert.conflict_key = table().primary_key;
    } else {
      scope.findings.fail(place, fmt::format("'{}' has no key '{}'", table().name, constraint),
                          "name the columns, as in ON CONFLICT (a, b)");
    }
  }
  if (has(infer, "whereClause"))
    scope.findings.fail(place, "ON CONFLICT of a partial index is not modelled");
  for (const Tree& entry : child(infer, "indexElems")) {
    const auto column = expect_column(scope, table(), text_of(inside(entry), "name"), place);
    if (column) insert.conflict_key.push_back(*column);
  }
  const auto is_key = [&](const std::vector<std::uint32_t>& key) {
    return sorted(key) == sorted(insert.conflict_key);
  };
  if (!insert.conflict_key.empty() && !is_key(table().primary_key) &&
      std::ranges::none_of(table().unique, is_key))
    scope.findings.fail(place, fmt::format("ON CONFLICT names no key of '{}'", table().name),
                        "a PRIMARY KEY or UNIQUE constraint must have these columns");
  insert.conflict = OnConflict::Nothing;
  if (text_of(clause, "action") != "ONCONFLICT_UPDATE") return;
  insert.conflict = OnConflict::Update;
  insert.conflict_sets = build_sets(scope, child(clause, "targetList"),
                                    [&](const Tree& value) { return build_expr(scope, value); });
  add_generated(table(), insert.conflict_sets, false);
  if (has(clause, "whereClause"))
    insert.conflict_where = build_condition(scope, child(clause, "whereClause"));
}

// The other columns have their defaults.
void WriteBuilder::leave_out_others(const std::vector<bool>& is_given) {
  for (std::uint32_t c = 0; c < is_given.size(); ++c) {
    if (!is_given[c]) scope_.catalog.sequence_uses.leave_out(id_, c);
  }
}

// The row's values: one Insert, without what follows VALUES.
Insert WriteBuilder::insert_row(Scope& scope, const Tree& values,
                                const std::vector<std::uint32_t>& columns, bool names_columns) {
  Insert insert;
  insert.table = id_;
  if (values.size() > columns.size() || (names_columns && values.size() < columns.size())) {
    scope.findings.fail(model_.place, fmt::format("{} values for {} columns of '{}'", values.size(),
                                                  columns.size(), table().name));
    return insert;
  }
  std::vector<bool> is_given(table().columns.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_default(values[i])) continue;
    is_given[columns[i]] = true;
    if (is_nextval(values[i])) {
      scope.catalog.tables[id_.index].columns[columns[i]].is_fresh = true;
      scope.catalog.sequence_uses.draw(id_, columns[i], sequence_of(values[i]), model_.place);
      continue;
    }
    Expr value = build_expr(scope, values[i]);
    insert.sets.push_back({columns[i], value_for(scope, table(), columns[i], std::move(value))});
  }
  leave_out_others(is_given);
  return insert;
}

// INSERT … SELECT: a loop over the rows of the query.
void WriteBuilder::insert_select(const Tree& select, const std::vector<std::uint32_t>& columns) {
  Insert insert;
  insert.table = id_;
  build_conflict(insert);
  BuiltQuery built = build_query(scope_, select);
  if (scope_.findings.failed()) return;
  if (built.columns.size() > columns.size()) {
    scope_.findings.fail(model_.place, fmt::format("{} values for {} columns", built.columns.size(),
                                                   columns.size()));
    return;
  }
  std::vector<VarId> targets;
  std::vector<bool> is_given(table().columns.size());
  for (std::size_t i = 0; i < built.columns.size(); ++i) {
    const Column& column = table().columns[columns[i]];
    targets.push_back(scope_.frame->add_hidden("inserted", column.type, false, model_.place));
    insert.sets.push_back({columns[i], make_variable(*scope_.frame, targets.back(), model_.place)});
    is_given[columns[i]] = true;
  }
  leave_out_others(is_given);
  choose_rows(true);
  Statement loop = make_loop(scope_, std::move(built), targets, model_);
  put(loop.as<ForQuery>().body, std::move(insert));
  to_.push_back(std::move(loop));
}

void WriteBuilder::insert_rows(const Tree& rows, bool has_values,
                               const std::vector<std::uint32_t>& columns) {
  choose_rows(rows.size() > 1);
  Scope scope = scope_;
  for (const Tree& row : rows) {
    Insert insert =
        insert_row(scope, child(inside(row), "items"), columns, has(node_, "cols") && has_values);
    build_conflict(insert);
    if (scope.findings.failed()) return;
    put(to_, std::move(insert));
  }
}

void WriteBuilder::insert() {
  Scope returned = scope_;
  returned.sources = {{.table = id_, .name = name_}};
  build_returning(returned);
  const std::vector<std::uint32_t> columns = insert_columns();
  const Tree& select = child(child(node_, "selectStmt"), "SelectStmt");
  const bool is_values = has(select, "valuesLists") && !has(select, "sortClause") &&
                         !has(select, "limitCount") && !has(select, "limitOffset");
  if (scope_.findings.failed()) return;
  if (!select.is_null() && !is_values) {
    insert_select(select, columns);
    return;
  }
  static const Tree kDefaults = Tree::array({Tree{{"List", Tree{{"items", Tree::array()}}}}});
  insert_rows(select.is_null() ? kDefaults : child(select, "valuesLists"), !select.is_null(),
              columns);
}

}  // namespace isoscope::sql
