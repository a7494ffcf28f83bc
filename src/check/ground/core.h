#pragma once
// Makes a violation small: which transactions, and which axioms, already suffice for it?
//
// Transactions are left out in halves, quarters, and so on down to single ones, as long as the part
// of the history that remains (history/restrict.h) is violated by itself. So the core is a history
// without a witness in its own right, whatever was learnt on the way.
//
// A violated part explains the whole only if leaving transactions out creates no violation, that
// is, if every axiom is monotone (normal_form.h). Where an axiom asks for the existence of
// something, a part must pass a second test: the whole history has no witness either if only the
// instances about this part are required, while inner quantifiers still range over everything.
//
// Paper  [Zeller-TSE'02]: delta debugging, here without its complements of small parts.
// Cost   O(k log n) decisions of growing smallness, k transactions in the core, n in the history.
#include <string>
#include <vector>

#include "check/ground/ground.h"

namespace isoscope {

struct Core {
  std::vector<TxnId> txns;  // without T0, unless T0 alone is violated
  std::string axiom;        // empty if none is needed
};

// Requires: `h` violates the levels, and `axiom` is one to blame. When the budget expires, the core
// is as small as it got.
Core find_core(const History& h, const Assignment& levels, std::string axiom, Budget& budget,
               const GroundOptions& options);

}  // namespace isoscope
