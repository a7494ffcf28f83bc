#include "sql/server/row_values.h"

#include <fmt/format.h>

#include "sql/run/memory_database.h"
#include "sql/server/rows_in_hand.h"

namespace isoscope::sql::server {

Result<TableRow> inserted_row(const StatementContext& context, const Insert& insert,
                              std::span<const Value> variables) {
  const Table& table = context.app.table(insert.table);
  ById<ColumnId, std::optional<Value>> given(table.columns.size());
  for (const SetColumn& set : insert.sets) {
    auto value = evaluate(set.value, variables);
    if (!value) return value.error();
    given[set.column] = *std::move(value);
  }
  TableRow row;
  for (const ColumnId c : table.columns.ids()) {
    const Column& column = table.columns[c];
    if (given[c]) {
      row.push_back(*given[c]);
    } else if (column.drawn_from) {
      row.push_back(fresh_value(column, context.storage.draw(*column.drawn_from)));
    } else if (column.is_fresh || column.is_hidden) {
      row.push_back(fresh_value(column, context.storage.table(insert.table).next_fresh[c]++));
    } else if (column.default_value) {
      auto value = evaluate(*column.default_value, {});
      if (!value) return value.error();
      row.push_back(*std::move(value));
    } else {
      row.emplace_back();
    }
    row[c] = kept_in(column.width, std::move(row[c]));
  }
  return row;
}

std::optional<BrokenConstraint> broken_constraint(const Table& table, const TableRow& row) {
  using Kind = BrokenConstraint::Kind;
  // Whether values fit their types is part of computing them.
  for (const ColumnId c : table.columns.ids()) {
    if (const auto misfit = why_not_in(table.columns[c].width, row[c]))
      return {{Kind::Error, misfit->what, *misfit}};
  }
  for (const ColumnId c : table.columns.ids()) {
    if ((table.columns[c].not_null || table.is_key_column(c)) && row[c].is_null())
      return {{Kind::NotNull,
               fmt::format("{}.{} must not be NULL", table.name, table.columns[c].name)}};
  }
  RowsInHand rows({&row});
  for (const Expr& check : table.checks) {
    const auto holds = evaluate(check, {}, rows);
    if (!holds) return {{Kind::Error, holds.error().what, holds.error()}};
    if (*holds == Value(false))
      return {{Kind::Check, fmt::format("a row of {} does not meet its CHECK", table.name)}};
  }
  return std::nullopt;
}

}  // namespace isoscope::sql::server
