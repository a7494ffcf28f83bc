#include "synth/grounder.h"

#include <algorithm>

#include "spec/rule.h"
#include "support/assert.h"
#include "synth/shape.h"

namespace isoscope::synthesis {

namespace {

void add_key_values(const RelationExpr& r, const std::vector<int>& env, std::vector<int>& out) {
  if (r.key) out.push_back(env[static_cast<std::size_t>(r.key->slot)]);
  if (r.left != nullptr) add_key_values(*r.left, env, out);
  if (r.right != nullptr) add_key_values(*r.right, env, out);
}

bool needs_witness(const RelationExpr& r) {
  for (const RelationOp op :
       {RelationOp::Co, RelationOp::Vis, RelationOp::Ar, RelationOp::Ww, RelationOp::Rw}) {
    if (mentions(r, op)) return true;
  }
  return false;
}

bool has_closure(const RelationExpr& r) {
  return mentions(r, RelationOp::Plus) || mentions(r, RelationOp::Star);
}

}  // namespace

Grounder::Grounder(const Facts& facts) : facts_(facts), c_(facts.circuit()) {}

void Grounder::set_witness(Matrix order, std::optional<Matrix> vis) {
  order_ = std::move(order);
  vis_ = vis ? *std::move(vis) : Matrix(facts_.carrier());
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
    default:
      return statement(f, env);
  }
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
      env[static_cast<std::size_t>(v.slot)] = element;
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
  const int n = facts_.txns();
  Matrix result(facts_.carrier());
  if (keep.size() == 1) {  // from and to are the same variable
    for (int a = 0; a < n; ++a) result(a, a) = table[static_cast<std::size_t>(a)];
    return result;
  }
  const bool from_first = variables[static_cast<std::size_t>(keep[0])].slot == from.slot;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      const Signal s = table[static_cast<std::size_t>(a * n + b)];
      (from_first ? result(a, b) : result(b, a)) = s;
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
      return facts_.is_filled(element);
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
    default:
      ISO_ASSERT(false);
  }
  return !c_.disj(wrong);
}

// Cell by cell while vis is being computed, so that only known cells are asked for.
Signal Grounder::member(const RelationExpr& r, int a, int b, Env& env) {
  if (pending_.empty() || !mentions(r, RelationOp::Vis) || has_closure(r))
    return value(r, env)(a, b);
  const auto side = [&](const RelationPtr& part, int from, int to) {
    return member(*part, from, to, env);
  };
  switch (r.op) {
    case RelationOp::Vis:
      if (pending_[static_cast<std::size_t>(a * facts_.txns() + b)] != 0) {
        asked_too_early_ = true;
        return kTrue;  // not false, which would excuse the question
      }
      return vis_(a, b);
    case RelationOp::Union:
      return c_.disj({side(r.left, a, b), side(r.right, a, b)});
    case RelationOp::Intersection:
      return c_.conj({side(r.left, a, b), side(r.right, a, b)});
    case RelationOp::Difference:
      return c_.conj({side(r.left, a, b), !side(r.right, a, b)});
    case RelationOp::Inverse:
      return side(r.left, b, a);
    case RelationOp::Compose: {
      std::vector<Signal> ways;
      for (int m = 0; m < facts_.carrier(); ++m) {
        const Signal first =
            r.left->to == Sort::Txn && m >= facts_.txns() ? kFalse : side(r.left, a, m);
        if (!first.is_false()) ways.push_back(c_.conj({first, side(r.right, m, b)}));
      }
      return c_.disj(ways);
    }
    default:
      return value(r, env)(a, b);
  }
}

const Matrix& Grounder::value(const RelationExpr& r, Env& env) {
  switch (r.op) {
    case RelationOp::Co:
    case RelationOp::Ar:
      return order_;
    case RelationOp::Vis:
      if (!pending_.empty()) asked_too_early_ = true;
      return vis_;
    case RelationOp::So:
      return facts_.so();
    case RelationOp::Wr:
      if (facts_.frame().slots > 0) break;  // the facts relate to transactions and to slots
      return r.key ? facts_.wr(env[static_cast<std::size_t>(r.key->slot)]) : facts_.wr();
    default:
      break;
  }
  RelationKey key{&r, {}};
  add_key_values(r, env, key.second);
  auto& kept = needs_witness(r) ? witness_relations_ : fact_relations_;
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  Matrix computed = compute(r, env);
  return kept.emplace(std::move(key), std::move(computed)).first->second;
}

Matrix Grounder::closure(Matrix r) {
  const int m = r.size();
  for (int k = 0; k < m; ++k) {
    for (int a = 0; a < m; ++a) {
      if (r(a, k).is_false()) continue;
      for (int b = 0; b < m; ++b) {
        if (r(k, b).is_false() || r(a, b).is_true()) continue;
        r(a, b) = c_.disj({r(a, b), c_.conj({r(a, k), r(k, b)})});
      }
    }
  }
  return r;
}

