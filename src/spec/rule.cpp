#include "spec/rule.h"

namespace isoscope {

namespace {

void add_conjuncts(const Formula& f, std::vector<const Formula*>& out) {
  if (f.op == FormulaOp::And) {
    add_conjuncts(*f.left, out);
    add_conjuncts(*f.right, out);
  } else {
    out.push_back(&f);
  }
}

}  // namespace

std::vector<const Formula*> conjuncts(const Formula& formula) {
  std::vector<const Formula*> parts;
  add_conjuncts(formula, parts);
  return parts;
}

Rule rule_of(const Formula& formula) {
  Rule rule;
  for (const Formula* f = &formula;;) {
    switch (f->op) {
      case FormulaOp::Forall:
        rule.variables.insert(rule.variables.end(), f->variables.begin(), f->variables.end());
        f = f->left.get();
        break;
      case FormulaOp::Implies:
        add_conjuncts(*f->left, rule.premises);
        f = f->right.get();
        break;
      case FormulaOp::Not: add_conjuncts(*f->left, rule.premises); return rule;
      default: rule.conclusion = f; return rule;
    }
  }
}

}  // namespace isoscope
