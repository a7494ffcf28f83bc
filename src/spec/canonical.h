#pragma once
// A formula up to the names of its variables: engines know axioms by what they say, not by what
// they or their levels are called.
//
//     forall r: read, u, t: txn. of(r, u) and so(t, u) implies snap(t, r)
//     forall a, b: txn, c: read. of(c, b) and so(a, b) implies snap(a, c)
//
// have the same canonical text. Variables are numbered as they occur in the body, so the order in
// which a quantifier lists them does not matter either; `let` is gone from the tree as it is.
#include <string>

#include "spec/ast.h"

namespace isoscope {

std::string canonical_text(const Formula& formula);

}  // namespace isoscope
