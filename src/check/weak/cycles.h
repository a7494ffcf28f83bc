#pragma once
// From a graph with cycles to the one that people get to see.
//
// Deciding took as few edges as possible, so its graph may lead around a corner where the axiom
// has a straight edge: t2 so t2' co t1 where t2 co t1 holds as well. Inside the components that
// have cycles, all forced edges are therefore found anew, unless they are too many, and the
// shortest cycle is taken from these (cycles.cpp). Its edges then look for their reasons
// (reasons.h).
#include <optional>
#include <vector>

#include "check/weak/before.h"
#include "check/weak/forced.h"
#include "graph/digraph.h"
#include "verdict/verdict.h"

namespace isoscope {

struct ChosenCycles {
  // All of one length, in each every transaction before the next and the last before the first.
  // A few are given, where they cost nothing: which of them is easiest to explain, reasons tell.
  std::vector<std::vector<TxnId>> cycles;
  bool are_shortest = true;
};

// The cycles to show one of: of so and wr alone if there are such, else shortest ones.
// Requires: `before` is not acyclic.
ChosenCycles choose_cycles(const WeakFacts& facts, const Before& before, Budget& budget);

// The edges that make those of forced.h complete: every edge that the axioms of rc, ra and cc force
// between two of the `chosen` transactions is in the one or in the other. Nothing if they take too
// long to find. Requires: so and wr have no cycle, and lead onwards in `order`; T0 is not chosen.
std::optional<std::vector<Digraph::Arc>> all_forced_among(const WeakFacts& facts,
                                                          const std::vector<bool>& chosen,
                                                          std::span<const TxnId> order,
                                                          Budget& budget);

}  // namespace isoscope
