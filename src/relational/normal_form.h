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
#include <span>
#include <vector>

#include "relational/mentions.h"
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
  bool is_fact = true;  // does its truth not depend on the witness?
  int id = 0;           // unique within an axiom
};

struct NormalForm {
  std::vector<NormalNode> parts;  // whose conjunction is the axiom
  int slots = 0;                  // those of the axiom and those of spelled-out statements
};

// Does an expression in the node pass the test? As in relational/mentions.h.
template <class Test>
bool any_relation(const NormalNode& node, const Test& test) {
  if (node.relation != nullptr && any_relation(*node.relation, test)) return true;
  for (const NormalNode& child : node.children) {
    if (any_relation(child, test)) return true;
  }
  return false;
}

NormalForm normalize(const Axiom& axiom);
// A formula with free variables. Requires: slots from `slots` on are not used.
NormalNode normalize(const Formula& f, int slots);
// Some values of the variables make all premises true. Requires: as above.
NormalNode normalize_join(const std::vector<Variable>& variables,
                          std::span<const FormulaPtr> premises, int slots);
// One more than the greatest slot that the node binds.
int num_slots(const NormalNode& node);

// How a truth value moves when vis, or snap, grows: up, down, either, or not at all.
struct Trend {
  bool may_rise = false;
  bool may_fall = false;
};
Trend trend_of(const RelationExpr& r);
Trend trend_of(const Formula& f);

// Is a level of these axioms violated whenever a part of the history violates it? Yes, if no
// axiom asks for the existence of a transaction or read, be it by a quantifier or by a
// composition or closure in a conclusion. A yes is certain, a no is cautious.
bool is_monotone(const NormalForm& form);

}  // namespace isoscope
