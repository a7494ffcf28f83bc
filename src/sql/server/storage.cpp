#include "sql/server/storage.h"

#include <algorithm>

namespace isoscope::sql::server {

bool excludes(Lock a, Lock b) {
  if (a > b) std::swap(a, b);  // a is the weaker one
  switch (a) {
    case Lock::None: return false;
    case Lock::KeyShare: return b == Lock::Update;
    case Lock::Share: return b >= Lock::NoKeyUpdate;
    case Lock::NoKeyUpdate:
    case Lock::Update: return true;
  }
  return true;
}

Storage::Storage(const Application& app) : tables_(app.tables.size()) {
  for (const TableId table : tables_.ids())
    tables_[table].next_fresh.assign(app.table(table).columns.size(), 1);
  for (const Sequence& sequence : app.sequences) {
    next_draws_.push_back(sequence.start);
    increments_.push_back(sequence.increment);
  }
  for (const InitialRow& row : app.initial_rows) {
    add_row(row.table, std::make_shared<const TableRow>(row.values), kInitialTxn, {});
    StoredTable& to = tables_[row.table];
    for (const ColumnId c : row.values.ids()) {
      const auto* number = std::get_if<std::int64_t>(&row.values[c].data);
      if (number == nullptr) continue;
      to.next_fresh[c] = std::max(to.next_fresh[c], *number + 1);
    }
  }
}

void Storage::draw_beyond_rows(const Application& app) {
  for (const InitialRow& row : app.initial_rows) {
    for (const ColumnId c : row.values.ids()) {
      const auto* number = std::get_if<std::int64_t>(&row.values[c].data);
      const auto sequence = app.table(row.table).columns[c].drawn_from;
      if (number != nullptr && sequence) draw_beyond(*sequence, *number);
    }
  }
}

void Storage::draw_beyond(SequenceId sequence, std::int64_t number) {
  std::int64_t& next = next_draws_[sequence];
  const std::int64_t step = increments_[sequence];
  const bool is_behind = step > 0 ? next > number : next < number;
  if (!is_behind) next += ((number - next) / step + 1) * step;
}

std::int64_t Storage::draw(SequenceId sequence) {
  const std::int64_t drawn = next_draws_[sequence];
  next_draws_[sequence] += increments_[sequence];
  return drawn;
}

std::optional<std::uint32_t> Storage::visible(const StoredRow& row, const View& view) const {
  for (std::size_t i = row.versions.size(); i-- > 0;) {
    const Version& version = row.versions[i];
    const bool is_own = version.creator == view.txn;
    if (is_own ? version.command >= view.command : !view.snapshot.contains(version.creator))
      continue;
    if (version.is_deleted()) return std::nullopt;
    return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

std::vector<Storage::Seen> Storage::scan(TableId table, const View& view) const {
  std::vector<Seen> seen;
  const auto& rows = tables_[table].rows;
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    if (const auto version = visible(rows[r], view)) seen.push_back({{table, r}, *version});
  }
  const auto position = [&](const Seen& each) {
    return rows[each.row.row].versions[each.version].position;
  };
  if (const auto& key = tables_[table].clustered_by; !key.empty()) {
    std::ranges::sort(seen, {}, [&](const Seen& each) { return columns_of(values(each), key); });
    return seen;
  }
  std::ranges::sort(seen, [&](const Seen& a, const Seen& b) { return position(a) < position(b); });
  return seen;
}

void Storage::add_version(RowId id, RowValues values, TxnNo creator, CommandNo command,
                          bool is_exclusive) {
  row(id).versions.push_back({.values = std::move(values),
                              .creator = creator,
                              .command = command,
                              .position = table(id.table).next_position++,
                              .is_exclusive = is_exclusive});
}

RowId Storage::add_row(TableId id, RowValues values, TxnNo creator, CommandNo command) {
  auto& rows = table(id).rows;
  rows.emplace_back();
  const RowId row{id, static_cast<std::uint32_t>(rows.size() - 1)};
  add_version(row, std::move(values), creator, command, false);
  return row;
}

void Storage::lock(RowId id, TxnNo txn, Lock mode) {
  auto& locks = row(id).locks;
  const CommandNo command = commands_.contains(txn) ? commands_[txn] : CommandNo{};
  for (HeldLock& lock : locks) {
    if (lock.txn != txn) continue;
    if (lock.mode < mode) lock.taken.emplace_back(command, mode);
    lock.mode = std::max(lock.mode, mode);
    return;
  }
  locks.push_back({txn, mode, {{command, mode}}});
  std::ranges::sort(locks, {}, &HeldLock::txn);
}

Lock Storage::held(RowId id, TxnNo txn) const {
  for (const HeldLock& lock : row(id).locks) {
    if (lock.txn == txn) return lock.mode;
  }
  return Lock::None;
}

void Storage::end(TxnNo txn, bool commits) {
  advisory_.end(txn);
  index_.end(txn);
  for (const TableId table : tables_.ids()) {
    for (StoredRow& row : tables_[table].rows)
      std::erase_if(row.locks, [&](const HeldLock& lock) { return lock.txn == txn; });
    if (!commits) take_back(table, txn);
    drop_empty_rows(tables_[table]);
  }
}

void Storage::take_back(TableId id, TxnNo txn) {
  StoredTable& table = tables_[id];
  std::vector<std::vector<Value>> gone;  // keys of records that are no longer there
  for (StoredRow& row : table.rows) {
    const RowValues first = row.versions.empty() ? nullptr : row.versions.front().values;
    std::erase_if(row.versions, [&](const Version& version) { return version.creator == txn; });
    if (first != nullptr && row.versions.empty() && !table.clustered_by.empty())
      gone.push_back(columns_of(*first, table.clustered_by));
  }
  for (const auto& key : gone) index_.merge({id, key}, next_record(id, key));
}

std::optional<RowId> Storage::find_row(TableId id, const std::vector<Value>& key) const {
  const StoredTable& table = tables_[id];
  for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
    const auto& versions = table.rows[r].versions;
    if (!versions.empty() && columns_of(*versions.front().values, table.clustered_by) == key)
      return RowId{id, r};
  }
  return std::nullopt;
}

IndexLocks::Record Storage::next_record(TableId id, const std::vector<Value>& key) const {
  const StoredTable& table = tables_[id];
  IndexLocks::Record next{id, std::nullopt};
  for (const StoredRow& row : table.rows) {
    if (row.versions.empty()) continue;
    IndexLocks::Record record{id, columns_of(*row.versions.front().values, table.clustered_by)};
    if (*record.key > key && record < next) next = std::move(record);
  }
  return next;
}

// Rows are named by their place, so one without versions stays, unless it is the last.
void Storage::drop_empty_rows(StoredTable& table) {
  while (!table.rows.empty() && table.rows.back().versions.empty()) table.rows.pop_back();
}

void Storage::begin_command(TxnNo txn, CommandNo command) { commands_.grown(txn) = command; }

void Storage::undo(TxnNo txn, CommandNo command) {
  advisory_.undo(txn, command);
  for (StoredTable& table : tables_) {
    for (StoredRow& row : table.rows) {
      std::erase_if(row.versions, [&](const Version& version) {
        return version.creator == txn && version.command >= command;
      });
      for (HeldLock& lock : row.locks) {
        if (lock.txn != txn) continue;
        std::erase_if(lock.taken, [&](const auto& taken) { return taken.first >= command; });
        lock.mode = lock.taken.empty() ? Lock::None : lock.taken.back().second;
      }
      std::erase_if(row.locks, [](const HeldLock& lock) { return lock.mode == Lock::None; });
    }
    drop_empty_rows(table);
  }
}

std::vector<std::vector<ColumnId>> unique_keys(const Table& table) {
  std::vector<std::vector<ColumnId>> keys;
  const bool is_hidden = std::ranges::any_of(
      table.primary_key, [&](ColumnId column) { return table.columns[column].is_hidden; });
  if (!is_hidden) keys.push_back(table.primary_key);
  keys.insert(keys.end(), table.unique.begin(), table.unique.end());
  return keys;
}

std::vector<Value> columns_of(const TableRow& row, std::span<const ColumnId> columns) {
  std::vector<Value> values;
  for (const ColumnId column : columns) values.push_back(row[column]);
  return values;
}

}  // namespace isoscope::sql::server
