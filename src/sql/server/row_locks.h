#pragma once
// What a statement must do before it may have a row: wait, read it again, or give up. The same for
// entries of unique keys.
#include "sql/exclusions.h"
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

struct RowAnswer {
  enum class Kind : std::uint8_t {
    Locked,    // as it was in hand
    Changed,   // locked, but another version is there now: `version`
    Gone,      // deleted meanwhile, and not locked
    Waits,     // for `blockers`
    Conflict,  // changed outside of the snapshot that the transaction keeps: 40001
  };
  Kind kind = Kind::Locked;
  std::uint32_t version = 0;
  std::vector<TxnNo> blockers = {};
};

// Locks a row of which the version `in_hand` is known. KEY SHARE passes versions that changed no
// key. `mode_if_changed` is what a row that has changed is locked with before it is read again.
RowAnswer lock_row(const StatementContext& context, RowId id, std::uint32_t in_hand, Lock mode,
                   Lock mode_if_changed);

struct EntryAnswer {
  std::optional<RowId> taken = {};   // by this row, as it is now
  std::vector<TxnNo> blockers = {};  // not known before one of these ends
};

// Who has these values in the unique key? Looks at what is there now, whatever the snapshot.
// NULLs are no doubles of each other. `except` is the row that wants the entry.
EntryAnswer find_entry(const StatementContext& context, TableId table, std::uint32_t key_number,
                       std::span<const ColumnId> key, const TableRow& values,
                       std::optional<RowId> except);

// The same for an EXCLUDE constraint, by its id; its entries are counted behind those of the
// keys. `values`: what the row has in its parts.
EntryAnswer find_excluded(const StatementContext& context, TableId table, ExclusionId id,
                          const std::vector<ExclusionValue>& values, std::optional<RowId> except);

// Has the transaction a lock that the values of a key cannot pass, or changes this update a key?
bool changes_key(const Table& table, const TableRow& from, const TableRow& to);
// Does it change a column of a key or of an EXCLUDE constraint?
bool changes_index(const Table& table, const TableRow& from, const TableRow& to);
// The lock of an UPDATE by the columns that it sets.
Lock lock_of_sets(const Table& table, const std::vector<SetColumn>& sets);

}  // namespace isoscope::sql::server
