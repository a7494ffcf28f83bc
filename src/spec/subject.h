#pragma once
// Whose view does an axiom constrain? Only axioms that have an answer can be assigned to single
// transactions.
//
//   over co        forall … . … and wr[x](t1, t3) and …  implies  co(t2, t1)      the reader t3,
//                  or the transaction of the read r where it is wr[x](t1, r)
//   over vis, ar   forall … . …  implies  vis(s, t)                               t, which sees s
//   over co, snap  forall … . …  implies  snap(s, r)             the transaction of the read r
//
// A conflict axiom fits the second shape when it says which writer comes later:
// `writes(t1, x) and writes(t2, x) and ar(t1, t2) implies vis(t1, t2)`.
#include <optional>

#include "history/execution.h"
#include "spec/ast.h"

namespace isoscope {

// The variable for the transaction (or its read), or nothing if the formula has neither shape.
std::optional<Variable> find_subject(const Formula& formula, Framework framework);

}  // namespace isoscope
