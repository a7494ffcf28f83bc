#pragma once
// The rules of the levels as edges between points, for known orders and for open ones.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "check/points/layout.h"
#include "check/points/row_order.h"

namespace isoscope {

enum class PointReason : std::uint8_t {
  Own,      // a snapshot before the commit of its transaction
  Later,    // a snapshot before that of a later statement
  Session,  // of session order
  Shown,    // `read` shows the writer
  Missed,   // `read` misses the writer, who wrote later
  Order,    // two writers of `key`, or of its row
  Locked,   // two that lock the row of `key`
  Waited,   // … so that the later one's next snapshot has the earlier one
  Updated,  // the later writer of `key` or its row has the earlier one in its snapshot
  Seen,     // `read` shows the writer, so the snapshots of later statements have it
};

struct PointEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  EventId read = EventId::none();
  KeyId key = KeyId::none();
  PointReason reason = PointReason::Own;
};

// Two transactions whose order is open: what follows if the first one is first, and if not.
struct OpenPair {
  TxnId a;
  TxnId b;
  std::vector<PointEdge> if_before;
  std::vector<PointEdge> if_after;
  std::vector<PointEdge> dependencies_if_before;
  std::vector<PointEdge> dependencies_if_after;
};

class Constraints {
 public:
  // Stops early, with is_complete() false, when there are more than `max_pairs` open pairs or the
  // budget expires.
  Constraints(const PointLayout& layout, const RowOrder& rows, std::size_t max_pairs,
              Budget& budget);

  bool is_complete() const { return complete_; }
  const std::vector<PointEdge>& edges() const { return edges_; }
  // Dependencies (so, wr, ww, rw) of the transactions whose level is serial: no cycle either.
  const std::vector<PointEdge>& dependencies() const { return dependencies_; }
  const std::vector<OpenPair>& open() const { return open_; }

 private:
  // Where the edges of an order go: to those that hold, or to one side of an open pair.
  struct Sink {
    std::vector<PointEdge>* edges;
    std::vector<PointEdge>* dependencies;
  };

  void add_txn(TxnId t);
  void add_reads();
  void add_seen(KeyId x, EventId r);
  void add_key(KeyId x);
  void add_known_versions(KeyId x, const std::vector<TxnId>& order);
  void add_open_versions(KeyId x);
  void add_row(std::size_t row);
  void add_numbered(std::size_t row);
  using ClaimGroups = std::vector<std::vector<const RowClaim*>>;
  void add_row_sequence(std::size_t row, const ClaimGroups& groups);
  void add_open_claims(std::size_t row, const RowClaim& a, const RowClaim& b);

  void order_writers(KeyId x, TxnId a, TxnId b, std::span<const EventId> reads_of_a, Sink sink);
  void order_claims(KeyId key, const RowClaim& a, const RowClaim& b, Sink sink) const;
  bool matters(const RowClaim& a, const RowClaim& b) const;
  // Calls add(snapshot) for the snapshots of t of which something holds if it holds of those of
  // statements after `statement`.
  template <class Add>
  void for_snapshots_after(TxnId t, std::uint32_t statement, Add&& add) const;
  // Calls add(snapshot) for that of the plain reads of t, if the first of them comes later.
  template <class Add>
  void for_first_plain_after(TxnId t, std::uint32_t statement, Add&& add) const;
  template <class Add>
  void for_all_snapshots(TxnId t, Add&& add) const;
  Sink known() { return {&edges_, &dependencies_}; }
  Sink side(TxnId a, TxnId b);
  bool is_serial(TxnId t) const {
    return layout_.rules(t).serial && h_.is_committed(t) && t != kInitialTxn;
  }
  bool stop() {
    return !(complete_ = complete_ && open_.size() <= max_pairs_ && !budget_.expired());
  }

  const PointLayout& layout_;
  const RowOrder& rows_;
  const History& h_;
  std::size_t max_pairs_;
  Budget& budget_;
  bool complete_ = true;
  std::vector<PointEdge> edges_;
  std::vector<PointEdge> dependencies_;
  std::vector<OpenPair> open_;
  std::map<std::pair<TxnId, TxnId>, std::size_t> pair_;
  std::vector<std::uint32_t> position_;  // by transaction, of the key at hand
};

}  // namespace isoscope
