#pragma once
// What formulas and relation expressions mention, wherever in them.
#include "spec/ast.h"
#include "spec/level.h"

namespace isoscope {

// Does a part of the expression, or of an expression in the formula, pass the test?
template <class Test>
bool any_relation(const RelationExpr& r, const Test& test) {
  return test(r) || (r.left != nullptr && any_relation(*r.left, test)) ||
         (r.right != nullptr && any_relation(*r.right, test));
}

template <class Test>
bool any_relation(const Formula& f, const Test& test) {
  return (f.relation != nullptr && any_relation(*f.relation, test)) ||
         (f.other != nullptr && any_relation(*f.other, test)) ||
         (f.left != nullptr && any_relation(*f.left, test)) ||
         (f.right != nullptr && any_relation(*f.right, test));
}

// Does a part of the formula, itself included, pass the test?
template <class Test>
bool any_formula(const Formula& f, const Test& test) {
  return test(f) || (f.left != nullptr && any_formula(*f.left, test)) ||
         (f.right != nullptr && any_formula(*f.right, test));
}

template <class Part>
bool mentions(const Part& part, RelationOp op) {
  return any_relation(part, [op](const RelationExpr& r) { return r.op == op; });
}

// Names that mean co or ar, or what it orders.
constexpr bool is_by_order(RelationOp op) {
  return op == RelationOp::Co || op == RelationOp::Ar || op == RelationOp::Ww ||
         op == RelationOp::Rw;
}
// Names that mean something else with each witness.
constexpr bool is_by_witness(RelationOp op) {
  return is_by_order(op) || op == RelationOp::Vis || op == RelationOp::Snap;
}

template <class Part>
bool mentions_order(const Part& part) {
  return any_relation(part, [](const RelationExpr& r) { return is_by_order(r.op); });
}
template <class Part>
bool depends_on_witness(const Part& part) {
  return any_relation(part, [](const RelationExpr& r) { return is_by_witness(r.op); });
}

inline bool mentions_key_variable(const RelationExpr& r) {
  return any_relation(r, [](const RelationExpr& part) { return part.key.has_value(); });
}

inline bool mentions_reads(const RelationExpr& r) {
  return any_relation(
      r, [](const RelationExpr& part) { return part.from == Sort::Read || part.to == Sort::Read; });
}

inline bool mentions_reads(const Formula& f) {
  return any_formula(f, [](const Formula& part) {
    for (const Variable& v : part.variables) {
      if (v.sort == Sort::Read) return true;
    }
    return (part.relation != nullptr && mentions_reads(*part.relation)) ||
           (part.other != nullptr && mentions_reads(*part.other));
  });
}

inline bool mentions_reads(const Level& level) {
  for (const Axiom& axiom : level.axioms) {
    if (mentions_reads(*axiom.formula)) return true;
  }
  return false;
}

}  // namespace isoscope
