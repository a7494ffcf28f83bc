#pragma once
// A proof that one level implies another, as a script that any SMT solver can check.
//
//     ; every history that satisfies si@co satisfies pc@co
//     (declare-sort Txn!0 0) …
//     (assert …)                    what is true of every history with a witness of si@co
//     ; step 1 of 3: so is in co
//     (push 1) (assert (not …)) (check-sat) (pop 1)
//
// The script is SMT-LIB 2.6 in the logic UF. It proves the implication if every check-sat is
// answered "unsat": each asserts the opposite of what its step claims. A lemma that was shown is
// asserted for the steps behind it, and only such lemmas are in the script as a later step rests
// on. What a reader has to believe are the assertions at the top; the argument for each stands in
// synth/proof_theory.h, and the comment before it says what it is.
//
// Cost  As much as the proof (synth/proof.h), and once more to find out which lemmas it needs.
#include <string>

#include "spec/level.h"
#include "support/budget.h"
#include "support/result.h"
#include "synth/statement_shape.h"

namespace isoscope {

// Empty if there is no proof: if it is refuted, or beyond the constructions of synth/proof.h, or if
// the budget ends first.
std::string certify_implies(const Level& a, const Level& b, Budget& budget,
                            StatementShape statements = StatementShape::Any);

}  // namespace isoscope
