#include "spec/subject.h"

namespace isoscope {

namespace {

// An axiom taken apart: foralls, premises, conclusion.
struct Rule {
  std::vector<const Formula*> premises;
  const Formula* conclusion = nullptr;
};

void add_conjuncts(const Formula& f, std::vector<const Formula*>& out) {
  if (f.op == FormulaOp::And) {
    add_conjuncts(*f.left, out);
    add_conjuncts(*f.right, out);
  } else {
    out.push_back(&f);
  }
}

Rule rule_of(const Formula& formula) {
  Rule rule;
  const Formula* f = &formula;
  while (true) {
    if (f->op == FormulaOp::Forall) {
      f = f->left.get();
    } else if (f->op == FormulaOp::Implies) {
      add_conjuncts(*f->left, rule.premises);
      f = f->right.get();
    } else {
      rule.conclusion = f;
      return rule;
    }
  }
}

bool is_membership_of(const Formula& f, RelationOp op) {
  return f.op == FormulaOp::Member && f.relation->op == op;
}

}  // namespace

std::optional<Variable> find_subject(const Formula& formula, Framework framework) {
  const Rule rule = rule_of(formula);
  if (framework == Framework::VisAr) {
    if (!is_membership_of(*rule.conclusion, RelationOp::Vis)) return std::nullopt;
    return rule.conclusion->b;
  }
  if (!is_membership_of(*rule.conclusion, RelationOp::Co)) return std::nullopt;
  const int writer = rule.conclusion->b->slot;
  std::optional<Variable> reader;
  for (const Formula* premise : rule.premises) {
    if (!is_membership_of(*premise, RelationOp::Wr) || !premise->relation->key) continue;
    if (premise->a->slot != writer) continue;
    // Two different readers of t1 leave open whose reads the axiom is about.
    if (reader && reader->slot != premise->b->slot) return std::nullopt;
    reader = premise->b;
  }
  return reader;
}

}  // namespace isoscope
