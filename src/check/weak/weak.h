#pragma once
// Decides rc, ra, cc and any mixture of them, for millions of transactions.
//
// so, wr and known version orders are facts: every commit order contains them. Beyond that, a
// read forces an order between two writers. When t3 reads x from t1 although t3's level lets it
// see t2, another writer of x, then t2 must commit before t1:
//
//     t2 --sees--> t3 <--wr[x]-- t1        forces        t2 --co--> t1
//
//     level of t3    t3 sees t2 if
//     rc             it read something from t2 before that read of x
//     ra             (t2, t3) in so | wr
//     cc             (t2, t3) in (so | wr)+
//     true           never
//
// What t3 sees depends on facts alone, so nothing forced forces more: the history is consistent
// iff facts and forced edges have no cycle. A stale read of an initial value needs no special
// case: it forces t2 before T0, which precedes t2 in so.
//
// Not all forced edges are needed, only enough that the others follow by transitivity; how few
// is what the files of this folder are about (forced.h). Reasons are not kept: the edges of the
// one cycle that is shown find theirs again (cycles.h, reasons.h).
//
// Papers  [BiswasEnea-OOPSLA'19] for the axioms and saturation; [AWDIT-PLDI'25]
//         for the minimal edges of rc and ra, and vector clocks of sessions for cc.
// Names   so, wr, co, t1, t2, t3, x as in the axioms; `view` is what a transaction sees.
// Differs T0 precedes everything in so; levels mix; clocks are kept only while they are needed.
// Cost    n events, k sessions: rc and ra O(n^1.5) time in the worst case and linear in practice;
//         cc O(n k). Memory O(n), and 8 bytes a forced edge: about one edge for three events.
#include <cstdint>
#include <vector>

#include "history/history.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class WeakLevel : std::uint8_t { True, Rc, Ra, Cc };

struct WeakAssignment {
  WeakLevel base = WeakLevel::True;
  std::vector<WeakLevel> own = {};  // by transaction; empty if all have the base level

  WeakLevel of(TxnId t) const { return own.empty() ? base : own[t.index]; }
  bool uses(WeakLevel level) const;
};

// Consistent with a commit order that follows the file where it may. Or Violated with a cycle of
// so, wr, ww (known version order) and co (forced) edges, each with its reason, and with neither
// axiom nor anomaly, which the caller knows to name. A cycle of so and wr alone is preferred;
// otherwise no cycle has fewer edges, unless the search for a shorter one would take too long,
// which the statistic `shortest` tells (0 or 1).
//
// Inexcusable reads are the caller's business: h.faults() are not looked at.
Verdict check_weak(const History& h, const WeakAssignment& levels, Budget& budget);

}  // namespace isoscope
