#pragma once
// What the functions of an application ever change.
//
// A column that no function writes, in a table without INSERT and DELETE, is as good as a key: what
// WHERE says about it selects the same rows in every transaction, so looking at it is no access.
#include <cstdint>
#include <vector>

#include "sql/application.h"

namespace isoscope::sql {

class Changes {
 public:
  explicit Changes(const Application& app);
  // What these functions change, by their numbers, if the others are not called.
  Changes(const Application& app, const std::vector<FunctionId>& functions);

  // Does some function add rows to the table? An UPDATE of a key column does, too.
  bool has_inserts(TableId table) const { return tables_[table.index].inserts; }
  bool has_deletes(TableId table) const { return tables_[table.index].deletes; }
  // Does the table always have the rows that it has at the start?
  bool has_fixed_rows(TableId table) const { return !has_inserts(table) && !has_deletes(table); }
  // May a key of the table become free again?
  bool frees_keys(TableId table) const { return has_deletes(table); }
  // The same of an entry of a UNIQUE constraint over these columns.
  bool frees_entries(TableId table, const std::vector<ColumnId>& columns) const;
  // May such an entry be taken again? Not where the database always fills one of the columns
  // with a value never used before.
  bool retakes_entries(TableId table, const std::vector<ColumnId>& columns) const;
  // Does some function give the column a new value in a row that is there?
  bool is_updated(TableId table, ColumnId column) const {
    return tables_[table.index].updated[column];
  }
  // A key column, or one that never changes.
  bool is_static(TableId table, ColumnId column) const {
    return tables_[table.index].is_key[column] ||
           (has_fixed_rows(table) && !is_updated(table, column));
  }

 private:
  struct OfTable {
    bool inserts = false;
    bool deletes = false;
    ById<ColumnId, bool> updated;
    ById<ColumnId, bool> is_key;
    // Filled by the database, unless some INSERT gives the column a value.
    ById<ColumnId, bool> is_fresh;
  };

  void add_tables(const Application& app);
  void add(std::span<const Statement> statements);
  void add_sets(TableId table, const std::vector<SetColumn>& sets);

  std::vector<OfTable> tables_;
};

}  // namespace isoscope::sql
