#pragma once
// The versions of every row that is in the log, in the order in which they were committed.
//
// Two transactions never write one row at the same time: the later one waits for the earlier one's
// end. So the order of commits is the order of a row's versions, and a transaction that sees the
// later version also sees the earlier one. Of unwritten rows only the lines of the copy are
// kept.
//
// The log is read three times (resolver.h). The first time, touch() notes which rows are written at
// all. The second time, tables of which every version is needed, because statements ask for rows by
// other conditions than their primary key, get all of them: keep_all(). The third time the others
// follow, part by part, and prune() drops what no statement that is still to come can see: of each
// row at least the newest version stays.
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/decoded_log.h"
#include "record/server_log.h"
#include "record/tables.h"

namespace isoscope::record {

inline constexpr std::uint64_t kInitialXid = 0;  // of rows that were there before the recording

struct Version {
  std::uint64_t xid = kInitialXid;
  std::uint64_t lsn = 0;
  std::size_t place = 0;  // of its transaction in the order of commits; 0 of the initial one
  bool exists = true;
  std::vector<Cell> values = {};  // by the table's columns; empty if it does not exist
  std::size_t id = 0;             // among the versions of its table that exist
  // The columns that its statement set, whether or not the values changed; null if none is known.
  const std::set<std::size_t>* assigned = nullptr;
};

inline bool exists(const Version* version) { return version != nullptr && version->exists; }

// One row that was written during the recording, by its primary key. Before the first version there
// is none.
struct RowChain {
  static constexpr std::size_t kPresence = static_cast<std::size_t>(-1);

  std::vector<Version> versions;  // in the order of commits
  bool ever_exists = false;       // at any moment of the run
  bool is_there = false;          // now, while the log is read for the second time
  // The last versions of each transaction: what others may see.
  std::vector<std::size_t> finals() const;
  // The versions that the transaction at this place of the order of commits wrote: [first, second).
  std::pair<std::size_t, std::size_t> versions_of(std::size_t place) const;
  // Did the transaction whose last version of the row this is set the column?
  bool is_assigned(const Version& last, std::size_t column) const;
  // Who gave the row the value of this column (or its presence) that it has in each version? Only
  // the last versions of transactions count. Setting the value that is there already is a write:
  // in another order of transactions another value would have been there.
  std::uint64_t writer(std::size_t i, std::size_t column) const;

  // Chains up to this length are looked through each time; of longer ones the answer is kept.
  static constexpr std::size_t kShort = 16;
  // Changes whenever writers may.
  std::uint32_t edition() const { return edition_; }
  void append(Version version);
  void assign(std::size_t i, const std::set<std::size_t>* columns);
  // Drops the versions before the i-th. Requires: that is the last one of its transaction.
  void prune(std::size_t i, std::size_t columns);

 private:
  std::vector<std::uint64_t> all_writers(std::size_t column) const;

  std::uint32_t edition_ = 0;
  // Of the first version, if others were dropped: who wrote its presence, and then its columns.
  std::vector<std::uint64_t> base_ = {};
  mutable std::map<std::size_t, std::vector<std::uint64_t>> writers_ = {};
};

// The same for any way of comparing versions; null is the row before its first version. `base`: of
// the first version, if others were dropped before it.
std::vector<std::uint64_t> writers_of(
    const RowChain& chain, const std::function<bool(const Version*, const Version*)>& same,
    const std::uint64_t* base = nullptr);

struct TableVersions {
  using Entry = std::pair<const std::string, RowChain>;

  const Table* table = nullptr;
  bool keeps_all = false;                // versions
  std::map<std::string, RowChain> rows;  // that are written, by primary key: "7", or "7,abc"
  std::vector<const Entry*> touched;     // all of them
  std::unordered_map<std::uint64_t, std::vector<const Entry*>> by_writer;  // by id of transaction
  std::size_t next_id = 0;  // of a version; those of rows that were not written follow
  std::string trouble;      // why the versions are not all known

  // Rows that were there and were not written: they are counted and locked, and never change.
  std::vector<std::string_view> untouched;  // as COPY prints them
  bool has_untouched(const std::string& key) const;
  std::string untouched_key(std::size_t i) const;  // the primary key of one of them
  // Hashes of their keys; in ascending order once one was looked for.
  mutable std::vector<std::uint64_t> untouched_keys;
  mutable bool is_sorted = false;
  std::size_t id_count() const { return next_id + untouched.size(); }
};

class Versions {
 public:
  // `catalog` and the copies of `log` outlive it.
  Versions(const Catalog& catalog, const ServerLog& log);

  // The first time: these rows are written.
  void touch(const DecodedLog& part);
  void keep_all(const Table& table);
  // Then the rows that were there before.
  void start();
  // The second time: the tables that keep all get their versions, and of all tables it is found out
  // whether the log makes sense.
  void apply_kept(DecodedLog& part);
  // The third time: the others. The values of the changes are taken out.
  void apply_others(DecodedLog& part);
  // Drops versions invisible to every later snapshot: to each that contains all transactions before
  // `horizon` and before this place in the order of commits.
  void prune(std::uint64_t horizon, std::size_t place);
  // What the transaction wrote is not asked for any more.
  void forget_writer(std::uint64_t xid);

  // A statement of the transaction at `place`, whose changes lie between these places of the log,
  // set these columns of the rows that it changed. Call it before anything asks for writers.
  struct Assigned {
    std::uint64_t xid = 0;
    std::size_t place = 0;
    const Table* table = nullptr;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::set<std::string> columns;
  };
  void assign(const Assigned& assigned);

  const TableVersions* of(const Table& table) const;
  const std::map<std::string, TableVersions>& tables() const { return tables_; }
  // The table that a change in the log is of; null if its rows are not known.
  const TableVersions* find(const std::string& full_name) const;
  // Numbers the commits of a part of the log. `last`: before it, and after it.
  void number(DecodedLog& part, std::size_t& last) const;

 private:
  struct Place;
  const std::string& owner_of(const std::string& full_name) const;  // of a partition: its table
  TableVersions* find(const std::string& full_name);
  Place place_of(const LogChange& change, const TableVersions& versions) const;
  void check(const LogChange& change);
  void apply(const LogTxn& txn, LogChange& change);
  void truncate(const LogTxn& txn, const LogChange& change, TableVersions& versions);
  void append(TableVersions& versions, TableVersions::Entry& entry, Version version);
  void sort_writer(std::uint64_t xid);

  const Catalog& catalog_;
  const ServerLog& log_;
  std::map<std::string, TableVersions> tables_;
  std::set<std::string> emptied_;             // tables that were truncated, which touches all rows
  std::set<std::set<std::size_t>> assigned_;  // what Version::assigned points to
  // Rows that may have versions to drop.
  std::vector<std::pair<TableVersions*, TableVersions::Entry*>> grown_;
};

// The values of a change in the order of the table's columns.
std::vector<Cell> ordered_values(const Table& table, LogChange::Values values);
// Do they have the primary key?
bool has_key(const Table& table, const LogChange::Values& values);
// A value as a part of a key of several columns.
std::string escaped_part(const std::string& value);
// "7" or "7,abc": the primary key of a row, for the name of its key.
std::string key_text(const Table& table, const std::vector<Cell>& values);

}  // namespace isoscope::record
