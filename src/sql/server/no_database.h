#pragma once
// The database of a call whose statements are run elsewhere (sql/run/statement_runner.h).
#include "sql/run/interpreter.h"

namespace isoscope::sql::server {

class NoDatabase final : public Database {
 public:
  std::vector<RowKey> rows(TableId) override { return {}; }
  bool is_present(TableId, const RowKey&) override { return false; }
  Value read(TableId, const RowKey&, ColumnId) override { return {}; }
  void set_present(TableId, const RowKey&, bool) override {}
  void write(TableId, const RowKey&, ColumnId, Value) override {}
  void lock(TableId, const RowKey&, Lock) override {}
  Value fresh(TableId, ColumnId) override { return {}; }
  std::int64_t draw(SequenceId) override { return 0; }
};

}  // namespace isoscope::sql::server
