#pragma once
// The versions of every row that the log tells of, in the order in which they were committed.
//
// Two transactions never write one row at the same time: the later one waits for the earlier one's
// end. So the order of commits is the order of a row's versions, and a transaction that sees the
// later version also sees the earlier one. Of rows that nobody wrote only the lines of the copy are
// kept.
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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
  // The last versions of each transaction: what others may see.
  std::vector<std::size_t> finals() const;
  // The versions that the transaction at this place of the order of commits wrote: [first, second).
  std::pair<std::size_t, std::size_t> versions_of(std::size_t place) const;
  // Did the transaction whose last version of the row this is set the column?
  bool is_assigned(const Version& last, std::size_t column) const;
  // Who gave the row the value of this column (or its presence) that it has in each version? Only
  // the last versions of transactions count. Setting the value that is there already is a write:
  // in another order of transactions another value would have been there.
  const std::vector<std::uint64_t>& writers(std::size_t column) const;

 private:
  mutable std::map<std::size_t, std::vector<std::uint64_t>> writers_ = {};
};

// The same for any way of comparing versions; null is the row before its first version.
std::vector<std::uint64_t> writers_of(
    const RowChain& chain, const std::function<bool(const Version*, const Version*)>& same);

struct TableVersions {
  using Entry = std::pair<const std::string, RowChain>;

  const Table* table = nullptr;
  std::map<std::string, RowChain> rows;  // that were written, by primary key: "7", or "7,abc"
  std::vector<const Entry*> touched;     // all of them
  std::unordered_map<std::uint64_t, std::vector<const Entry*>> by_writer;  // by id of transaction
  std::size_t next_id = 0;  // of a version; those of rows that nobody wrote follow
  std::string trouble;      // why the versions are not all known

  // Rows that were there and that nobody wrote: they can only be counted.
  std::vector<std::string_view> untouched;  // as COPY prints them
  bool has_untouched(const std::string& key) const;
  std::vector<std::uint64_t> untouched_keys;  // hashes, in ascending order
  std::size_t id_count() const { return next_id + untouched.size(); }
};

class Versions {
 public:
  // `catalog` and the copies of `log` outlive it. The values of the changes are taken out of
  // `decoded`, which keeps what changed where.
  Versions(const Catalog& catalog, const ServerLog& log, DecodedLog& decoded);

  // A statement of the transaction, whose changes lie between these places of the log, set these
  // columns of the rows that it changed. Call it before anything asks for writers.
  void assign(std::uint64_t xid, const Table& table, std::uint64_t from, std::uint64_t to,
              const std::set<std::string>& columns);

  const TableVersions* of(const Table& table) const;
  const std::map<std::string, TableVersions>& tables() const { return tables_; }
  // The place in the order of commits, from 1; 0 if the transaction wrote nothing.
  std::size_t commit_place(std::uint64_t xid) const;

 private:
  using Written = std::unordered_set<std::string>;  // primary keys
  std::map<std::string, Written> written_keys(const DecodedLog& decoded,
                                              std::set<std::string>& emptied);
  void start_from(const ServerLog& log, const DecodedLog& decoded);
  void apply(const LogTxn& txn, std::size_t place, LogChange& change);
  TableVersions* find(const std::string& full_name);

  const Catalog& catalog_;
  std::map<std::string, TableVersions> tables_;
  std::unordered_map<std::uint64_t, std::size_t> commits_;
  std::set<std::set<std::size_t>> assigned_;  // what Version::assigned points to
};

// A value as a part of a key of several columns.
std::string escaped_part(const std::string& value);
// "7" or "7,abc": the primary key of a row, for the name of its key.
std::string key_text(const Table& table, const std::vector<Cell>& values);

}  // namespace isoscope::record
