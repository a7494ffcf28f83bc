#pragma once
// A history where real time is expressed by so and wr, so that whoever decides a level decides its
// strict form as well: the level with so ∪ rt in place of so, and rt ⊆ co.
//
// A session of auxiliary transactions, the clock, is put beside the others. Between ends and the
// starts that follow them stands a point p of the clock. It reads from every transaction that ended
// since the point before, and every transaction that starts before the next point reads from it:
//
//     t1 ends   t2 ends   |p1|   t3 starts   t1' starts   t3 ends   |p2|   …
//     t1 --wr--> p1 --wr--> t3         p1 --so--> p2
//
// So t1 reaches t3 over points iff it ended before t3 began. The keys that they read are fresh and
// written once, so they force nothing else. Why that is the strict form for levels whose axioms
// mention so and wr by closures or behind co*: given co ⊇ rt, each point goes right after the last
// transaction that ended before it, which is before all that start after it; what precedes the
// point in co is then what co* ; rt has. Conversely co without the points contains rt. It is not
// the strict form of levels that ask for single steps of so and wr (ra, ua).
//
// Aborted transactions write nothing: behind one stands an auxiliary transaction of its session
// that writes for it.
//
// Cost  O(n log n) for n transactions; at most n points, and four events more a transaction.
#include <cstdint>
#include <vector>

#include "history/history.h"

namespace isoscope {

class RealTimeHistory {
 public:
  explicit RealTimeHistory(const History& h);

  // Keys and sessions have the same ids as in the original; those of the clock come behind them.
  const History& history() const { return made_; }
  // What stands for it in the original; none() for what is auxiliary.
  TxnId original(TxnId made) const { return originals_[made.index]; }
  EventId original(EventId made) const;
  // Besides: what writes for an aborted transaction stands for it. none() for a point.
  TxnId stands_for(TxnId made) const {
    const TxnId own = original(made);
    return own.is_none() && !is_point(made) ? originals_[made.index - 1] : own;
  }
  // Is it a point of the clock?
  bool is_point(TxnId made) const { return made_.session(made) == clock_; }
  // An order of the original's transactions with the auxiliary ones put in, as early as can be.
  // Requires: it contains rt.
  std::vector<TxnId> with_auxiliary(const std::vector<TxnId>& order) const;

 private:
  void find_points();
  void place_points();
  void copy_transactions();
  void copy_sessions();
  void copy_keys();
  void copy_lists();

  TxnId begin(SessionId session, std::uint8_t flags, TxnId original);
  void add_event(EventKind kind, std::uint8_t flags, KeyId x, TxnId writer);
  void copy_events(TxnId t);
  void add_point(std::uint32_t point);
  KeyId point_key(std::uint32_t point) const;
  KeyId end_key(std::size_t end) const;

  const History& h_;
  History made_;
  SessionId clock_;
  std::vector<TxnId> ends_;                 // by end; only those before the last point
  std::vector<std::uint32_t> end_of_;       // by transaction: its place in ends_, or kNone
  std::vector<std::uint32_t> reads_point_;  // by transaction: the last point before it, or kNone
  std::vector<std::uint32_t> point_ends_;   // by point: how many of ends_ come before it
  std::vector<TxnId> place_;                // by point: stands before this transaction
  std::vector<TxnId> originals_;            // by transaction made
  std::vector<TxnId> made_for_;             // by transaction of the original
  std::vector<TxnId> writer_for_;           // the same, or the auxiliary one that writes for it
  std::vector<TxnId> points_;               // by point
  std::vector<std::uint32_t> first_event_;  // by transaction of the original
  static constexpr std::uint32_t kNone = 0xffffffffU;
};

}  // namespace isoscope
