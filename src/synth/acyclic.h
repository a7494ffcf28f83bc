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

// Does the relation contain the identity, whatever its parts are?
inline bool contains_identity(const RelationExpr& r) {
  switch (r.op) {
    case RelationOp::Star: return true;
    case RelationOp::Union: return contains_identity(*r.left) || contains_identity(*r.right);
    case RelationOp::Compose:
    case RelationOp::Intersection: return contains_identity(*r.left) && contains_identity(*r.right);
    case RelationOp::Plus:
    case RelationOp::Inverse: return contains_identity(*r.left);
    default: return false;
  }
}

// Every part r of `relation` such that r+ ⊆ relation, as in r+ ; s?, appended to `out`. If the
// relation is irreflexive, these are acyclic.
inline void add_closed_parts(const RelationExpr& relation, std::vector<const RelationExpr*>& out) {
  switch (relation.op) {
    case RelationOp::Plus: out.push_back(relation.left.get()); return;
    case RelationOp::Union:
      add_closed_parts(*relation.left, out);
      add_closed_parts(*relation.right, out);
      return;
    case RelationOp::Compose:
      if (contains_identity(*relation.right)) add_closed_parts(*relation.left, out);
      if (contains_identity(*relation.left)) add_closed_parts(*relation.right, out);
      return;
    default: return;
  }
}

// Every r such that acyclic(r), or irreflexive(s) with r+ ⊆ s, is an axiom of the level or one of
// several that an axiom joins by `and`. The level outlives them.
inline std::vector<const RelationExpr*> acyclic_relations(const Level& level) {
  std::vector<const RelationExpr*> all;
  for (const Axiom& axiom : level.axioms) {
    for (const Formula* part : conjuncts(*axiom.formula)) {
      std::vector<const RelationExpr*> candidates;
      if (part->op == FormulaOp::Acyclic) candidates.push_back(part->relation.get());
      if (part->op == FormulaOp::Irreflexive) add_closed_parts(*part->relation, candidates);
      for (const RelationExpr* r : candidates) {
        if (r->from != Sort::Txn || mentions_key_variable(*r)) continue;
        if (std::find(all.begin(), all.end(), r) == all.end()) all.push_back(r);
      }
    }
  }
  return all;
}

}  // namespace isoscope
