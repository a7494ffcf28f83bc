#include "sql/server/row_locks.h"

#include <algorithm>

namespace isoscope::sql::server {
namespace {

std::vector<TxnNo> holders_against(const StoredRow& row, TxnNo txn, Lock mode) {
  std::vector<TxnNo> holders;
  for (const HeldLock& lock : row.locks) {
    if (lock.txn != txn && excludes(lock.mode, mode)) holders.push_back(lock.txn);
  }
  return holders;
}

bool has_null(const std::vector<Value>& values) {
  return std::ranges::any_of(values, &Value::is_null);
}

bool is_key_column(const Table& table, ColumnId column) {
  const auto has_column = [&](const std::vector<ColumnId>& key) {
    return std::ranges::find(key, column) != key.end();
  };
  return std::ranges::any_of(unique_keys(table), has_column) ||
         std::ranges::any_of(table.exclusions, has_column, &Exclusion::key_columns);
}

// The row that has an entry, as it is now.
template <class HasEntry>
EntryAnswer find_holder(const StatementContext& context, TableId table, const HasEntry& has_entry,
                        std::optional<RowId> except) {
  const auto& rows = context.storage.table(table).rows;
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    const RowId id{table, r};
    if (id == except) continue;
    const auto& versions = rows[r].versions;
    // Versions of another transaction that still runs are the last ones.
    std::size_t settled = versions.size();
    while (settled > 0 && versions[settled - 1].creator != context.txn &&
           context.running_txns.contains(versions[settled - 1].creator))
      --settled;
    const bool is_there = settled > 0 && has_entry(versions[settled - 1]);
    if (settled < versions.size()) {
      // A row that is being changed counts as one that may go, whatever is changed in it.
      const bool may_come = std::any_of(versions.begin() + static_cast<std::ptrdiff_t>(settled),
                                        versions.end(), has_entry);
      if (is_there || may_come) return {.blockers = {versions.back().creator}};
    } else if (is_there) {
      return {.taken = id};
    }
  }
  return {};
}

}  // namespace

RowAnswer lock_row(const StatementContext& context, RowId id, std::uint32_t in_hand, Lock mode,
                   Lock mode_if_changed) {
  const StoredRow& row = context.storage.row(id);
  bool has_changed = false;
  for (std::size_t v = in_hand + 1; v < row.versions.size(); ++v) {
    const Version& later = row.versions[v];
    if (later.creator == context.txn || context.running_txns.contains(later.creator)) continue;
    has_changed = has_changed || mode != Lock::KeyShare || later.is_exclusive;
  }
  if (has_changed && context.keeps_snapshot) return {.kind = RowAnswer::Kind::Conflict};
  const Lock needed = has_changed ? mode_if_changed : mode;
  auto blockers = holders_against(row, context.txn, needed);
  if (!blockers.empty()) return {.kind = RowAnswer::Kind::Waits, .blockers = std::move(blockers)};
  if (!has_changed) {
    context.storage.lock(id, context.txn, needed);
    return {.kind = RowAnswer::Kind::Locked, .version = in_hand};
  }
  // KEY SHARE may stand beside a writer that still runs; what counts is the version before its own.
  std::size_t latest = row.versions.size() - 1;
  while (latest > in_hand && row.versions[latest].creator != context.txn &&
         context.running_txns.contains(row.versions[latest].creator))
    --latest;
  if (row.versions[latest].is_deleted()) return {.kind = RowAnswer::Kind::Gone};
  context.storage.lock(id, context.txn, needed);
  return {.kind = RowAnswer::Kind::Changed, .version = static_cast<std::uint32_t>(latest)};
}

EntryAnswer find_entry(const StatementContext& context, TableId table, std::uint32_t key_number,
                       std::span<const ColumnId> key, const TableRow& values,
                       std::optional<RowId> except) {
  const std::vector<Value> wanted = columns_of(values, key);
  if (has_null(wanted)) return {};
  return find_holder(
      context, table,
      [&](const Version& version) {
        return !version.is_deleted() && version.num_entries > key_number &&
               columns_of(*version.values, key) == wanted;
      },
      except);
}

EntryAnswer find_excluded(const StatementContext& context, TableId table, ExclusionId id,
                          const std::vector<ExclusionValue>& values, std::optional<RowId> except) {
  const Table& declared = context.app.table(table);
  const Exclusion& exclusion = declared.exclusions[id];
  const std::size_t entry = unique_keys(declared).size() + id.index;
  return find_holder(
      context, table,
      [&](const Version& version) {
        if (version.is_deleted() || version.num_entries <= entry) return false;
        const auto there = values_of(exclusion, *version.values);
        return there && conflict(exclusion, *there, values);
      },
      except);
}

bool changes_key(const Table& table, const TableRow& from, const TableRow& to) {
  for (const auto& key : unique_keys(table)) {
    if (columns_of(from, key) != columns_of(to, key)) return true;
  }
  return std::ranges::any_of(table.exclusions, [&](const Exclusion& exclusion) {
    return columns_of(from, exclusion.key_columns) != columns_of(to, exclusion.key_columns);
  });
}

bool changes_index(const Table& table, const TableRow& from, const TableRow& to) {
  if (changes_key(table, from, to)) return true;
  for (const ColumnId c : table.columns.ids()) {
    const bool is_indexed = std::ranges::any_of(
        table.exclusions, [&](const Exclusion& exclusion) { return mentions(exclusion, c); });
    if (is_indexed && from[c] != to[c]) return true;
  }
  return false;
}

Lock lock_of_sets(const Table& table, const std::vector<SetColumn>& sets) {
  const bool sets_key = std::ranges::any_of(
      sets, [&](const SetColumn& set) { return is_key_column(table, set.column); });
  return sets_key ? Lock::Update : Lock::NoKeyUpdate;
}

}  // namespace isoscope::sql::server
