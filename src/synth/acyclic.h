#pragma once
// The relations that a level wants acyclic, as dependency graphs do.
//
// The transactions of a history are finitely many, so that an acyclic relation R has a linear
// extension: a strict total order L with R ⊆ L. Where a level demands acyclic(R), its histories
// have the witness that some order gives, and L besides; L is often the better one for another
// level. Proofs (proof_search.h) and searches (search.h) try it.
#include <algorithm>
#include <vector>

#include "relational/mentions.h"
#include "spec/level.h"
#include "spec/rule.h"

namespace isoscope {

// Every r such that acyclic(r), or irreflexive(r+), is an axiom of the level or one of several that
// an axiom joins by `and`. The level outlives them.
inline std::vector<const RelationExpr*> acyclic_relations(const Level& level) {
  std::vector<const RelationExpr*> all;
  for (const Axiom& axiom : level.axioms) {
    for (const Formula* part : conjuncts(*axiom.formula)) {
      const RelationExpr* r = nullptr;
      if (part->op == FormulaOp::Acyclic) r = part->relation.get();
      if (part->op == FormulaOp::Irreflexive && part->relation->op == RelationOp::Plus)
        r = part->relation->left.get();
      if (r == nullptr || r->from != Sort::Txn || mentions_key_variable(*r)) continue;
      if (std::find(all.begin(), all.end(), r) == all.end()) all.push_back(r);
    }
  }
  return all;
}

}  // namespace isoscope
