#pragma once
// Decides levels over co, snap whose axioms are rules about points (verdict/logic.h: SnapRules).
//
//     T1   ----------------- commit 1 ----------------------------------
//     T2   --- snapshot 2.1 ---------- snapshot 2.2 ---- commit 2 ------
//
// A witness is a line with a point for the commit of each transaction and for the snapshot of each
// statement: a snapshot has the transactions whose commits come before it. Plain reads, current
// reads, sessions, locks: each says that some point comes before another, once it is known in which
// order the transactions committed that write or lock a common row. So
//
//   1. edges that hold whatever that order is, and those of the orders that are known: by the
//      numbers of recorded commits, by lists, and by chains of transactions of which each read what
//      the one before wrote;
//   2. a cycle among them is a violation, reported as one;
//   3. if no order is open, there is a witness: any line that follows the edges. Linear time;
//   4. else SAT chooses, one variable for each open pair; the cycles of a choice become clauses.
//
// Differs  from grounding (check/ground), which takes any level over co, snap: there the order of
//          all points is chosen.
// Cost     O(events + locks) where the order is known. Open pairs are quadratic in the writers of a
//          row, and the search over them is NP-complete.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/history.h"
#include "spec/level.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope {

struct PointOptions {
  std::size_t max_pairs = 2'000'000;  // of open order; some hundred bytes each
  double core_seconds = 5;            // to make a violation small that is no single cycle
  Progress progress = {};
};

// Do all levels of the assignment have rules?
bool has_points(const Assignment& levels);

// Consistent with co and snap; Violated with a shortest cycle of points, or with a core of
// transactions where every choice of the open orders fails; Unknown with the limit.
// Requires: has_points(levels); the history has no inexcusable read.
Verdict check_points(const History& h, const Assignment& levels, Budget& budget,
                     const PointOptions& options = {});

// Why no choice of the open orders does, for a core of transactions: in each way to choose, as far
// as it was chosen, a cycle.
struct ChosenOrder {
  TxnId first;
  TxnId second;
  std::vector<std::string> rows = {};  // that both write or lock, in modes that exclude each other
};
struct TriedOrder {
  std::vector<ChosenOrder> chosen;
  std::vector<Edge> cycle;
};
struct TriedOrders {
  History part;  // of the core alone: the ids below are its own
  std::vector<TriedOrder> tried;
};
// Nothing if there are more ways than can be read, or the budget expires.
// Requires: has_points(levels).
std::optional<TriedOrders> tried_orders(const History& h, const Assignment& levels,
                                        std::span<const TxnId> core, Budget& budget);

}  // namespace isoscope
