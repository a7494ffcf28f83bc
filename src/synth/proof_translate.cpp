#include "synth/proof_translate.h"

#include <algorithm>

#include "support/assert.h"
#include "synth/proof_canonical.h"

namespace isoscope {

namespace {

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

void add_key_slots(const RelationExpr& r, std::vector<int>& slots) {
  if (r.key && std::find(slots.begin(), slots.end(), r.key->slot) == slots.end())
    slots.push_back(r.key->slot);
  if (r.left != nullptr) add_key_slots(*r.left, slots);
  if (r.right != nullptr) add_key_slots(*r.right, slots);
}

// A pair of a simple relation; `turned` from its end to its beginning.
struct PathStep {
  const RelationExpr* relation;
  bool turned = false;

  Sort to() const { return turned ? relation->from : relation->to; }
};
using Path = std::vector<PathStep>;

constexpr std::size_t kMaxPaths = 64;

// The paths whose pairs are those of r, turned or not. More than kMaxPaths of them are cut off,
// which is for the caller to see.
std::vector<Path> paths_of(const RelationExpr& r, bool turned) {
  switch (r.op) {
    case RelationOp::Union: {
      std::vector<Path> all = paths_of(*r.left, turned);
      for (Path& path : paths_of(*r.right, turned)) all.push_back(std::move(path));
      return all;
    }
    case RelationOp::Compose: {
      std::vector<Path> all;
      const std::vector<Path> second = paths_of(turned ? *r.left : *r.right, turned);
      for (const Path& first : paths_of(turned ? *r.right : *r.left, turned)) {
        for (const Path& rest : second) {
          if (all.size() > kMaxPaths) return all;
          all.push_back(first);
          all.back().insert(all.back().end(), rest.begin(), rest.end());
        }
      }
      return all;
    }
    case RelationOp::Inverse:
      return paths_of(*r.left, !turned);
    default:
      return {{{&r, turned}}};
  }
}

}  // namespace

SmtTerm Closure::holds(std::span<const SmtTerm> values, SmtTerm a, SmtTerm b) const {
  std::vector<SmtTerm> arguments(values.begin(), values.end());
  arguments.push_back(a);
  arguments.push_back(b);
  return symbol(arguments);
}

SmtTerm ProofTranslator::translate(const Formula& f, Environment& env, const Visibility& vis) {
  switch (f.op) {
    case FormulaOp::Forall:
    case FormulaOp::Exists:
      return quantified(f, env, vis);
    case FormulaOp::Not:
      return !translate(*f.left, env, vis);
    case FormulaOp::And: {
      const SmtTerm left = translate(*f.left, env, vis);
      return left && translate(*f.right, env, vis);
    }
    case FormulaOp::Or: {
      const SmtTerm left = translate(*f.left, env, vis);
      return left || translate(*f.right, env, vis);
    }
    case FormulaOp::Implies: {
      const SmtTerm left = translate(*f.left, env, vis);
      return implies(left, translate(*f.right, env, vis));
    }
    case FormulaOp::Iff: {
      const SmtTerm left = translate(*f.left, env, vis);
      return iff(left, translate(*f.right, env, vis));
    }
    case FormulaOp::Equal:
      return equals(env[at(f.a->slot)], env[at(f.b->slot)]);
    case FormulaOp::Member:
      return member(*f.relation, env[at(f.a->slot)], env[at(f.b->slot)], env, vis);
    case FormulaOp::Writes:
      return theory_.writes(env[at(f.a->slot)], env[at(f.b->slot)]);
    case FormulaOp::Reads:
      return theory_.reads(env[at(f.a->slot)], env[at(f.b->slot)]);
    case FormulaOp::Locks:
      return theory_.locks(env[at(f.a->slot)], env[at(f.b->slot)]);
    case FormulaOp::WritesRow:
      return theory_.writes_row(env[at(f.a->slot)], env[at(f.b->slot)]);
    case FormulaOp::Current:
      return theory_.current(env[at(f.a->slot)]);
    case FormulaOp::Subset:
    case FormulaOp::Acyclic:
    case FormulaOp::Irreflexive:
    case FormulaOp::Transitive:
    case FormulaOp::Total:
    case FormulaOp::Empty:
      return about_relation(f, env, vis);
  }
  return theory_.smt().truth(false);
}

SmtTerm ProofTranslator::quantified(const Formula& f, Environment& env, const Visibility& vis) {
  std::vector<Sort> sorts;
  for (const Variable& variable : f.variables) sorts.push_back(variable.sort);
  const auto body = [&](std::span<const SmtTerm> values) {
    for (std::size_t i = 0; i < values.size(); ++i) env[at(f.variables[i].slot)] = values[i];
    return translate(*f.left, env, vis);
  };
  return f.op == FormulaOp::Forall ? forall(sorts, vis, body) : exists(sorts, vis, body);
}

SmtTerm ProofTranslator::are_elements(std::span<const Sort> sorts, std::span<const SmtTerm> values,
                                      const Visibility& vis) const {
  SmtTerm all = theory_.smt().truth(true);
  if (vis.has_own_reads || !theory_.has_statements()) return all;
  for (std::size_t i = 0; i < sorts.size(); ++i) {
    if (sorts[i] == Sort::Read) all = all && theory_.is_external(values[i]);
  }
  return all;
}

SmtTerm ProofTranslator::forall(std::span<const Sort> sorts, const Visibility& vis,
                                const SmtSolver::Body& body) {
  if (vis.has_own_reads || !theory_.has_statements()) return theory_.forall(sorts, body);
  return theory_.forall(
      sorts, [&](auto values) { return implies(are_elements(sorts, values, vis), body(values)); });
}

SmtTerm ProofTranslator::exists(std::span<const Sort> sorts, const Visibility& vis,
                                const SmtSolver::Body& body) {
  if (vis.has_own_reads || !theory_.has_statements()) return theory_.exists(sorts, body);
  return theory_.exists(
      sorts, [&](auto values) { return are_elements(sorts, values, vis) && body(values); });
}

SmtTerm ProofTranslator::about_relation(const Formula& f, const Environment& env,
                                        const Visibility& vis) {
  const RelationExpr& r = *f.relation;
  const auto in = [&](const RelationExpr& relation, SmtTerm a, SmtTerm b) {
    return member(relation, a, b, env, vis);
  };
  const Sort pair[] = {r.from, r.to};
  const Sort triple[] = {r.from, r.from, r.from};
  const std::span<const Sort> single(pair, 1);
  switch (f.op) {
    case FormulaOp::Subset:
      return forall(pair, vis,
                    [&](auto v) { return implies(in(r, v[0], v[1]), in(*f.other, v[0], v[1])); });
    case FormulaOp::Empty:
      return forall(pair, vis, [&](auto v) { return !in(r, v[0], v[1]); });
    case FormulaOp::Irreflexive:
      return forall(single, vis, [&](auto v) { return !in(r, v[0], v[0]); });
    case FormulaOp::Acyclic:
      return forall(single, vis, [&](auto v) { return !in_closure(r, v[0], v[0], env, vis); });
    case FormulaOp::Transitive:
      return forall(triple, vis, [&](auto v) {
        return implies(in(r, v[0], v[1]) && in(r, v[1], v[2]), in(r, v[0], v[2]));
      });
    case FormulaOp::Total:
      return forall(pair, vis, [&](auto v) {
        return equals(v[0], v[1]) || in(r, v[0], v[1]) || in(r, v[1], v[0]);
      });
    default:
      ISO_ASSERT(false);
  }
}

SmtTerm ProofTranslator::member(const RelationExpr& r, SmtTerm a, SmtTerm b, const Environment& env,
                                const Visibility& vis) {
  switch (r.op) {
    case RelationOp::Union: {
      const SmtTerm left = member(*r.left, a, b, env, vis);
      return left || member(*r.right, a, b, env, vis);
    }
    case RelationOp::Intersection: {
      const SmtTerm left = member(*r.left, a, b, env, vis);
      return left && member(*r.right, a, b, env, vis);
    }
    case RelationOp::Difference: {
      const SmtTerm left = member(*r.left, a, b, env, vis);
      return left && !member(*r.right, a, b, env, vis);
    }
    case RelationOp::Compose:
      return composed(*r.left, *r.right, a, b, env, vis);
    case RelationOp::Inverse:
      return member(*r.left, b, a, env, vis);
    case RelationOp::Plus:
      return in_closure(*r.left, a, b, env, vis);
    case RelationOp::Star:
      return equals(a, b) || in_closure(*r.left, a, b, env, vis);
    default:
      return leaf(r, a, b, env, vis);
  }
}

SmtTerm ProofTranslator::composed(const RelationExpr& left, const RelationExpr& right, SmtTerm a,
                                  SmtTerm b, const Environment& env, const Visibility& vis) {
  // r* ; s is s | r+ ; s, and likewise on the right: a solver that has to guess the element in the
  // middle would not think of a or b.
  if (left.op == RelationOp::Star) {
    const SmtTerm at_once = member(right, a, b, env, vis);
    const Sort middle[] = {left.to};
    return at_once || exists(middle, vis, [&](auto m) {
             const SmtTerm first = in_closure(*left.left, a, m[0], env, vis);
             return first && member(right, m[0], b, env, vis);
           });
  }
  if (right.op == RelationOp::Star) {
    const SmtTerm at_once = member(left, a, b, env, vis);
    const Sort middle[] = {left.to};
    return at_once || exists(middle, vis, [&](auto m) {
             const SmtTerm first = member(left, a, m[0], env, vis);
             return first && in_closure(*right.left, m[0], b, env, vis);
           });
  }
  const Sort middle[] = {left.to};
  return exists(middle, vis, [&](auto m) {
    const SmtTerm first = member(left, a, m[0], env, vis);
    return first && member(right, m[0], b, env, vis);
  });
}

SmtTerm ProofTranslator::leaf(const RelationExpr& r, SmtTerm a, SmtTerm b, const Environment& env,
                              const Visibility& vis) {
  SmtSolver& smt = theory_.smt();
  const SmtSort key = theory_.sort(Sort::Key);
  const auto ww = [&](SmtTerm x, SmtTerm t1, SmtTerm t2) {
    return theory_.writes(t1, x) && theory_.writes(t2, x) && vis.order(t1, t2);
  };
  const auto rw = [&](SmtTerm x) {
    return !equals(a, b) && smt.exists({theory_.sort(Sort::Txn)}, [&](auto t) {
      return theory_.wr(x, t[0], a) && ww(x, t[0], b);
    });
  };
  const auto elements = [&](SmtTerm read) {
    const Sort sorts[] = {Sort::Read};
    return are_elements(sorts, {&read, 1}, vis);
  };
  switch (r.op) {
    case RelationOp::So:
      return theory_.so(a, b);
    case RelationOp::Rt:
      return theory_.rt(a, b);
    case RelationOp::Po:
      return theory_.po(a, b) && elements(a) && elements(b);
    case RelationOp::Of:
      return theory_.of(a, b) && elements(a);
    case RelationOp::Same:
      return theory_.same(a, b) && elements(a) && elements(b);
    case RelationOp::Waited:
      return theory_.waited(a, b) && elements(b);
    case RelationOp::Snap:
      return vis.snap(a, b) && theory_.has_reads();
    case RelationOp::Co:
    case RelationOp::Ar:
      return vis.order(a, b);
    case RelationOp::Vis:
      return vis.relation(a, b);
    case RelationOp::Wr:
      if (r.to == Sort::Read) {
        return r.key ? theory_.wr_to_read(env[at(r.key->slot)], a, b) : theory_.wr_to_read(a, b);
      }
      return r.key ? theory_.wr(env[at(r.key->slot)], a, b) : theory_.wr(a, b);
    case RelationOp::Ww:
      if (r.key) return ww(env[at(r.key->slot)], a, b);
      return smt.exists({key}, [&](auto x) { return ww(x[0], a, b); });
    case RelationOp::Rw:
      if (r.key) return rw(env[at(r.key->slot)]);
      return smt.exists({key}, [&](auto x) { return rw(x[0]); });
    case RelationOp::IdentityOn:
      if (r.key) return equals(a, b) && theory_.writes(a, env[at(r.key->slot)]);
      switch (r.set) {
        case SetName::Writers:
          return equals(a, b) && theory_.writes_something(a);
        case SetName::Readers:
          return equals(a, b) && theory_.reads_something(a);
        case SetName::Aborted:
          return equals(a, b) && theory_.aborted(a);
      }
      [[fallthrough]];
    default:
      ISO_ASSERT(false);
  }
}

SmtTerm ProofTranslator::in_closure(const RelationExpr& r, SmtTerm a, SmtTerm b,
                                    const Environment& env, const Visibility& vis) {
  // The order is transitive, so it is its own closure; and (r+)+ is r+.
  if (r.op == RelationOp::Co || r.op == RelationOp::Ar) return vis.order(a, b);
  if (r.op == RelationOp::Plus) return in_closure(*r.left, a, b, env, vis);
  std::vector<int> slots;
  add_key_slots(r, slots);
  std::vector<SmtTerm> keys;
  for (int slot : slots) keys.push_back(env[at(slot)]);
  return closure_of(r, slots, vis).holds(keys, a, b);
}

std::vector<SmtTerm> ProofTranslator::included(const RelationExpr& r, const std::vector<int>& slots,
                                               const Visibility& vis, const Upper& upper) {
  SmtSolver& smt = theory_.smt();
  const std::size_t n = slots.size();
  std::vector<Path> paths = paths_of(r, false);
  if (paths.size() > kMaxPaths) paths = {{{&r, false}}};
  std::vector<SmtTerm> clauses;
  for (const Path& path : paths) {
    // Values of the slots, then the elements on the path, then what single steps need besides.
    std::vector<SmtSort> sorts(n, theory_.sort(Sort::Key));
    sorts.push_back(theory_.sort(r.from));
    for (const PathStep& step : path) sorts.push_back(theory_.sort(step.to()));
    const std::size_t ends = sorts.size() - 1;
    for (const PathStep& step : path) {
      const RelationOp op = step.relation->op;
      if (step.relation->key) continue;
      if (op == RelationOp::Ww || op == RelationOp::Rw) sorts.push_back(theory_.sort(Sort::Key));
      if (op == RelationOp::Rw) sorts.push_back(theory_.sort(Sort::Txn));
    }
    clauses.push_back(smt.forall(sorts, [&](auto v) {
      Environment env;
      for (std::size_t i = 0; i < n; ++i) {
        env.resize(std::max(env.size(), at(slots[i]) + 1));
        env[at(slots[i])] = v[i];
      }
      SmtTerm premises = smt.truth(true);
      std::size_t next = ends + 1;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const RelationExpr& step = *path[i].relation;
        const SmtTerm a = path[i].turned ? v[n + i + 1] : v[n + i];
        const SmtTerm b = path[i].turned ? v[n + i] : v[n + i + 1];
        const auto ww = [&](SmtTerm x, SmtTerm s, SmtTerm t) {
          return theory_.writes(s, x) && theory_.writes(t, x) && vis.order(s, t);
        };
        if (step.op == RelationOp::Ww && !step.key) {
          premises = premises && ww(v[next++], a, b);
        } else if (step.op == RelationOp::Rw && !step.key) {
          const SmtTerm x = v[next++];
          const SmtTerm writer = v[next++];
          premises = premises && !equals(a, b) && theory_.wr(x, writer, a) && ww(x, writer, b);
        } else {
          premises = premises && member(step, a, b, env, vis);
        }
      }
      return implies(premises, upper(v.first(n), v[n], v[ends]));
    }));
  }
  return clauses;
}

