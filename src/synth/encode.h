#pragma once
// What it means, in signals, that a witness serves a level or that it does not.
#include <optional>
#include <string_view>
#include <vector>

#include "synth/decode.h"
#include "synth/grounder.h"
#include "synth/shape.h"

namespace isoscope::synthesis {

// The orders of a witness, constant or not; `vis` over vis, ar only, `snap` over co, snap.
struct SymbolicWitness {
  Matrix order;
  std::optional<Matrix> vis = {};
  std::optional<Matrix> snap = {};  // from transactions to slots, whether they hold reads or not
};

// 0 < 1 < 2 < …, or another sequence of all transactions, as constants.
Matrix order_matrix(const Facts& facts, const std::vector<int>& sequence);
std::vector<int> numbering(const Facts& facts);

// A witness to be searched for: fresh inputs, with what makes the order total, T0 first, vis ⊆
// order, and snapshots beginnings of the order. If `order` is given, only vis or snap is searched
// for. `label` is its name in the log of the circuit.
SymbolicWitness unknown_witness(Circuit& c, const Facts& facts, Framework framework,
                                std::optional<Matrix> order, std::string_view label = "an order");

// One that was found, as constants.
SymbolicWitness constant_witness(const Facts& facts, const FoundWitness& found);

// True iff the witness does not serve the level: a demand of the framework or an axiom fails.
Signal failure(Grounder& g, const Facts& facts, const Level& level, const SymbolicWitness& w);

// The same for an ar and the least vis that goes with it, so that it is true iff no vis does.
// Nothing if the axioms do not determine that vis in one pass over growing distances.
// Requires: shape.has_least_vis; `sequence` orders all transactions, T0 first.
std::optional<Signal> failure_at(Grounder& g, const Facts& facts, const LevelShape& shape,
                                 const std::vector<int>& sequence);

// Does no witness serve the level, by trying all orders of a few constant facts? Nothing if there
// are too many, or if the level has no least vis.
std::optional<bool> fails_with_all_orders(const Facts& facts, const LevelShape& shape);

// True iff no witness at all serves the level, for levels that only force edges: with fresh inputs
// that choose a cycle. To be required, not denied. Nothing for other levels.
std::optional<Signal> forced_failure(Grounder& g, const Facts& facts, const LevelShape& shape);

// Gives the witness, whose order may be unknown, snapshots: what the framework demands and the
// rules of the shape conclude, round by round. Returns whether they are at their fixpoint, and the
// snapshots the least; of constant facts and a constant order they always are.
// Requires: shape.has_least_snap.
Signal iterate_snap(Grounder& g, const Facts& facts, const LevelShape& shape, SymbolicWitness& w);

// Gives the witness, whose order may be unknown, a vis: the rules of the shape applied so often
// that transitivity has been reached. Returns whether they are at their fixpoint, and vis the
// least. Requires: shape.has_least_vis.
Signal iterate_vis(Grounder& g, const Facts& facts, const LevelShape& shape, SymbolicWitness& w);

}  // namespace isoscope::synthesis
