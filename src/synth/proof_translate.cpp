#include "synth/proof_translate.h"

#include <algorithm>

#include "support/assert.h"
#include "synth/proof_canonical.h"

namespace isoscope {

namespace {

// What names of the witness stand for, while the guard exists.
class Meaning {
 public:
  Meaning(const Visibility*& place, const Visibility& vis) : place_(place), before_(place) {
    place_ = &vis;
  }
  ~Meaning() { place_ = before_; }
  Meaning(const Meaning&) = delete;
  Meaning& operator=(const Meaning&) = delete;

 private:
  const Visibility*& place_;
  const Visibility* before_;
};

std::vector<Sort> sorts_of(const std::vector<Variable>& variables) {
  std::vector<Sort> sorts;
  for (const Variable& v : variables) sorts.push_back(v.sort);
  return sorts;
}

std::vector<std::uint32_t> handles_of(std::span<const SmtTerm> terms) {
  std::vector<std::uint32_t> handles;
  for (const SmtTerm t : terms) handles.push_back(t.index);
  return handles;
}

// A pair of a simple relation; `turned` from its end to its beginning.
struct PathStep {
  RelationId relation;
  bool turned = false;
};
using Path = std::vector<PathStep>;

constexpr std::size_t kMaxPaths = 64;

// The paths whose pairs are those of r, turned or not. More than kMaxPaths of them are cut off,
// which is for the caller to see.
std::vector<Path> paths_of(const RelationTable& table, RelationId id, bool turned) {
  const GroundRelation& r = table[id];
  switch (r.op) {
    case RelationOp::Union: {
      std::vector<Path> all = paths_of(table, r.left, turned);
      for (Path& path : paths_of(table, r.right, turned)) all.push_back(std::move(path));
      return all;
    }
    case RelationOp::Compose: {
      std::vector<Path> all;
      const std::vector<Path> second = paths_of(table, turned ? r.left : r.right, turned);
      for (const Path& first : paths_of(table, turned ? r.right : r.left, turned)) {
        for (const Path& rest : second) {
          if (all.size() > kMaxPaths) return all;
          all.push_back(first);
          all.back().insert(all.back().end(), rest.begin(), rest.end());
        }
      }
      return all;
    }
    case RelationOp::Inverse: return paths_of(table, r.left, !turned);
    default: return {{{id, turned}}};
  }
}

}  // namespace

SmtTerm Closure::holds(std::span<const SmtTerm> values, SmtTerm a, SmtTerm b) const {
  std::vector<SmtTerm> arguments(values.begin(), values.end());
  arguments.push_back(a);
  arguments.push_back(b);
  return symbol(arguments);
}

SmtTerm ProofTranslator::translate(const Formula& f, const Environment& env,
                                   const Visibility& vis) {
  const Meaning meaning(vis_, vis);
  const NormalNode node = normalize(f, static_cast<int>(env.size()));
  binding_ = handles_of(env);
  binding_.resize(std::max(env.size(), static_cast<std::size_t>(num_slots(node))));
  return truth(node);
}

SmtTerm ProofTranslator::member(const RelationExpr& r, SmtTerm a, SmtTerm b, const Environment& env,
                                const Visibility& vis) {
  const Meaning meaning(vis_, vis);
  return cell(table_.instantiate(r, handles_of(env)), a.index, b.index);
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

void ProofTranslator::bind(const NormalNode& node, std::span<const SmtTerm> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    binding_[static_cast<std::size_t>(node.variables[i].slot)] = values[i].index;
}

SmtTerm ProofTranslator::exists(const NormalNode& node) {
  return exists(sorts_of(node.variables), *vis_, [&](auto values) {
    bind(node, values);
    std::vector<SmtTerm> parts;
    for (const NormalNode& child : node.children) parts.push_back(truth(child));
    return algebra_.conj(parts);
  });
}

// As a rule: all conjuncts but the last imply that the last is false, which is how a `forall …
// implies` was written.
SmtTerm ProofTranslator::none(const NormalNode& node) {
  return forall(sorts_of(node.variables), *vis_, [&](auto values) {
    bind(node, values);
    std::vector<SmtTerm> premises;
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i)
      premises.push_back(truth(node.children[i]));
    const SmtTerm all = algebra_.conj(premises);
    return implies(all, denial(node.children.back()));
  });
}

SmtTerm ProofTranslator::acyclic(RelationId r) {
  const RelationId plus = table_.plus(r);
  const Sort sorts[] = {table_[r].from};
  return forall(sorts, *vis_, [&](auto v) { return !cell(plus, v[0].index, v[0].index); });
}

SmtTerm ProofTranslator::atom(const NormalNode& node, Element first, Element second) {
  const SmtTerm a = term(first);
  const SmtTerm b = term(second);
  switch (node.atom) {
    case FormulaOp::Equal: return equals(a, b);
    case FormulaOp::Writes: return theory_.writes(a, b);
    case FormulaOp::Reads: return theory_.reads(a, b);
    case FormulaOp::Locks: return theory_.locks(a, b);
    case FormulaOp::WritesRow: return theory_.writes_row(a, b);
    case FormulaOp::Current: return theory_.current(a);
    default: ISO_ASSERT(false);
  }
}

// r* ; s is s | r+ ; s, and likewise on the right: a solver that has to guess the element in the
// middle would not think of a or b.
SmtTerm ProofTranslator::compose(const GroundRelation& r, Element a, Element b) {
  GroundRelation longer = r;
  std::vector<SmtTerm> ways;
  if (table_[r.left].op == RelationOp::Star) {
    ways.push_back(cell(r.right, a, b));
    longer.left = table_[r.left].left;
  } else if (table_[r.right].op == RelationOp::Star) {
    ways.push_back(cell(r.left, a, b));
    longer.right = table_[r.right].left;
  }
  const Sort middle[] = {table_[r.left].to};
  ways.push_back(exists(middle, *vis_, [&](auto m) {
    const SmtTerm first = cell(longer.left, a, m[0].index);
    return first && cell(longer.right, m[0].index, b);
  }));
  return algebra_.disj(ways);
}

// ww[x] or rw[x].
SmtTerm ProofTranslator::by_key(const GroundRelation& r, SmtTerm x, SmtTerm a, SmtTerm b) {
  const auto ww = [&](SmtTerm s) {
    return theory_.writes(s, x) && theory_.writes(b, x) && vis_->order(s, b);
  };
  if (r.op == RelationOp::Ww) return ww(a);
  return !equals(a, b) && theory_.smt().exists({theory_.sort(Sort::Txn)}, [&](auto t) {
    return theory_.wr(x, t[0], a) && ww(t[0]);
  });
}

SmtTerm ProofTranslator::member_of_set(const GroundRelation& r, SmtTerm a) {
  if (r.key != GroundRelation::kNone) return theory_.writes(a, term(r.key));
  switch (r.set) {
    case SetName::Writers: return theory_.writes_something(a);
    case SetName::Readers: return theory_.reads_something(a);
    case SetName::Aborted: return theory_.aborted(a);
  }
  ISO_ASSERT(false);
}

SmtTerm ProofTranslator::leaf(const GroundRelation& r, Element from, Element to) {
  const SmtTerm a = term(from);
  const SmtTerm b = term(to);
  const bool has_key = r.key != GroundRelation::kNone;
  const auto is_element = [&](SmtTerm read) {
    const Sort sorts[] = {Sort::Read};
    return are_elements(sorts, {&read, 1}, *vis_);
  };
  switch (r.op) {
    case RelationOp::So: return theory_.so(a, b);
    case RelationOp::Rt: return theory_.rt(a, b);
    case RelationOp::Po: return theory_.po(a, b) && is_element(a) && is_element(b);
    case RelationOp::Of: return theory_.of(a, b) && is_element(a);
    case RelationOp::Same: return theory_.same(a, b) && is_element(a) && is_element(b);
    case RelationOp::Waited: return theory_.waited(a, b) && is_element(b);
    case RelationOp::Snap: return vis_->snap(a, b) && theory_.has_reads();
    case RelationOp::Co: return vis_->order(a, b);
    case RelationOp::Vis: return vis_->relation(a, b);
    case RelationOp::Wr:
      if (r.to == Sort::Read)
        return has_key ? theory_.wr_to_read(term(r.key), a, b) : theory_.wr_to_read(a, b);
      return has_key ? theory_.wr(term(r.key), a, b) : theory_.wr(a, b);
    case RelationOp::Ww:
    case RelationOp::Rw:
      if (has_key) return by_key(r, term(r.key), a, b);
      return theory_.smt().exists({theory_.sort(Sort::Key)},
                                  [&](auto x) { return by_key(r, x[0], a, b); });
    case RelationOp::IdentityOn: return equals(a, b) && member_of_set(r, a);
    default: ISO_ASSERT(false);
  }
}

SmtTerm ProofTranslator::closure(RelationId plus, Element a, Element b) {
  const RelationId r = table_[plus].left;
  const Keys keys = table_.keys(r);
  std::vector<SmtTerm> values;
  for (const Element key : keys) values.push_back(term(key));
  return closure_of(r, keys).holds(values, term(a), term(b));
}

std::vector<SmtTerm> ProofTranslator::included(const RelationExpr& r, const Visibility& vis,
                                               const TxnRelation& upper) {
  const Meaning meaning(vis_, vis);
  return included(table_.instantiate(r, {}), {},
                  [&](std::span<const SmtTerm>, SmtTerm a, SmtTerm b) { return upper(a, b); });
}

std::vector<SmtTerm> ProofTranslator::included(RelationId r, const Keys& keys, const Upper& upper) {
  SmtSolver& smt = theory_.smt();
  const std::size_t n = keys.size();
  std::vector<Path> paths = paths_of(table_, r, false);
  if (paths.size() > kMaxPaths) paths = {{{r, false}}};
  std::vector<SmtTerm> clauses;
  for (const Path& path : paths) {
    // Values of the keys, then the elements on the path, then what single steps need besides.
    std::vector<SmtSort> sorts(n, theory_.sort(Sort::Key));
    sorts.push_back(theory_.sort(table_[r].from));
    for (const PathStep& step : path) {
      const GroundRelation& relation = table_[step.relation];
      sorts.push_back(theory_.sort(step.turned ? relation.from : relation.to));
    }
    const std::size_t ends = sorts.size() - 1;
    for (const PathStep& step : path) {
      const GroundRelation& relation = table_[step.relation];
      if (relation.key != GroundRelation::kNone) continue;
      const bool is_rw = relation.op == RelationOp::Rw;
      if (relation.op == RelationOp::Ww || is_rw) sorts.push_back(theory_.sort(Sort::Key));
      if (is_rw) sorts.push_back(theory_.sort(Sort::Txn));
    }
    clauses.push_back(smt.forall(sorts, [&](auto v) {
      const Keys values = handles_of(v.first(n));
      SmtTerm premises = smt.truth(true);
      std::size_t next = ends + 1;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const RelationId id = table_.with_keys(path[i].relation, keys, values);
        const GroundRelation step = table_[id];
        const SmtTerm a = path[i].turned ? v[n + i + 1] : v[n + i];
        const SmtTerm b = path[i].turned ? v[n + i] : v[n + i + 1];
        const bool has_key = step.key != GroundRelation::kNone;
        const auto ww = [&](SmtTerm x, SmtTerm s, SmtTerm t) {
          return theory_.writes(s, x) && theory_.writes(t, x) && vis_->order(s, t);
        };
        if (step.op == RelationOp::Ww && !has_key) {
          premises = premises && ww(v[next++], a, b);
        } else if (step.op == RelationOp::Rw && !has_key) {
          const SmtTerm x = v[next++];
          const SmtTerm writer = v[next++];
          premises = premises && !equals(a, b) && theory_.wr(x, writer, a) && ww(x, writer, b);
        } else {
          premises = premises && cell(id, a.index, b.index);
        }
      }
      return implies(premises, upper(v.first(n), v[n], v[ends]));
    }));
  }
  return clauses;
}

