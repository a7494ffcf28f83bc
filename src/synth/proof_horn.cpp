#include "synth/proof_horn.h"

#include "spec/rule.h"
#include "support/assert.h"

namespace isoscope {

namespace {

bool is_vis(const RelationPtr& r) { return r != nullptr && r->op == RelationOp::Vis; }

}  // namespace

bool is_horn(const Axiom& axiom) {
  const Rule rule = rule_of(*axiom.formula);
  if (rule.conclusion == nullptr) return false;
  for (const Formula* premise : rule.premises) {
    if (trend_of(*premise).may_fall) return false;
  }
  switch (rule.conclusion->op) {
    case FormulaOp::Member:
      return is_vis(rule.conclusion->relation) || rule.conclusion->relation->op == RelationOp::Snap;
    case FormulaOp::Subset:
      return is_vis(rule.conclusion->other) && !trend_of(*rule.conclusion->relation).may_fall;
    case FormulaOp::Transitive: return is_vis(rule.conclusion->relation);
    default: return false;
  }
}

SmtTerm obeys(const Axiom& axiom, ProofTranslator& translator, ProofTheory& theory,
              const Visibility& premises, const TxnRelation& conclusion) {
  const Rule rule = rule_of(*axiom.formula);
  const Formula& concluded = *rule.conclusion;
  ProofTranslator::Environment env(static_cast<std::size_t>(axiom.slots));
  std::vector<Sort> sorts;
  for (const Variable& variable : rule.variables) sorts.push_back(variable.sort);
  const auto value = [&](const Variable& variable) {
    return env[static_cast<std::size_t>(variable.slot)];
  };
  const SmtTerm forced = translator.forall(sorts, premises, [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      env[static_cast<std::size_t>(rule.variables[i].slot)] = values[i];
    SmtTerm all = theory.smt().truth(true);
    for (const Formula* premise : rule.premises)
      all = all && translator.translate(*premise, env, premises);
    switch (concluded.op) {
      case FormulaOp::Member:
        return implies(all, conclusion(value(*concluded.a), value(*concluded.b)));
      case FormulaOp::Subset:
        return implies(all, theory.forall_txns(2, [&](auto t) {
          return implies(translator.member(*concluded.relation, t[0], t[1], env, premises),
                         conclusion(t[0], t[1]));
        }));
      default:
        ISO_ASSERT(concluded.op == FormulaOp::Transitive);
        return implies(all, theory.forall_txns(3, [&](auto t) {
          return implies(premises.relation(t[0], t[1]) && premises.relation(t[1], t[2]),
                         conclusion(t[0], t[2]));
        }));
    }
  });
  return forced;
}

}  // namespace isoscope