const Closure& ProofTranslator::closure_of(const RelationExpr& r, const std::vector<int>& slots,
                                           const Visibility& vis) {
  const std::string name = canonical_name(r, slots, vis);
  const auto known = [&] {
    return std::find_if(closures_.begin(), closures_.end(),
                        [&](const Closure& each) { return each.name == name; });
  };
  if (known() != closures_.end()) return *known();

  SmtSolver& smt = theory_.smt();
  Closure closure;
  closure.name = name;
  closure.sort = r.from;
  closure.keys.assign(slots.size(), theory_.sort(Sort::Key));
  const SmtSort element = theory_.sort(r.from);
  std::vector<SmtSort> sorts = closure.keys;
  sorts.insert(sorts.end(), {element, element});
  closure.symbol = smt.new_function("closure", sorts, SmtSolver::kBool);
  closure.step = [this, &r, slots, vis](std::span<const SmtTerm> keys, SmtTerm a, SmtTerm b) {
    Environment env;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      env.resize(std::max(env.size(), at(slots[i]) + 1));
      env[at(slots[i])] = keys[i];
    }
    return member(r, a, b, env, vis);
  };
  closures_.push_back(closure);

  // `closure` is a copy: translating r may add the closures that are nested in it.
  const std::size_t n = slots.size();
  const auto in = [&](std::span<const SmtTerm> v, SmtTerm a, SmtTerm b) {
    return closure.holds(v.first(n), a, b);
  };
  for (SmtTerm clause : included(r, slots, vis, in)) theory_.add(clause);
  unrollings_.push_back(smt.forall(sorts, [&](auto v) {
    const SmtTerm shorter = smt.exists({element}, [&](auto m) {
      return in(v, v[n], m[0]) && closure.step(v.first(n), m[0], v[n + 1]);
    });
    return implies(in(v, v[n], v[n + 1]), closure.step(v.first(n), v[n], v[n + 1]) || shorter);
  }));
  sorts.push_back(element);
  theory_.add(smt.forall(sorts, [&](auto v) {
    return implies(in(v, v[n], v[n + 1]) && in(v, v[n + 1], v[n + 2]), in(v, v[n], v[n + 2]));
  }));
  return *known();
}

}  // namespace isoscope
