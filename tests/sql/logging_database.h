#pragma once
// A plain database that notes every access: "? account(1)" for a look whether the row is there,
// "r account.balance(1)", "+ account(1)", "- account(1)", "w account.balance(1)", "lock
// account(1)".
#include <string>
#include <vector>

#include "sql/run/call_state.h"
#include "sql/run/memory_database.h"

namespace isoscope::sql {

class LoggingDatabase final : public Database {
 public:
  explicit LoggingDatabase(const Application& app) : app_(app), database_(app) {}

  std::vector<RowKey> rows(TableId table) override { return database_.rows(table); }
  bool is_present(TableId table, const RowKey& key) override {
    log("? ", table, key);
    return database_.is_present(table, key);
  }
  Value read(TableId table, const RowKey& key, ColumnId column) override {
    log("r ", table, key, column);
    return database_.read(table, key, column);
  }
  void set_present(TableId table, const RowKey& key, bool present) override {
    log(present ? "+ " : "- ", table, key);
    database_.set_present(table, key, present);
  }
  void write(TableId table, const RowKey& key, ColumnId column, Value value) override {
    log("w ", table, key, column);
    database_.write(table, key, column, std::move(value));
  }
  void lock(TableId table, const RowKey& key, Lock) override { log("lock ", table, key); }
  Value fresh(TableId table, ColumnId column) override { return database_.fresh(table, column); }
  std::int64_t draw(SequenceId sequence) override { return database_.draw(sequence); }

  const std::vector<std::string>& accesses() const { return accesses_; }
  MemoryDatabase& database() { return database_; }

 private:
  void log(std::string what, TableId table, const RowKey& key,
           std::optional<ColumnId> column = {}) {
    const Table& t = app_.table(table);
    what += t.name;
    if (column) what += "." + t.columns[*column].name;
    accesses_.push_back(what + print(key));
  }

  const Application& app_;
  MemoryDatabase database_;
  std::vector<std::string> accesses_;
};

}  // namespace isoscope::sql
