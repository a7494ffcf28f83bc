#pragma once
// A plain database of one version: what a serial execution runs on.
//
//     MemoryDatabase database(app);             // with the application's initial rows
//     auto result = run_call(app, function, arguments, database);
//
// A call that aborts leaves its changes behind; a caller that wants them undone keeps a copy.
#include <map>
#include <optional>

#include "sql/run/interpreter.h"

namespace isoscope::sql {

class MemoryDatabase final : public Database {
 public:
  explicit MemoryDatabase(const Application& app);

  std::vector<RowKey> rows(TableId table) override;
  bool is_present(TableId table, const RowKey& key) override;
  Value read(TableId table, const RowKey& key, ColumnId column) override;
  void set_present(TableId table, const RowKey& key, bool present) override;
  void write(TableId table, const RowKey& key, ColumnId column, Value value) override;
  void lock(TableId, const RowKey&, Lock) override {}
  Value fresh(TableId table, ColumnId column) override;
  std::int64_t draw(SequenceId) override { return ++last_fresh_; }

  // A whole row with its key columns; nothing if it is not there.
  std::optional<TableRow> row(TableId table, const RowKey& key) const;

 private:
  const Application* app_;
  std::vector<std::map<RowKey, TableRow>> tables_;  // by table
  std::int64_t last_fresh_ = 0;
};

// A value for a fresh column made from a number: the number itself, or a text that has it.
Value fresh_value(const Column& column, std::int64_t number);
// The greatest number in a fresh column of the initial rows, or 0: fresh values lie above.
std::int64_t greatest_initial(const Application& app);

}  // namespace isoscope::sql
