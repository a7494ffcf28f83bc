#pragma once
// What InnoDB locks: records of the index of the primary key, and the gaps between them.
//
//   a record   shared or exclusive, in a queue: a request waits for whatever stands before it and
//              excludes it, be it granted or not. No request overtakes a waiting one, not even for
//              the stronger mode of a lock that its transaction has
//   a gap      the space before a record, or behind the last one. Gap locks exclude nothing but an
//              INSERT of others into the gap
//
// A record is there as long as its row has a version, even if the last one says that it is deleted.
// A record that comes into a locked gap splits it: both parts stay locked. One that goes (its
// INSERT is rolled back) leaves its locks to the gap.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sql/expr.h"
#include "sql/server/digest.h"
#include "sql/server/ids.h"
#include "sql/value.h"

namespace isoscope::sql::server {

class IndexLocks {
 public:
  using Key = std::vector<Value>;
  struct Record {
    TableId table = {};
    std::optional<Key> key = {};  // none: behind the last record
    friend bool operator==(const Record&, const Record&) = default;
    friend bool operator<(const Record& a, const Record& b) {
      if (a.table != b.table) return a.table < b.table;
      if (a.key.has_value() != b.key.has_value()) return a.key.has_value();
      return a.key && *a.key < *b.key;
    }
  };

  struct Request {
    TxnNo txn = {};
    bool is_shared = false;
    // Of a transaction at READ COMMITTED: what it waits for exclusively is no lock of a gap later.
    bool keeps_gaps = true;
  };
  struct Answer {
    bool is_new = false;  // granted, and the transaction had nothing as strong before
    std::vector<TxnNo> blockers = {};
  };
  Answer lock(const Record& record, const Request& request);
  // Takes back a lock that was new; a shared one that the transaction has besides stays.
  void release(const Record& record, const Request& request);

  void lock_gap(const Record& before, TxnNo txn) { gaps_[before].insert(txn); }
  // Who keeps the transaction from inserting before this record.
  std::vector<TxnNo> gap_blockers(const Record& before, TxnNo txn) const;
  // A new record has come before `next`, exclusively locked by the INSERT.
  void split(const Record& record, const Record& next, TxnNo txn);
  // The record is gone; `next` is the one behind it.
  void merge(const Record& record, const Record& next);

  void end(TxnNo txn);
  void add_to(Digest& digest) const;

 private:
  struct Claim {
    TxnNo txn = {};
    bool is_shared = false;
    bool keeps_gaps = true;
    bool is_granted = false;
  };

  std::map<Record, std::vector<Claim>> records_;
  std::map<Record, std::set<TxnNo>> gaps_;
};

}  // namespace isoscope::sql::server
