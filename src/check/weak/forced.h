#pragma once
// Which edges each level forces, as few as decide the question.
//
// Each function adds edges t2 -> t1 for the readers t3 of its level, such that together with so
// and wr they have the same transitive closure as all the edges that the axiom forces. (Where a
// reader sees a key from three writers or more, a cycle between two of them is enough.)
//
//   rc  Reads of one key, in po, force their writers into that order, so what t2 forces from its
//       first read on, it forces by the next read of each key that it wrote.
//   ra  Of the session, only the last earlier writer of x counts, the others precede it in so.
//       Of the writers that t3 reads from, all that write x count.
//       A list shows the writers of all its elements, not only that of the last: at rc and ra
//       they force what they wrote as if they had been read from, and have been at the latest
//       from the first list on that shows them.
//   cc  Of every session, only the last writer of x that t3 sees counts. And all readers of one
//       version of x force as much as one reader who sees what any of them sees: one step per
//       version and session, not per read and session. Writers that precede t1 anyway are left
//       out.
//
// rc and ra intersect what t2 wrote with what t3 read, walking through the smaller of the two:
// with n events at most sqrt(n) transactions are larger than sqrt(n), hence O(n^1.5).
#include <cstdint>
#include <span>
#include <vector>

#include "check/weak/forced_edges.h"
#include "check/weak/weak.h"
#include "check/weak/write_table.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope {

// What the passes share.
struct WeakFacts {
  WeakFacts(const History& history, const WeakAssignment& assignment);

  // Is t present and of this level?
  bool reads_at(TxnId t, WeakLevel level) const { return h.is_present(t) && levels.of(t) == level; }

  const History& h;
  const WeakAssignment& levels;
  WriteTable writes;
  // By transaction: the present one before it in its session, or T0; none() for T0 and the absent.
  std::vector<TxnId> previous;
};

// All return false if the budget has expired; the edges are then of no use.
bool force_read_committed(const WeakFacts& facts, ForcedEdges& forced, Budget& budget);
bool force_read_atomic(const WeakFacts& facts, ForcedEdges& forced, Budget& budget);
// What the lists that readers at rc and ra see force besides.
bool force_by_lists(const WeakFacts& facts, ForcedEdges& forced, Budget& budget);
// `order`: all transactions, such that so and wr lead onwards.
bool force_causal(const WeakFacts& facts, std::span<const TxnId> order, ForcedEdges& forced,
                  Budget& budget);

}  // namespace isoscope
