#include "synth/grounder.h"

#include <algorithm>

#include "spec/rule.h"
#include "support/assert.h"
#include "synth/shape.h"

namespace isoscope::synthesis {

Grounder::Grounder(const Facts& facts) : facts_(facts), c_(facts.circuit()) {}

void Grounder::set_witness(Matrix order, std::optional<Matrix> vis, std::optional<Matrix> snap) {
  order_ = std::move(order);
  vis_ = vis ? *std::move(vis) : Matrix(facts_.carrier());
  has_own_reads_ = snap.has_value();
  snap_ = snap ? *std::move(snap) : Matrix(facts_.carrier());
  witness_relations_.clear();
}

void Grounder::define_vis(int a, int b, Signal s) {
  vis_(a, b) = s;
  pending_[static_cast<std::size_t>(a) * static_cast<std::size_t>(facts_.txns()) +
           static_cast<std::size_t>(b)] = 0;
}

Signal Grounder::truth(const Formula& formula, int slots) {
  Env env(static_cast<std::size_t>(slots), 0);
  return eval(formula, env);
}

Signal Grounder::eval(const Formula& f, Env& env) {
  const auto at = [&](const std::optional<Variable>& v) {
    return env[static_cast<std::size_t>(v->slot)];
  };
  switch (f.op) {
    case FormulaOp::Forall: {
      const Rule rule = rule_of(f);
      std::vector<Conjunct> parts;
      for (const Formula* premise : rule.premises) parts.push_back({premise, false});
      if (rule.conclusion != nullptr) parts.push_back({rule.conclusion, true});
      return !exists(rule.variables, parts, env);
    }
    case FormulaOp::Exists: {
      std::vector<Conjunct> parts;
      for (const Formula* part : conjuncts(*f.left)) parts.push_back({part, false});
      return exists(f.variables, parts, env);
    }
    case FormulaOp::Not:
      return !eval(*f.left, env);
    case FormulaOp::And: {
      const Signal left = eval(*f.left, env);
      return left.is_false() ? kFalse : c_.conj({left, eval(*f.right, env)});
    }
    case FormulaOp::Or: {
      const Signal left = eval(*f.left, env);
      return left.is_true() ? kTrue : c_.disj({left, eval(*f.right, env)});
    }
    case FormulaOp::Implies: {
      const Signal left = eval(*f.left, env);
      return left.is_false() ? kTrue : c_.implies(left, eval(*f.right, env));
    }
    case FormulaOp::Iff: {
      const Signal left = eval(*f.left, env);
      return c_.iff(left, eval(*f.right, env));
    }
    case FormulaOp::Equal:
      return Signal::constant(at(f.a) == at(f.b));
    case FormulaOp::Writes:
      return facts_.writes(at(f.a), at(f.b));
    case FormulaOp::Reads:
      return facts_.reads(at(f.a), at(f.b));
    case FormulaOp::Member:
      return member(*f.relation, at(f.a), at(f.b), env);
    case FormulaOp::Locks:
      return facts_.locks(at(f.a), at(f.b));
    case FormulaOp::WritesRow:  // each key is a row of its own
      return facts_.writes(at(f.a), at(f.b));
    case FormulaOp::Current:
      return facts_.is_current(at(f.a));
    case FormulaOp::Subset:
    case FormulaOp::Acyclic:
    case FormulaOp::Irreflexive:
    case FormulaOp::Transitive:
    case FormulaOp::Total:
    case FormulaOp::Empty:
      return statement(f, env);
  }
  return kFalse;
}

Signal Grounder::exists(const std::vector<Variable>& variables,
                        const std::vector<Conjunct>& conjuncts, Env& env) {
  if (pending_.empty()) return project(variables, conjuncts, {}, env).front();
  std::vector<Signal> ways;
  add_instances(variables, 0, conjuncts, env, ways);
  return c_.disj(ways);
}

// Instance by instance: a cell of vis that is not known yet does no harm where another conjunct is
// false.
void Grounder::add_instances(const std::vector<Variable>& variables, std::size_t bound,
                             const std::vector<Conjunct>& conjuncts, Env& env,
                             std::vector<Signal>& ways) {
  if (bound < variables.size()) {
    const Variable& v = variables[bound];
    const auto [first, count] = domain(v.sort);
    for (int element = first; element < first + count; ++element) {
      bind(env, v, element);
      add_instances(variables, bound + 1, conjuncts, env, ways);
    }
    return;
  }
  const bool asked_before = asked_too_early_;
  std::vector<Signal> product;
  for (const Variable& v : variables)
    product.push_back(is_element(v.sort, env[static_cast<std::size_t>(v.slot)]));
  for (const Conjunct& conjunct : conjuncts) {
    const Signal s = eval(*conjunct.formula, env);
    product.push_back(conjunct.negated ? !s : s);
    if (product.back().is_false()) {
      asked_too_early_ = asked_before;
      return;
    }
  }
  ways.push_back(c_.conj(product));
}

Matrix Grounder::pairs(const std::vector<Variable>& variables,
                       const std::vector<FormulaPtr>& premises, const Variable& from,
                       const Variable& to) {
  int slots = 0;
  std::vector<int> keep;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    slots = std::max(slots, variables[i].slot + 1);
    if (variables[i].slot == from.slot || variables[i].slot == to.slot)
      keep.push_back(static_cast<int>(i));
  }
  std::vector<Conjunct> parts;
  for (const FormulaPtr& premise : premises) parts.push_back({premise.get(), false});
  Env env(static_cast<std::size_t>(slots), 0);
  const std::vector<Signal> table = project(variables, parts, keep, env);
  Matrix result(facts_.carrier());
  if (keep.size() == 1) {  // from and to are the same variable
    const auto [first, count] = domain(from.sort);
    for (int a = 0; a < count; ++a)
      result(first + a, first + a) = table[static_cast<std::size_t>(a)];
    return result;
  }
  const bool from_first = variables[static_cast<std::size_t>(keep[0])].slot == from.slot;
  const auto [first_a, count_a] = domain(from_first ? from.sort : to.sort);
  const auto [first_b, count_b] = domain(from_first ? to.sort : from.sort);
  for (int a = 0; a < count_a; ++a) {
    for (int b = 0; b < count_b; ++b) {
      const Signal s = table[static_cast<std::size_t>(a * count_b + b)];
      (from_first ? result(first_a + a, first_b + b) : result(first_b + b, first_a + a)) = s;
    }
  }
  return result;
}

