// The relations of the Grounder: matrices of signals, made when first asked for.
#include "support/assert.h"
#include "synth/grounder.h"
#include "synth/shape.h"

namespace isoscope::synthesis {

namespace {

void add_key_values(const RelationExpr& r, const std::vector<int>& env, std::vector<int>& out) {
  if (r.key) out.push_back(env[static_cast<std::size_t>(r.key->slot)]);
  if (r.left != nullptr) add_key_values(*r.left, env, out);
  if (r.right != nullptr) add_key_values(*r.right, env, out);
}

bool needs_witness(const RelationExpr& r) {
  for (const RelationOp op : {RelationOp::Co, RelationOp::Vis, RelationOp::Ar, RelationOp::Snap,
                              RelationOp::Ww, RelationOp::Rw}) {
    if (mentions(r, op)) return true;
  }
  return false;
}

bool has_closure(const RelationExpr& r) {
  return mentions(r, RelationOp::Plus) || mentions(r, RelationOp::Star);
}

}  // namespace

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
      if (!pending_.empty()) asked_for_all_ = true;
      return vis_;
    case RelationOp::So:
      return facts_.so();
    case RelationOp::Rt:
      return facts_.rt();
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
  bool leads_forward = true;
  for (int a = 0; a < m; ++a) {
    for (int b = 0; b <= a; ++b) leads_forward = leads_forward && r(a, b).is_false();
  }
  if (leads_forward) {
    // By growing distance, as a transitive vis is computed (encode.cpp): the closure that one
    // level names and the vis that another demands become the very same gates.
    for (int distance = 2; distance < m; ++distance) {
      for (int a = 0; a + distance < m; ++a) {
        std::vector<Signal> ways;
        for (int k = a + 1; k < a + distance; ++k)
          ways.push_back(c_.conj({r(a, k), r(k, a + distance)}));
        r(a, a + distance) = c_.disj({r(a, a + distance), c_.disj(ways)});
      }
    }
    return r;
  }
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
        return ordered ? c_.conj({is_element(Sort::Read, a), is_element(Sort::Read, b)}) : kFalse;
      });
    case RelationOp::Snap:
      return cellwise([&](int a, int b) {
        return a < n && b >= n ? c_.conj({snap_(a, b), is_element(Sort::Read, b)}) : kFalse;
      });
    case RelationOp::Of:
      return cellwise([&](int a, int b) {
        return a >= n && b == facts_.txn_of(a) ? is_element(Sort::Read, a) : kFalse;
      });
    case RelationOp::Same:
      return cellwise([&](int a, int b) {
        if (a < n || b < n) return kFalse;
        return c_.conj(
            {is_element(Sort::Read, a), is_element(Sort::Read, b), facts_.same_statement(a, b)});
      });
    case RelationOp::Waited:
      return cellwise([&](int a, int b) {
        if (a >= n || b < n) return kFalse;
        return c_.conj({is_element(Sort::Read, b), facts_.waited(a, b)});
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
      for (int t = 0; t < n; ++t) {
        if (r.set == SetName::Aborted) {
          out(t, t) = facts_.aborted(t);
          continue;
        }
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
