#include "sql/run/memory_database.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/run/call_state.h"

namespace isoscope::sql {

MemoryDatabase::MemoryDatabase(const Application& app)
    : app_(&app), tables_(app.tables.size()), last_fresh_(greatest_initial(app)) {
  for (const InitialRow& row : app.initial_rows)
    tables_[row.table.index][key_of(app.table(row.table), row.values)] = row.values;
}

std::vector<RowKey> MemoryDatabase::rows(TableId table) {
  std::vector<RowKey> keys;
  for (const auto& [key, row] : tables_[table.index]) keys.push_back(key);
  return keys;
}

bool MemoryDatabase::is_present(TableId table, const RowKey& key) {
  return tables_[table.index].contains(key);
}

Value MemoryDatabase::read(TableId table, const RowKey& key, ColumnId column) {
  const auto at = tables_[table.index].find(key);
  return at == tables_[table.index].end() ? Value() : at->second[column];
}

void MemoryDatabase::set_present(TableId table, const RowKey& key, bool present) {
  if (!present) {
    tables_[table.index].erase(key);
    return;
  }
  const Table& t = app_->table(table);
  auto& row = tables_[table.index][key];
  row.resize(t.columns.size());
  for (std::size_t i = 0; i < key.size(); ++i) row[t.primary_key[i]] = key[i];
}

void MemoryDatabase::write(TableId table, const RowKey& key, ColumnId column, Value value) {
  const auto at = tables_[table.index].find(key);
  if (at != tables_[table.index].end()) at->second[column] = std::move(value);
}

Value MemoryDatabase::fresh(TableId table, ColumnId column) {
  return fresh_value(app_->table(table).columns[column], ++last_fresh_);
}

std::optional<TableRow> MemoryDatabase::row(TableId table, const RowKey& key) const {
  const auto at = tables_[table.index].find(key);
  if (at == tables_[table.index].end()) return std::nullopt;
  return at->second;
}

Value fresh_value(const Column& column, std::int64_t number) {
  if (column.type == Type::Text) return Value(fmt::format("{}-{}", column.name, number));
  return Value(number);
}

std::int64_t greatest_initial(const Application& app) {
  std::int64_t greatest = 0;
  for (const InitialRow& row : app.initial_rows) {
    const auto& columns = app.table(row.table).columns;
    for (const ColumnId c : row.values.ids()) {
      const auto* number = std::get_if<std::int64_t>(&row.values[c].data);
      if (columns[c].is_fresh && number != nullptr) greatest = std::max(greatest, *number);
    }
  }
  return greatest;
}

}  // namespace isoscope::sql