Signal Grounder::pair(const std::vector<Variable>& variables,
                      const std::vector<FormulaPtr>& premises, const Variable& from,
                      const Variable& to, int a, int b) {
  if (from.slot == to.slot && a != b) return kFalse;
  int slots = 0;
  std::vector<Variable> rest;
  for (const Variable& v : variables) {
    slots = std::max(slots, v.slot + 1);
    if (v.slot != from.slot && v.slot != to.slot) rest.push_back(v);
  }
  Env env(static_cast<std::size_t>(slots), 0);
  env[static_cast<std::size_t>(from.slot)] = a;
  env[static_cast<std::size_t>(to.slot)] = b;
  std::vector<Conjunct> parts;
  for (const FormulaPtr& premise : premises) parts.push_back({premise.get(), false});
  return exists(rest, parts, env);
}

Signal Grounder::is_element(Sort sort, int element) const {
  switch (sort) {
    case Sort::Txn:
      return kTrue;
    case Sort::Key:
      return facts_.is_used(element);
    case Sort::Read:
      return facts_.is_read(element, has_own_reads_);
  }
  return kFalse;
}

Signal Grounder::statement(const Formula& f, Env& env) {
  const Matrix r = value(*f.relation, env);
  std::vector<Signal> wrong;
  const int m = r.size();
  switch (f.op) {
    case FormulaOp::Subset: {
      const Matrix& other = value(*f.other, env);
      for (int a = 0; a < m; ++a) {
        for (int b = 0; b < m; ++b) wrong.push_back(c_.conj({r(a, b), !other(a, b)}));
      }
      break;
    }
    case FormulaOp::Empty:
      for (int a = 0; a < m; ++a) {
        for (int b = 0; b < m; ++b) wrong.push_back(r(a, b));
      }
      break;
    case FormulaOp::Irreflexive:
      for (int a = 0; a < m; ++a) wrong.push_back(r(a, a));
      break;
    case FormulaOp::Acyclic: {
      const Matrix closed = closure(r);
      for (int a = 0; a < m; ++a) wrong.push_back(closed(a, a));
      break;
    }
    case FormulaOp::Transitive:
      for (int a = 0; a < m; ++a) {
        for (int b = 0; b < m; ++b) {
          for (int d = 0; d < m && !r(a, b).is_false(); ++d)
            wrong.push_back(c_.conj({r(a, b), r(b, d), !r(a, d)}));
        }
      }
      break;
    case FormulaOp::Total: {
      const auto [first, count] = domain(f.relation->from);
      for (int a = first; a < first + count; ++a) {
        for (int b = a + 1; b < first + count; ++b)
          wrong.push_back(c_.conj({is_element(f.relation->from, a), is_element(f.relation->from, b),
                                   !r(a, b), !r(b, a)}));
      }
      break;
    }
    default:  // eval() has dealt with the others
      ISO_ASSERT(false);
  }
  return !c_.disj(wrong);
}

}  // namespace isoscope::synthesis
