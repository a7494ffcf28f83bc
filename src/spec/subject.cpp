#include "spec/subject.h"

#include "spec/rule.h"

namespace isoscope {

namespace {

bool is_membership_of(const Formula* f, RelationOp op) {
  return f != nullptr && f->op == FormulaOp::Member && f->relation->op == op;
}

}  // namespace

std::optional<Variable> find_subject(const Formula& formula, Framework framework) {
  const Rule rule = rule_of(formula);
  if (framework == Framework::VisAr) {
    if (!is_membership_of(rule.conclusion, RelationOp::Vis)) return std::nullopt;
    return rule.conclusion->b;
  }
  if (framework == Framework::CoSnap) {
    if (!is_membership_of(rule.conclusion, RelationOp::Snap)) return std::nullopt;
    return rule.conclusion->b;
  }
  if (!is_membership_of(rule.conclusion, RelationOp::Co)) return std::nullopt;
  const int writer = rule.conclusion->b->slot;
  std::optional<Variable> reader;
  for (const Formula* premise : rule.premises) {
    if (!is_membership_of(premise, RelationOp::Wr) || !premise->relation->key) continue;
    if (premise->a->slot != writer) continue;
    // Two different readers of t1 leave open whose reads the axiom is about.
    if (reader && reader->slot != premise->b->slot) return std::nullopt;
    reader = premise->b;
  }
  return reader;
}

}  // namespace isoscope
