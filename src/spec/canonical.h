#pragma once
// A formula up to the names of its variables and the order of its parts: engines know axioms by
// what they say, not by what they or their levels are called.
//
//     forall r: read, u, t: txn. of(r, u) and so(t, u) implies snap(t, r)
//     forall a, b: txn, c: read. so(a, b) and of(c, b) implies snap(a, c)
//
// have the same canonical text. What `and`, `or`, `|`, `&` and `=` join is sorted by what it says,
// where variables are told apart by the places that they have in the formula (colour refinement, as
// for isomorphism of graphs); what that does not tell apart stays as written. Then variables are
// numbered as they occur, so the order in which a quantifier lists them does not matter either.
// `let` is gone from the tree as it is. Formulas with the same text are equivalent; not every
// equivalent formula has the same text.
#include <string>

#include "spec/ast.h"

namespace isoscope {

std::string canonical_text(const Formula& formula);

}  // namespace isoscope
