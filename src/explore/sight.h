#pragma once
// Who sees whom at psi and ua: of two writers of a key, one sees the other.
//
// What a transaction sees contains so and wr, and is part of the order of arbitration, which has no
// cycle; at psi it is transitive. A read of x from w by t, who sees another writer w' of x, shows
// that w' comes before w in arbitration, so w sees w'. The rows are closed under this rule; where
// writers of a key are still unordered, both ways are tried. A part of a history that is closed
// under so and wr has what the whole has, so nothing that breaks the rule can be repaired later.
//
// Paper    [CeroneBernardiGotsman-CONCUR'15], PSI: TransVis and NoConflict; UA: NoConflict.
#include <functional>
#include <span>
#include <vector>

#include "explore/engine.h"
#include "store/forced_order.h"
#include "support/budget.h"

namespace isoscope::explore {

// By call: who comes before it, closed under transitivity; and whom it sees, which at psi is the
// same and left empty.
template <class Set>
struct SightRows {
  ById<CallId, Set> order;
  ById<CallId, Set> seen;

  const ById<CallId, Set>& sight() const { return seen.empty() ? order : seen; }
  // `to` sees each of `from`. False if that is a cycle.
  bool see(const Set& from, CallId to) {
    if (!seen.empty()) seen[to] |= from;
    return ForcedOrder<Set>(order).add(from, to);
  }
  // Whose sight may have grown when that of `to` did.
  Set seen_by_after(CallId to) const {
    Set all = Set::of(to);
    if (!seen.empty()) return all;
    for (const CallId t : order.ids()) {
      if (order[t].contains(to)) all.insert(t);
    }
    return all;
  }
};

// `writers(x)` is the set of those who commit a write of x in the history; blocks know their
// rivals.
template <class Set, class Writers>
class Sight {
 public:
  Sight(const Trail<Set>& trail, std::span<const Entry> history, const Writers& writers,
        Budget& budget)
      : trail_(trail), history_(history), writers_(writers), budget_(budget) {}

  // Closes the rows under what reads show; at psi only `changed` rows differ from closed ones.
  // False if there is a cycle.
  bool close(SightRows<Set>& rows, Set changed = Set::first(Set::kCapacity)) const {
    while (!changed.empty()) {
      const Set now = changed;
      changed = {};
      for (const Entry& entry : history_) {
        const Block<Set>& block = trail_.blocks[entry.block];
        if (!now.contains(block.call)) continue;
        for (const ReadEvent<Set>& read : trail_.reads_of(block)) {
          Set seen = writers_(read.key) & rows.sight()[block.call];
          if (seen.empty()) continue;
          if (read.writer == kInitialWriter) return false;
          seen.erase(read.writer);
          if (seen.is_subset_of(rows.sight()[read.writer])) continue;
          if (!rows.see(seen, read.writer)) return false;
          changed |= rows.seen_by_after(read.writer);
        }
      }
    }
    return true;
  }

  // Can writers of the same key be ordered, all of them? No if the budget expires: whoever gets a
  // no asks it. Requires: the rows are closed.
  bool can_order_writers(SightRows<Set> rows) const {
    if (budget_.expired()) return false;
    for (const Entry& entry : history_) {
      const Block<Set>& block = trail_.blocks[entry.block];
      Set others = block.rivals - rows.sight()[block.call];
      while (!others.empty()) {
        const CallId other = others.front();
        others.erase(other);
        if (rows.sight()[other].contains(block.call)) continue;
        SightRows<Set> first = rows;
        if (first.see(Set::of(other), block.call) &&
            close(first, first.seen_by_after(block.call)) && can_order_writers(std::move(first)))
          return true;
        return rows.see(Set::of(block.call), other) && close(rows, rows.seen_by_after(other)) &&
               can_order_writers(std::move(rows));
      }
    }
    return true;
  }

 private:
  const Trail<Set>& trail_;
  std::span<const Entry> history_;
  const Writers& writers_;
  Budget& budget_;
};

}  // namespace isoscope::explore
