#pragma once
// The paper's sufficient condition for "no serial order": a cycle of pco.
//
//   pco = (so ∪ wr ∪ ww ∪ rw)+, least such that
//   ww(t1, t2)  if both write x, some t3 reads x from t2, and pco(t1, t3)
//   rw(t1, t2)  if t1 reads x from some w, t2 writes x, and pco(w, t2)
//
// Every serial order contains pco, so a cycle refutes them all. The reverse does not hold: "four
// corners" (tests) has no serial order and an acyclic pco.
//
// Paper  [GengBlanasBondWang-PLDI'24], section 4.2.2, there with ranks instead of a fixed point.
#include "graph/relation.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope::predict {

// pco, closed; or as much of it as closes a cycle, or as is known once the budget has expired.
Relation pco_of(const History& h, Budget& budget);

// No once the budget has expired.
bool is_pco_cyclic(const History& h, Budget budget = {});

}  // namespace isoscope::predict
