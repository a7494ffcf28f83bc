#pragma once
// What PostgreSQL keeps of its tables: every version of every row, who made it, and row locks.
//
// A row is one thing from its INSERT to its DELETE; an UPDATE adds a version to it, also where the
// key changes. A key that is inserted again after a DELETE is another row. Versions stand in the
// order in which they were made; only the last ones can belong to a transaction that still runs,
// since writers of one row exclude each other. What an aborted transaction made is taken away.
//
//     row    v0 by T0 ── v1 by T2 ── v2 by T5 (still running)
//     locks  T5: NO KEY UPDATE,  T7: KEY SHARE
//
// A snapshot is the set of transactions whose versions it shows.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql/application.h"
#include "sql/server/advisory_locks.h"
#include "sql/server/index_locks.h"

namespace isoscope::sql::server {

// A set of transactions.
class TxnNoSet {
 public:
  bool contains(TxnNo txn) const {
    const std::size_t word = txn.index / 64;
    return word < words_.size() && ((words_[word] >> (txn.index % 64)) & 1) != 0;
  }
  void insert(TxnNo txn) {
    const std::size_t word = txn.index / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << (txn.index % 64);
  }
  void erase(TxnNo txn) {
    if (contains(txn)) words_[txn.index / 64] &= ~(std::uint64_t{1} << (txn.index % 64));
  }
  std::span<const std::uint64_t> words() const { return words_; }
  friend bool operator==(const TxnNoSet&, const TxnNoSet&) = default;
  friend auto operator<=>(const TxnNoSet&, const TxnNoSet&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

using RowValues = std::shared_ptr<const TableRow>;

struct Version {
  RowValues values;  // null: the row is deleted
  TxnNo creator = kInitialTxn;
  CommandNo command = {};      // of its creator
  std::uint32_t position = 0;  // in the table, by creation: the order of a scan
  // It replaced the one before as FOR UPDATE, DELETE and changes of keys do: KEY SHARE conflicts.
  bool is_exclusive = false;
  // How many of the table's keys (the primary key first) have an entry for it so far: an INSERT
  // that waits at one of them has none there yet.
  std::uint32_t num_entries = UINT32_MAX;

  bool is_deleted() const { return values == nullptr; }
};

struct HeldLock {
  TxnNo txn = {};
  Lock mode = Lock::None;
  // The modes with the commands that took them, for a block that is undone.
  std::vector<std::pair<CommandNo, Lock>> taken = {};
};

struct StoredRow {
  std::vector<Version> versions;
  std::vector<HeldLock> locks;  // at most one for each transaction, its strongest
};

struct StoredTable {
  std::vector<StoredRow> rows;
  std::uint32_t next_position = 0;
  ById<ColumnId, std::int64_t> next_fresh;
  // Keys of a `.txn` program: rows have their places for ever, and are there from the start,
  // whether or not they were read; no scan visits them. The first `num_shown` are always shown.
  bool is_by_key = false;
  std::uint32_t num_shown = 0;
  // Of MariaDB: the columns of the primary key, by which its rows are stored. A key has one row,
  // which remains when it is deleted and inserted again.
  std::vector<ColumnId> clustered_by = {};

  // Is the version of a row part of what people see of the table?
  bool is_shown(std::uint32_t row, std::uint32_t version) const {
    return !is_by_key || row < num_shown || version > 0;
  }
};

// Do two transactions exclude each other by these locks on one row?
bool excludes(Lock a, Lock b);

struct RowId {
  TableId table;
  std::uint32_t row = 0;
  friend auto operator<=>(RowId, RowId) = default;
};

// The reader: a transaction sees what is in its snapshot, and its own commands before this one.
struct View {
  const TxnNoSet& snapshot;
  TxnNo txn = {};
  CommandNo command = {};
};

class Storage {
 public:
  explicit Storage(const Application& app);
  // Numbers of the rows at the start count as drawn, as AUTO_INCREMENT has it.
  void draw_beyond_rows(const Application& app);

  StoredTable& table(TableId id) { return tables_[id]; }
  const StoredTable& table(TableId id) const { return tables_[id]; }
  StoredRow& row(RowId id) { return tables_[id.table].rows[id.row]; }
  const StoredRow& row(RowId id) const { return tables_[id.table].rows[id.row]; }
  IdRange<TableId> tables() const { return tables_.ids(); }

  // The version that the view shows, by its place in the row; nothing if the row is not there.
  std::optional<std::uint32_t> visible(const StoredRow& row, const View& view) const;
  // All rows that the view shows, with their versions, in the order of a scan.
  struct Seen {
    RowId row;
    std::uint32_t version = 0;
  };
  std::vector<Seen> scan(TableId table, const View& view) const;
  const TableRow& values(const Seen& seen) const {
    return *row(seen.row).versions[seen.version].values;
  }

  // Adds a version; null values delete.
  void add_version(RowId id, RowValues values, TxnNo creator, CommandNo command, bool is_exclusive);
  RowId add_row(TableId table, RowValues values, TxnNo creator, CommandNo command);
  void lock(RowId id, TxnNo txn, Lock mode);
  // The transaction's command from now on.
  void begin_command(TxnNo txn, CommandNo command);
  // What the transaction did by this command and later ones is taken back, locks included.
  void undo(TxnNo txn, CommandNo command);
  Lock held(RowId id, TxnNo txn) const;
  // On MariaDB: the row with this primary key, deleted or not; and the record behind a key.
  std::optional<RowId> find_row(TableId table, const std::vector<Value>& key) const;
  IndexLocks::Record next_record(TableId table, const std::vector<Value>& key) const;
  IndexLocks& index() { return index_; }
  const IndexLocks& index() const { return index_; }
  // The next value of a sequence, which no transaction gives back.
  std::int64_t draw(SequenceId sequence);
  std::span<const std::int64_t> next_draws() const { return next_draws_.entries(); }
  AdvisoryLocks& advisory() { return advisory_; }
  const AdvisoryLocks& advisory() const { return advisory_; }
  // The transaction has ended: its locks go, and with an abort its versions.
  void end(TxnNo txn, bool commits);

 private:
  void draw_beyond(SequenceId sequence, std::int64_t number);
  void drop_empty_rows(StoredTable& table);
  void take_back(TableId id, TxnNo txn);

  ById<TableId, StoredTable> tables_;
  ById<SequenceId, std::int64_t> next_draws_;
  ById<SequenceId, std::int64_t> increments_;
  ById<TxnNo, CommandNo> commands_;
  AdvisoryLocks advisory_;
  IndexLocks index_;
};

// The keys of a table that must be unique, the primary key first; a hidden key does not count.
std::vector<std::vector<ColumnId>> unique_keys(const Table& table);
std::vector<Value> columns_of(const TableRow& row, std::span<const ColumnId> columns);

}  // namespace isoscope::sql::server
