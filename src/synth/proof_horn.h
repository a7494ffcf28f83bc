#pragma once
// Axioms that force visibility, and the least visibility that obeys them.
//
// An axiom is Horn in vis if it concludes a visible pair from premises in which vis occurs only
// positively, whatever else they say of so, wr and ar:
//
//     forall t1, t2, t3: txn. ar(t1, t2) and vis(t2, t3)  implies  vis(t1, t3)
//     r subset vis          (r positive in vis)
//     transitive(vis)
//
// Over co, snap an axiom is Horn if it concludes snap(t, r) in the same way.
//
// Such premises are monotone in vis, so for every order there is a least relation V that contains
// so and wr (what the framework demands) and obeys all Horn axioms of a level; and V is included in
// every other relation that does. It is the best choice for the other demands that are made of vis:
// vis ⊆ ar and the reading of last writers only get harder as vis grows.
#include <vector>

#include "spec/level.h"
#include "synth/proof_translate.h"

namespace isoscope {

// Is the axiom Horn in vis?
bool is_horn(const Axiom& axiom);

// "For all values: if the premises hold with `premises` for vis, then `conclusion` relates the
// pair." With the same relation in both places it says that the relation obeys the axiom.
// Requires: is_horn(axiom), and the axiom outlives the translator.
SmtTerm obeys(const Axiom& axiom, ProofTranslator& translator, ProofTheory& theory,
              const Visibility& premises, const TxnRelation& conclusion);

}  // namespace isoscope
