#pragma once
// Formulas made ready for grounding: negations inside, one quantifier, statements about relations
// spelled out.
//
//     forall v. F            not exists v. not F
//     exists v. F and G      one node with v and the conjuncts F, G: a join to enumerate
//     r subset s             not exists a, b. r(a, b) and not s(a, b)
//     acyclic(r)             kept, where only its truth is ever used: the grounder then forbids
//                            cycles one at a time; elsewhere  not exists a. r+(a, a)
//
// A top-level `not exists` is a family of instances, each of which becomes a clause.
#include <vector>

#include "spec/ast.h"
#include "spec/level.h"

namespace isoscope {

struct NormalNode {
  enum class Kind : std::uint8_t {
    Atom,  // `atom` over a, b, relation
    And,
    Or,       // children
    Iff,      // two children
    Exists,   // variables; the children are conjuncts
    Acyclic,  // relation
  };
  Kind kind = Kind::And;
  bool negated = false;  // of Atom, Iff, Exists, Acyclic
  // Equal, Member, Writes, Reads, Locks, WritesRow; Current has no b.
  FormulaOp atom = FormulaOp::Equal;
  Variable a;
  Variable b;
  RelationPtr relation;
  std::vector<Variable> variables;
  std::vector<NormalNode> children;
  // Slots that are free in it, ascending; key variables of relations count.
  std::vector<int> free;
  int id = 0;  // unique within an axiom
};

struct NormalForm {
  std::vector<NormalNode> parts;  // whose conjunction is the axiom
  int slots = 0;                  // those of the axiom and those of spelled-out statements
};

NormalForm normalize(const Axiom& axiom);

// Is a level of these axioms violated whenever a part of the history violates it? Yes, if no
// axiom asks for the existence of a transaction or read, be it by a quantifier or by a
// composition or closure in a conclusion. A yes is certain, a no is cautious.
bool is_monotone(const NormalForm& form);

}  // namespace isoscope
