#pragma once
// The points of a history: a commit for each transaction, and snapshots where they matter.
//
// Only a plain external read can ask for an early snapshot; all other rules ask for late ones. So
// statements without such a read get no point: they have the snapshot of the next statement that
// has one (if later snapshots have what earlier ones have), or one right before the commit.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "history/history.h"
#include "verdict/logic.h"

namespace isoscope {

class PointLayout {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Snapshot {
    TxnId txn;
    std::uint32_t first = 0;        // its first statement that reads
    std::uint32_t last = 0;         // its last one
    std::uint32_t first_plain = 0;  // its first one with a plain read, be it of an own write
  };

  // `rules` by transaction. Keeps references.
  PointLayout(const History& h, const std::vector<const SnapRules*>& rules);

  const History& history() const { return h_; }
  const SnapRules& rules(TxnId t) const { return *rules_[t.index]; }
  std::size_t size() const { return h_.num_txns() + snapshots_.size(); }
  std::uint32_t commit(TxnId t) const { return t.index; }
  bool is_commit(std::uint32_t point) const { return point < h_.num_txns(); }
  const Snapshot& snapshot(std::uint32_t point) const { return snapshots_[point - h_.num_txns()]; }
  TxnId txn(std::uint32_t point) const {
    return is_commit(point) ? TxnId{point} : snapshot(point).txn;
  }
  // The snapshots of a transaction, in the order of their statements.
  std::uint32_t first_snapshot(TxnId t) const { return begin_[t.index]; }
  std::uint32_t end_snapshot(TxnId t) const { return begin_[t.index + 1]; }
  // Where a read is decided: at its snapshot, or for a current read at the commit.
  // Requires: an external read.
  std::uint32_t point_of(EventId read) const { return point_of_[read.index]; }
  bool is_current(EventId read) const { return is_commit(point_of_[read.index]); }
  std::uint32_t statement(TxnId t, EventId e) const {
    return h_.has_statements() ? h_.statement(e) : e.index - h_.events(t).front().index;
  }
  // Do the snapshots of t grow, so that what the first one has, all have?
  bool grows(TxnId t) const {
    const SnapRules& r = rules(t);
    return r.monotone || end_snapshot(t) - first_snapshot(t) <= 1;
  }

  // By event, for a line of all points: how many commits come before the snapshot of a read.
  std::vector<std::uint32_t> snapshot_lengths(std::span<const std::uint32_t> line) const;

 private:
  // Statements and the rows that they write or lock.
  using Claims = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  void add_txn(TxnId t);
  Claims claims_of(TxnId t) const;
  bool is_plain(TxnId t, EventId read, const Claims& claims) const;
  // The point that decides a statement's snapshot, or that of the commit. `plain` says whether
  // the statement has a plain read.
  std::uint32_t point_of_statement(TxnId t, std::uint32_t statement, bool plain) const;

  const History& h_;
  const std::vector<const SnapRules*>& rules_;
  std::vector<Snapshot> snapshots_;
  std::vector<std::uint32_t> begin_;     // by transaction, as points; one more at the end
  std::vector<std::uint32_t> point_of_;  // by event
};

}  // namespace isoscope
