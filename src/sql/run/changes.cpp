#include "sql/run/changes.h"

#include <algorithm>

namespace isoscope::sql {

Changes::Changes(const Application& app) {
  add_tables(app);
  for (const Function& function : app.functions) add(function.body);
}

Changes::Changes(const Application& app, const std::vector<FunctionId>& functions) {
  add_tables(app);
  for (const FunctionId function : functions) add(app.function(function).body);
}

bool Changes::frees_entries(TableId table, const std::vector<ColumnId>& columns) const {
  return frees_keys(table) ||
         std::ranges::any_of(columns, [&](ColumnId c) { return is_updated(table, c); });
}

bool Changes::retakes_entries(TableId table, const std::vector<ColumnId>& columns) const {
  const OfTable& of_table = tables_[table.index];
  return std::ranges::none_of(
      columns, [&](ColumnId c) { return of_table.is_fresh[c] && !of_table.updated[c]; });
}

void Changes::add_tables(const Application& app) {
  for (const Table& table : app.tables) {
    OfTable& of_table = tables_.emplace_back();
    of_table.updated.resize(table.columns.size());
    of_table.is_key.resize(table.columns.size());
    for (const ColumnId column : table.primary_key) of_table.is_key[column] = true;
    for (const Column& column : table.columns) of_table.is_fresh.push_back(column.is_fresh);
  }
}

void Changes::add(std::span<const Statement> statements) {
  for (const Statement& s : statements) {
    if (const auto* insert = s.find<Insert>()) {
      OfTable& of_table = tables_[insert->table.index];
      of_table.inserts = true;
      for (const SetColumn& set : insert->sets) of_table.is_fresh[set.column] = false;
      add_sets(insert->table, insert->conflict_sets);
    } else if (const auto* update = s.find<Update>()) {
      add_sets(update->table, update->sets);
    } else if (const auto* remove = s.find<Delete>()) {
      tables_[remove->table.index].deletes = true;
    }
    add(s.body());
    add(s.otherwise());
    add(s.handler());
  }
}

void Changes::add_sets(TableId table, const std::vector<SetColumn>& sets) {
  OfTable& of_table = tables_[table.index];
  for (const SetColumn& set : sets) {
    of_table.updated[set.column] = true;
    // The row moves: the old one goes and a new one comes.
    if (of_table.is_key[set.column]) of_table.inserts = of_table.deletes = true;
  }
}

}  // namespace isoscope::sql
