#include "sql/run/constraints.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {
namespace {

bool sets_any(const NewRow& row, std::span<const ColumnId> columns) {
  return std::ranges::any_of(columns, [&](ColumnId column) { return row.is_set(column); });
}

bool has_null(std::span<const Value> values) {
  return std::ranges::any_of(values, [](const Value& value) { return value.is_null(); });
}

// The key that the columns give, if they are the whole primary key.
std::optional<RowKey> whole_key(const Table& table, std::span<const ColumnId> columns,
                                std::span<const Value> values) {
  RowKey key;
  for (const ColumnId key_column : table.primary_key) {
    const auto at = std::ranges::find(columns, key_column);
    if (at == columns.end()) return std::nullopt;
    key.push_back(values[static_cast<std::size_t>(at - columns.begin())]);
  }
  return key;
}

}  // namespace

NewRow::NewRow(CallState& call, TableId table)
    : call_(call), table_(table), set_(call.app.table(table).columns.size()) {}

NewRow::NewRow(StatementView& view, TableId table, RowKey old_key)
    : call_(view.call()),
      view_(&view),
      table_(table),
      old_key_(std::move(old_key)),
      set_(call_.app.table(table).columns.size()) {}

Value NewRow::column(SourceId source, ColumnId column) {
  if (source == SourceId{0} && set_[column]) return *set_[column];
  return view_ == nullptr ? Value() : view_->column(table_, *old_key_, column);
}

void NewRow::set(ColumnId column, Value value) {
  set_[column] = kept_in(call_.app.table(table_).columns[column].width, std::move(value));
}

RowKey NewRow::key() { return values(call_.app.table(table_).primary_key); }

std::vector<Value> NewRow::values(std::span<const ColumnId> columns) {
  std::vector<Value> list;
  for (const ColumnId c : columns) list.push_back(column(c));
  return list;
}

Result<void> check_values(CallState& call, NewRow& row) {
  const Table& table = call.app.table(row.table());
  // Whether values fit their types is part of computing them.
  for (const ColumnId c : table.columns.ids()) {
    if (!row.is_set(c)) continue;
    if (auto misfit = why_not_in(table.columns[c].width, row.column(c))) return *misfit;
  }
  for (const ColumnId c : table.columns.ids()) {
    const bool must_be_known = table.columns[c].not_null || table.is_key_column(c);
    if (must_be_known && row.is_set(c) && row.column(c).is_null())
      return Error{.what =
                       fmt::format("{}.{} must not be NULL", table.name, table.columns[c].name)};
  }
  for (const Expr& check : table.checks) {
    if (!sets_any(row, columns_of(check, SourceId{0}))) continue;
    auto holds = evaluate(check, {}, row);
    if (!holds) return holds.error();
    if (*holds == Value(false))
      return Error{.what = fmt::format("a row of {} does not meet its CHECK", table.name)};
  }
  return {};
}

std::optional<RowKey> find_row(CallState& call, TableId table_id, std::span<const ColumnId> columns,
                               std::span<const Value> values, const std::optional<RowKey>& except) {
  const Table& table = call.app.table(table_id);
  Database& database = call.database;
  const auto fits = [&](const RowKey& key) {
    if (key == except) return false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (table.is_key_column(columns[i]) && key_column(table, key, columns[i]) != values[i])
        return false;
    }
    if (!database.is_present(table_id, key)) return false;
    bool all_same = true;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!table.is_key_column(columns[i]))
        all_same = database.read(table_id, key, columns[i]) == values[i] && all_same;
    }
    return all_same;
  };
  if (const auto key = whole_key(table, columns, values)) return fits(*key) ? key : std::nullopt;
  std::vector<RowKey> rows = database.rows(table_id);
  call.work += rows.size();
  for (RowKey& key : rows) {
    if (fits(key)) return std::move(key);
  }
  return std::nullopt;
}

std::optional<RowKey> find_double(CallState& call, NewRow& row, std::span<const ColumnId> columns) {
  if (!sets_any(row, columns)) return std::nullopt;
  const std::vector<Value> values = row.values(columns);
  if (has_null(values)) return std::nullopt;  // NULLs are no doubles of each other
  const auto& constraints = call.app.table(row.table()).unique;
  const auto ids = constraints.ids();
  const auto constraint = std::ranges::find_if(
      ids, [&](UniqueId id) { return std::ranges::equal(constraints[id], columns); });
  if (constraint != ids.end()) {
    if (auto answer = call.database.find_unique(row.table(), *constraint, values, row.old_key()))
      return std::move(answer->row);
  }
  return find_row(call, row.table(), columns, values, row.old_key());
}

// While a foreign key looks at rows.
class ReferenceCheck {
 public:
  explicit ReferenceCheck(Database& database) : database_(database) {
    database_.begin_reference_check();
  }
  ~ReferenceCheck() { database_.end_reference_check(); }
  ReferenceCheck(const ReferenceCheck&) = delete;
  ReferenceCheck& operator=(const ReferenceCheck&) = delete;

 private:
  Database& database_;
};

Result<void> check_references(CallState& call, NewRow& row) {
  const ReferenceCheck check(call.database);
  const Table& table = call.app.table(row.table());
  for (const ForeignKey& foreign : table.foreign_keys) {
    if (!sets_any(row, foreign.columns)) continue;
    const std::vector<Value> values = row.values(foreign.columns);
    if (has_null(values)) continue;
    const bool is_itself =
        foreign.target == row.table() && row.values(foreign.target_columns) == values;
    if (is_itself) continue;
    const auto target = find_row(call, foreign.target, foreign.target_columns, values, {});
    if (!target) {
      return Error{.what =
                       fmt::format("a row of {} refers to {} of {}, which is not there", table.name,
                                   print(values), call.app.table(foreign.target).name)};
    }
    call.database.lock(foreign.target, *target, Lock::KeyShare);
  }
  return {};
}

bool is_referenced(const Application& app, TableId table) {
  return std::ranges::any_of(app.tables, [&](const Table& other) {
    return std::ranges::any_of(other.foreign_keys,
                               [&](const ForeignKey& key) { return key.target == table; });
  });
}

Result<void> check_not_referenced(CallState& call, TableId table, const RowKey& key,
                                  const TableRow& old, bool is_delete) {
  const ReferenceCheck check(call.database);
  for (std::uint32_t t = 0; t < call.app.tables.size(); ++t) {
    for (const ForeignKey& foreign : call.app.tables[t].foreign_keys) {
      if (foreign.target != table) continue;
      const ReferenceAction action = is_delete ? foreign.on_delete : foreign.on_update;
      if (action != ReferenceAction::Refuse) continue;
      std::vector<Value> values;
      for (const ColumnId column : foreign.target_columns) values.push_back(old[column]);
      if (has_null(values)) continue;
      const auto itself = TableId{t} == table ? std::optional(key) : std::nullopt;
      if (find_row(call, TableId{t}, foreign.columns, values, itself)) {
        return Error{.what = fmt::format("a row of {} still refers to {} of {}",
                                         call.app.tables[t].name, print(values),
                                         call.app.table(table).name)};
      }
    }
  }
  return {};
}

}  // namespace isoscope::sql
