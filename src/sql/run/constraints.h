#pragma once
// NOT NULL, CHECK, UNIQUE and FOREIGN KEY: what must hold of a row that is about to be there, and
// of one that is about to go. A violation is an Error that says which, and ends the transaction.
#include <optional>
#include <span>
#include <vector>

#include "sql/run/call_state.h"

namespace isoscope::sql {

// A row after a statement: columns that the statement sets, the others as they were.
class NewRow final : public RowsInScope {
 public:
  // A row that was not there before; all its columns are to be set.
  NewRow(CallState& call, TableId table);
  // What becomes of the row with this key.
  NewRow(StatementView& view, TableId table, RowKey old_key);

  void set(ColumnId column, Value value);
  bool is_set(ColumnId column) const { return set_[column].has_value(); }
  // Source 0 is the row as it becomes, source 1 as it was.
  Value column(SourceId source, ColumnId column) override;
  Value column(ColumnId column) { return this->column(SourceId{0}, column); }

  TableId table() const { return table_; }
  const std::optional<RowKey>& old_key() const { return old_key_; }
  RowKey key();
  std::vector<Value> values(std::span<const ColumnId> columns);

 private:
  CallState& call_;
  StatementView* view_ = nullptr;
  TableId table_;
  std::optional<RowKey> old_key_;
  ById<ColumnId, std::optional<Value>> set_;
};

// NOT NULL and CHECK, as far as columns that are set matter.
Result<void> check_values(CallState& call, NewRow& row);
// Another row with the same values in these columns, a UNIQUE key, if one of them is set.
std::optional<RowKey> find_double(CallState& call, NewRow& row, std::span<const ColumnId> columns);
// Rows that the row refers to, through columns that are set, are there; each is locked.
Result<void> check_references(CallState& call, NewRow& row);

// Do rows of some table refer to rows of this one?
bool is_referenced(const Application& app, TableId table);
// No row refers to the values that these columns had: a deleted row's, or those of a row that got
// others. `old` has a value for each column that some foreign key targets. Foreign keys that do
// something ON DELETE do not ask it of a row that is deleted, nor those that do something ON UPDATE
// of one that got others.
Result<void> check_not_referenced(CallState& call, TableId table, const RowKey& key,
                                  const TableRow& old, bool is_delete);

// The first row, other than `except`, that has these values in these columns; looks at rows whose
// key columns fit.
std::optional<RowKey> find_row(CallState& call, TableId table, std::span<const ColumnId> columns,
                               std::span<const Value> values, const std::optional<RowKey>& except);

}  // namespace isoscope::sql
