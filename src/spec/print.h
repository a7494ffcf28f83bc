#pragma once
// Formulas and relations as text that parses back to the same tree.
//
// Names bound by `let` are gone from the tree, so what is printed is the axiom in full. Axioms as
// their author wrote them are in Axiom::text.
#include <string>

#include "spec/level.h"

namespace isoscope {

std::string print(const Formula& formula);
std::string print(const RelationExpr& relation);
// `axiom NAME: formula`
std::string print(const Axiom& axiom);
// A whole level that needs no other: inherited axioms are written out, lets are expanded.
std::string print(const Level& level);

// txn, key, read
std::string_view name_of(Sort sort);

}  // namespace isoscope
