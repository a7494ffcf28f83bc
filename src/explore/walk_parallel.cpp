// The part of a walk that keeps psi: parallel snapshot isolation for all transactions.
//
// What a transaction sees is transitive and contains so and wr, and of two writers of a key one
// sees the other. A read of x from w by t, who sees another writer w' of x, shows that w' comes
// before w in arbitration, so w sees w'. Here rows of the forced order are what is seen: they are
// closed under this rule whenever a transaction ends, and where writers of a key are still
// unordered, both ways are tried. A part of a history that is closed under so and wr has what the
// whole has, so nothing that breaks the rule can be repaired later.
//
// Paper    [CeroneBernardiGotsman-CONCUR'15], PSI: TransVis and NoConflict.
#include "explore/walk.h"
#include "store/forced_order.h"
#include "store/txn_set.h"

namespace isoscope::explore {

// Closes the rows under what reads show. False if somebody would see itself.
template <class Set>
bool Walk<Set>::add_seen(std::span<Set> rows) const {
  ForcedOrder<Set> order(rows);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::uint32_t i = 0; i < history_size(); ++i) {
      const Block<Set>& block = block_at(i);
      for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
        if (read.is_fixed) continue;
        Set seen = writers_[read.key.index] & rows[block.call];
        if (seen.empty()) continue;
        if (read.writer == kInitialWriter) return false;
        seen.erase(read.writer);
        if (seen.is_subset_of(rows[read.writer])) continue;
        if (!order.add(seen, read.writer)) return false;
        has_changed = true;
      }
    }
  }
  return true;
}

// Can writers of the same key be ordered, all of them? The rows are closed; they are not kept.
template <class Set>
bool Walk<Set>::order_writers(std::span<Set> rows) {
  if (budget_.expired()) return false;
  for (std::uint32_t i = 0; i < history_size(); ++i) {
    const Block<Set>& block = block_at(i);
    if (!block.is_committed) continue;
    for (const WriteEvent& write : trail_.writes_of(block)) {
      Set others = writers_[write.key.index] - rows[block.call];
      others.erase(block.call);
      while (!others.empty()) {
        const std::uint32_t other = others.front();
        others.erase(other);
        if (rows[other].contains(block.call)) continue;
        std::vector<Set> first(rows.begin(), rows.end());
        if (ForcedOrder<Set>(first).add(Set::of(other), block.call) && add_seen(first) &&
            order_writers(first))
          return true;
        return ForcedOrder<Set>(rows).add(Set::of(block.call), other) && add_seen(rows) &&
               order_writers(rows);
      }
    }
  }
  return true;
}

// Is the history, whose last block is the one that has just ended, possible? `forced` is its own.
template <class Set>
bool Walk<Set>::is_parallel_possible(std::uint32_t forced) {
  const std::span<Set> rows = trail_.forced(forced);
  if (!add_seen(rows)) return false;
  std::vector<Set> copy(rows.begin(), rows.end());
  if (order_writers(copy)) return true;
  if (budget_.expired()) control_.stop_undecided();
  return false;
}

template bool Walk<TxnSet<1>>::is_parallel_possible(std::uint32_t forced);
template bool Walk<TxnSet<4>>::is_parallel_possible(std::uint32_t forced);

}  // namespace isoscope::explore
