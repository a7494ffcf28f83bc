#pragma once
// What the parts of the interpreter share while one call runs, and what one statement has read.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sql/application.h"
#include "sql/evaluate.h"
#include "sql/run/changes.h"
#include "sql/run/interpreter.h"

namespace isoscope::sql {

struct CallState {
  const Application& app;
  const Changes& changes;
  Database& database;
  Budget* budget = nullptr;
  std::vector<Value> variables = {};
  // Set when a limit of ours is hit: then an Error on its way out is no outcome of SQL.
  bool is_limit = false;
  // Rows that joins and scans have considered so far.
  std::size_t rows_considered = 0;
  std::size_t work = 0;  // statements and rows since the last look at the budget
  // Rows that the SQL statement on its way has changed, for those that change a row once.
  std::set<std::pair<TableId, RowKey>> changed_rows = {};
  // Of the error on its way out, if who raised it knows.
  std::string sqlstate = {};
  std::optional<std::string> message = {};

  // Is the budget over? Looks at it now and then; `more` is how much was done since the last call.
  bool is_over(std::size_t more = 1) {
    constexpr std::size_t kWorkPerLook = 256;
    if (budget == nullptr || (work += more) < kWorkPerLook) return false;
    work = 0;
    return budget->expired_now();
  }
  Error limit(std::string what) {
    is_limit = true;
    return {.what = std::move(what)};
  }
};

// The database as one statement sees it: every location is read at most once.
class StatementView {
 public:
  explicit StatementView(CallState& call) : call_(call) {}

  bool is_present(TableId table, const RowKey& key);
  // Any column; those of the key cost nothing. Requires: the row is there, unless it is one of
  // them.
  Value column(TableId table, const RowKey& key, ColumnId column);

  CallState& call() const { return call_; }

 private:
  CallState& call_;
  std::map<std::pair<TableId, RowKey>, bool> present_;
  std::map<std::tuple<TableId, RowKey, ColumnId>, Value> columns_;
};

// Why a number of the sequence is not drawn: a row at the start may have it.
std::string may_be_taken(const Application& app, SequenceId sequence);

// The value of a key column in a key.
const Value& key_column(const Table& table, const RowKey& key, ColumnId column);

// One row for each source of a statement, by its key.
class Tuple final : public RowsInScope {
 public:
  Tuple(StatementView& view, ById<SourceId, TableId> sources)
      : view_(view), sources_(std::move(sources)), keys_(sources_.size()) {}

  Value column(SourceId source, ColumnId column) override {
    return view_.column(sources_[source], keys_[source], column);
  }
  const ById<SourceId, TableId>& sources() const { return sources_; }
  const ById<SourceId, RowKey>& keys() const { return keys_; }
  void bind(SourceId source, RowKey key) { keys_[source] = std::move(key); }
  void bind(const ById<SourceId, RowKey>& keys) { keys_ = keys; }
  Result<Value> value(const Expr& expr) { return evaluate(expr, view_.call().variables, *this); }

 private:
  StatementView& view_;
  ById<SourceId, TableId> sources_;
  ById<SourceId, RowKey> keys_;
};

// The columns that an expression mentions of a source, ascending.
std::vector<ColumnId> columns_of(const Expr& expr, SourceId source);

// The primary key of a row.
RowKey key_of(const Table& table, const TableRow& row);
// (1, 'BC'), for messages.
std::string print(const RowKey& key);

}  // namespace isoscope::sql