Matrix Grounder::version_order(int x, bool anti) {
  const int n = facts_.txns();
  Matrix ww(facts_.carrier());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (a != b) ww(a, b) = c_.conj({facts_.writes(a, x), facts_.writes(b, x), order_(a, b)});
    }
  }
  if (!anti) return ww;
  Matrix rw(facts_.carrier());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      std::vector<Signal> ways;
      for (int s = 0; s < n && a != b; ++s) ways.push_back(c_.conj({facts_.wr(x)(s, a), ww(s, b)}));
      rw(a, b) = c_.disj(ways);
    }
  }
  return rw;
}

Matrix Grounder::compute(const RelationExpr& r, Env& env) {
  const int m = facts_.carrier();
  const int n = facts_.txns();
  Matrix out(m);
  const auto cellwise = [&](const auto& f) {
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) out(a, b) = f(a, b);
    }
    return out;
  };
  switch (r.op) {
    case RelationOp::Wr: {
      const Matrix& wr =
          r.key ? facts_.wr(env[static_cast<std::size_t>(r.key->slot)]) : facts_.wr();
      return cellwise(
          [&](int a, int b) { return (b < n) == (r.to == Sort::Txn) ? wr(a, b) : kFalse; });
    }
    case RelationOp::Po:
      return cellwise([&](int a, int b) {
        const bool ordered = a >= n && b > a && facts_.txn_of(a) == facts_.txn_of(b);
        return ordered ? facts_.is_filled(b) : kFalse;  // filled slots are a prefix
      });
    case RelationOp::Ww:
    case RelationOp::Rw: {
      const bool anti = r.op == RelationOp::Rw;
      if (r.key) return version_order(env[static_cast<std::size_t>(r.key->slot)], anti);
      std::vector<Matrix> by_key;
      for (int x = 0; x < facts_.keys(); ++x) by_key.push_back(version_order(x, anti));
      return cellwise([&](int a, int b) {
        std::vector<Signal> any;
        for (const Matrix& of_key : by_key) any.push_back(of_key(a, b));
        return c_.disj(any);
      });
    }
    case RelationOp::IdentityOn:
      for (int t = 0; t < n && r.set != SetName::Aborted; ++t) {
        std::vector<Signal> any;
        for (int x = 0; x < facts_.keys(); ++x) {
          if (r.key && env[static_cast<std::size_t>(r.key->slot)] != x) continue;
          any.push_back(r.set == SetName::Readers
                            ? facts_.reads(t, x)
                            : c_.conj({facts_.writes(t, x), facts_.is_used(x)}));
        }
        out(t, t) = c_.disj(any);
      }
      return out;
    case RelationOp::Union: {
      const Matrix left = value(*r.left, env);
      const Matrix& right = value(*r.right, env);
      return cellwise([&](int a, int b) { return c_.disj({left(a, b), right(a, b)}); });
    }
    case RelationOp::Intersection: {
      const Matrix left = value(*r.left, env);
      const Matrix& right = value(*r.right, env);
      return cellwise([&](int a, int b) { return c_.conj({left(a, b), right(a, b)}); });
    }
    case RelationOp::Difference: {
      const Matrix left = value(*r.left, env);
      const Matrix& right = value(*r.right, env);
      return cellwise([&](int a, int b) { return c_.conj({left(a, b), !right(a, b)}); });
    }
    case RelationOp::Compose: {
      const Matrix left = value(*r.left, env);
      const Matrix& right = value(*r.right, env);
      std::vector<Signal> ways;
      return cellwise([&](int a, int b) {
        ways.clear();
        for (int k = 0; k < m; ++k) {
          const Signal first = left(a, k);
          const Signal second = right(k, b);
          if (first.is_false() || second.is_false()) continue;
          ways.push_back(first.is_true()    ? second
                         : second.is_true() ? first
                                            : c_.conj({first, second}));
        }
        return c_.disj(ways);
      });
    }
    case RelationOp::Inverse: {
      const Matrix left = value(*r.left, env);
      return cellwise([&](int a, int b) { return left(b, a); });
    }
    case RelationOp::Plus:
    case RelationOp::Star: {
      // An order is its own closure.
      const bool is_order = r.left->op == RelationOp::Co || r.left->op == RelationOp::Ar;
      out = is_order ? value(*r.left, env) : closure(value(*r.left, env));
      if (r.op == RelationOp::Plus) return out;
      const auto [first, count] = domain(r.from);
      for (int a = first; a < first + count; ++a)
        out(a, a) = c_.disj({out(a, a), is_element(r.from, a)});
      return out;
    }
    default:
      ISO_ASSERT(false);
  }
}

}  // namespace isoscope::synthesis