const Closure& ProofTranslator::closure_of(RelationId r, const Keys& keys) {
  const std::string name = canonical_name(table_, r, keys, *vis_);
  const auto known = [&] {
    return std::find_if(closures_.begin(), closures_.end(),
                        [&](const Closure& each) { return each.name == name; });
  };
  if (known() != closures_.end()) return *known();

  SmtSolver& smt = theory_.smt();
  Closure closure;
  closure.name = name;
  closure.sort = table_[r].from;
  closure.keys.assign(keys.size(), theory_.sort(Sort::Key));
  const SmtSort element = theory_.sort(closure.sort);
  std::vector<SmtSort> sorts = closure.keys;
  sorts.insert(sorts.end(), {element, element});
  closure.symbol = smt.new_function("closure", sorts, SmtSolver::kBool);
  closure.step = [this, r, keys, vis = *vis_](std::span<const SmtTerm> values, SmtTerm a,
                                              SmtTerm b) {
    const Meaning meaning(vis_, vis);
    return cell(table_.with_keys(r, keys, handles_of(values)), a.index, b.index);
  };
  closures_.push_back(closure);

  // `closure` is a copy: translating r may add the closures that are nested in it.
  const std::size_t n = keys.size();
  const auto in = [&](std::span<const SmtTerm> v, SmtTerm a, SmtTerm b) {
    return closure.holds(v.first(n), a, b);
  };
  for (SmtTerm clause : included(r, keys, in)) theory_.add(clause);
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
