#pragma once
// The versions of every row that the log tells of, in the order in which they were committed.
//
// Two transactions never write one row at the same time: the later one waits for the earlier one's
// end. So the order of commits is the order of a row's versions, and a transaction that sees the
// later version also sees the earlier one.
#include <cstdint>
#include <map>
#include <string>
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
  bool exists = true;
  std::vector<Cell> values = {};  // by the table's columns; empty if it does not exist
  std::size_t id = 0;             // among the versions of its table that exist
};

// One row, by its primary key. Before the first version there is none.
struct RowChain {
  std::vector<Version> versions;
  bool is_touched() const { return versions.size() > 1 || versions[0].xid != kInitialXid; }
  // The last versions of each transaction: what others may see.
  std::vector<std::size_t> finals() const;
};

struct TableVersions {
  const Table* table = nullptr;
  std::map<std::string, RowChain> rows;  // by primary key: "7", or "7,abc"
  // Those that were written during the recording; the others tell nothing.
  std::vector<const std::pair<const std::string, RowChain>*> touched;
  std::vector<bool> is_untouched;  // by Version::id
  std::size_t next_id = 0;
  std::string trouble;  // why the versions are not all known
};

class Versions {
 public:
  // `catalog` outlives it.
  Versions(const Catalog& catalog, const ServerLog& log, const DecodedLog& decoded);

  const TableVersions* of(const Table& table) const;
  const std::map<std::string, TableVersions>& tables() const { return tables_; }
  // The place in the order of commits, from 1; 0 if the transaction wrote nothing.
  std::size_t commit_place(std::uint64_t xid) const;

 private:
  void start_from(const ServerLog& log);
  void apply(const LogTxn& txn, const LogChange& change);
  TableVersions* find(const std::string& full_name);

  const Catalog& catalog_;
  std::map<std::string, TableVersions> tables_;
  std::map<std::uint64_t, std::size_t> commits_;
};

// "7" or "7,abc": the primary key of a row, for the name of its key.
std::string key_text(const Table& table, const std::vector<Cell>& values);

}  // namespace isoscope::record
