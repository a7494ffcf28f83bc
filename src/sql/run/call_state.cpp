#include "sql/run/call_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/assert.h"

namespace isoscope::sql {

bool StatementView::is_present(TableId table, const RowKey& key) {
  const auto [at, is_new] = present_.try_emplace({table, key}, false);
  if (is_new) at->second = call_.database.is_present(table, key);
  return at->second;
}

Value StatementView::column(TableId table, const RowKey& key, ColumnId column) {
  const Table& t = call_.app.table(table);
  if (t.is_key_column(column)) return key_column(t, key, column);
  const auto [at, is_new] = columns_.try_emplace({table, key, column});
  if (is_new) at->second = call_.database.read(table, key, column);
  return at->second;
}

std::string may_be_taken(const Application& app, SequenceId sequence) {
  return fmt::format("rows at the start have numbers that '{}' has not drawn and may draw again",
                     app.sequences[sequence.index].name);
}

const Value& key_column(const Table& table, const RowKey& key, ColumnId column) {
  const auto at = std::ranges::find(table.primary_key, column);
  ISO_ASSERT(at != table.primary_key.end());
  return key[static_cast<std::size_t>(at - table.primary_key.begin())];
}

std::vector<ColumnId> columns_of(const Expr& expr, SourceId source) {
  std::vector<ColumnId> columns;
  for_each_column(expr, [&](SourceId s, ColumnId column) {
    if (s == source) columns.push_back(column);
  });
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

RowKey key_of(const Table& table, const TableRow& row) {
  RowKey key;
  for (const ColumnId column : table.primary_key) key.push_back(row[column]);
  return key;
}

std::string print(const RowKey& key) {
  std::string list = "(";
  for (const Value& value : key) {
    if (list.back() != '(') list += ", ";
    list += print(value);
  }
  return list + ")";
}

}  // namespace isoscope::sql
