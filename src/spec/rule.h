#pragma once
// A formula read as a rule: for all variables, if the premises hold, so does the conclusion.
//
//     forall x: key, t1, t2, t3: txn.
//         wr[x](t1, t3) and writes(t2, x) and t1 != t2 and hb(t2, t3)  implies  co(t2, t1)
//     |      variables      |           premises                    |          | conclusion |
//
// Every formula is one, if need be without variables or premises; nothing is rewritten but
// `A implies (B implies C)` to premises A, B, and `not A` to premises A without a conclusion.
#include <vector>

#include "spec/ast.h"

namespace isoscope {

struct Rule {
  std::vector<Variable> variables;
  std::vector<const Formula*> premises;
  const Formula* conclusion = nullptr;  // null: the premises must never hold together
};

// Requires: `formula` outlives the rule.
Rule rule_of(const Formula& formula);

// The parts of `a and b and c`.
std::vector<const Formula*> conjuncts(const Formula& formula);

}  // namespace isoscope
