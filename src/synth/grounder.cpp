#include "synth/grounder.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope::synthesis {

Grounder::Grounder(const Facts& facts)
    : Translator({facts.circuit()}, relations, static_cast<std::size_t>(facts.carrier())),
      facts_(facts) {}

void Grounder::set_witness(Matrix order, std::optional<Matrix> vis, std::optional<Matrix> snap) {
  // What is a read decides what facts about reads say.
  const bool same_elements = has_own_reads_ == snap.has_value();
  order_ = std::move(order);
  vis_ = vis ? *std::move(vis) : Matrix(facts_.carrier());
  has_own_reads_ = snap.has_value();
  snap_ = snap ? *std::move(snap) : Matrix(facts_.carrier());
  const auto is_old = [&](RelationId id) { return !same_elements || !table_[id].is_fact; };
  forget_cells(is_old);
  std::erase_if(closures_, [&](const auto& known) { return is_old(known.first); });
}

void Grounder::define_vis(int a, int b, Signal s) {
  vis_(a, b) = s;
  pending_[static_cast<std::size_t>(a) * static_cast<std::size_t>(facts_.txns()) +
           static_cast<std::size_t>(b)] = 0;
}

Signal Grounder::truth(const Axiom& axiom) {
  auto known = forms_.find(axiom.formula);
  if (known == forms_.end()) known = forms_.emplace(axiom.formula, normalize(axiom)).first;
  const NormalForm& form = known->second;
  binding_.assign(static_cast<std::size_t>(form.slots), kUnbound);
  std::vector<Signal> parts;
  for (const NormalNode& part : form.parts) parts.push_back(truth(part));
  return algebra_.conj(parts);
}

Matrix Grounder::relation(const RelationExpr& r) {
  const RelationId id = table_.instantiate(r, {});
  Matrix out(facts_.carrier());
  const auto [first_a, count_a] = domain(r.from);
  const auto [first_b, count_b] = domain(r.to);
  for (int a = first_a; a < first_a + count_a; ++a) {
    for (int b = first_b; b < first_b + count_b; ++b)
      out(a, b) = cell(id, static_cast<Element>(a), static_cast<Element>(b));
  }
  return out;
}

const NormalNode& Grounder::enter(const HeadRule& rule) {
  joins_.insert(rule.join);
  binding_.assign(static_cast<std::size_t>(num_slots(*rule.join)), kUnbound);
  return *rule.join;
}

Matrix Grounder::pairs(const HeadRule& rule) {
  const NormalNode& join = enter(rule);
  std::vector<int> keep;
  for (std::size_t i = 0; i < join.variables.size(); ++i) {
    if (join.variables[i].slot == rule.from.slot || join.variables[i].slot == rule.to.slot)
      keep.push_back(static_cast<int>(i));
  }
  const std::vector<Signal> table = project(join.variables, join.children, keep);
  Matrix result(facts_.carrier());
  if (keep.size() == 1) {  // from and to are the same variable
    const auto [first, count] = domain(rule.from.sort);
    for (int a = 0; a < count; ++a)
      result(first + a, first + a) = table[static_cast<std::size_t>(a)];
    return result;
  }
  const bool from_first = join.variables[static_cast<std::size_t>(keep[0])].slot == rule.from.slot;
  const auto [first_a, count_a] = domain(from_first ? rule.from.sort : rule.to.sort);
  const auto [first_b, count_b] = domain(from_first ? rule.to.sort : rule.from.sort);
  for (int a = 0; a < count_a; ++a) {
    for (int b = 0; b < count_b; ++b) {
      const Signal s = table[static_cast<std::size_t>(a * count_b + b)];
      (from_first ? result(first_a + a, first_b + b) : result(first_b + b, first_a + a)) = s;
    }
  }
  return result;
}

Signal Grounder::pair(const HeadRule& rule, int a, int b) {
  if (rule.from.slot == rule.to.slot && a != b) return kFalse;
  const NormalNode& join = enter(rule);
  std::vector<Variable> rest;
  for (const Variable& v : join.variables) {
    if (v.slot != rule.from.slot && v.slot != rule.to.slot) rest.push_back(v);
  }
  bind(rule.from, a);
  bind(rule.to, b);
  return exists(rest, join.children);
}

Signal Grounder::exists(const std::vector<Variable>& variables,
                        const std::vector<NormalNode>& conjuncts) {
  if (pending_.empty()) return project(variables, conjuncts, {}).front();
  std::vector<Signal> ways;
  add_instances(variables, 0, conjuncts, ways);
  return algebra_.disj(ways);
}

// Instance by instance: a cell of vis that is not known yet does no harm where another conjunct is
// false.
void Grounder::add_instances(const std::vector<Variable>& variables, std::size_t bound,
                             const std::vector<NormalNode>& conjuncts, std::vector<Signal>& ways) {
  if (bound < variables.size()) {
    const Variable& v = variables[bound];
    const auto [first, count] = domain(v.sort);
    for (int element = first; element < first + count; ++element) {
      bind(v, element);
      add_instances(variables, bound + 1, conjuncts, ways);
    }
    return;
  }
  const bool asked_before = asked_too_early_;
  std::vector<Signal> product;
  for (const Variable& v : variables)
    product.push_back(is_element(v.sort, static_cast<int>(value(v))));
  for (const NormalNode& conjunct : conjuncts) {
    product.push_back(truth(conjunct));
    if (product.back().is_false()) {
      asked_too_early_ = asked_before;
      return;
    }
  }
  ways.push_back(algebra_.conj(product));
}

Signal Grounder::is_element(Sort sort, int element) const {
  switch (sort) {
    case Sort::Txn: return kTrue;
    case Sort::Key: return facts_.is_used(element);
    case Sort::Read: return facts_.is_read(element, has_own_reads_);
  }
  return kFalse;
}

Signal Grounder::identity(Sort sort, Element a, Element b) const {
  return a == b ? is_element(sort, static_cast<int>(a)) : kFalse;
}

Signal Grounder::atom(const NormalNode& node, Element first, Element second) {
  const int a = static_cast<int>(first);
  const int b = static_cast<int>(second);
  switch (node.atom) {
    case FormulaOp::Equal: return Signal::constant(a == b);
    case FormulaOp::Writes:
    case FormulaOp::WritesRow:  // each key is a row of its own
      return facts_.writes(a, b);
    case FormulaOp::Reads: return facts_.reads(a, b);
    case FormulaOp::Locks: return facts_.locks(a, b);
    case FormulaOp::Current: return facts_.is_current(a);
    default: ISO_ASSERT(false);
  }
}

// Does the relation speak of a vis that is being computed?
bool Grounder::is_pending(RelationId id) const {
  return !pending_.empty() && table_.mentions(id, RelationOp::Vis);
}

bool Grounder::keeps(RelationId id) const {
  switch (table_[id].op) {
    case RelationOp::So:
    case RelationOp::Rt:
    case RelationOp::Wr:
    case RelationOp::Co:
    case RelationOp::Vis: return false;  // they are there
    default: return !is_pending(id);
  }
}

Signal Grounder::leaf(const GroundRelation& r, Element from, Element to) {
  const int a = static_cast<int>(from);
  const int b = static_cast<int>(to);
  const bool has_key = r.key != GroundRelation::kNone;
  const auto read = [&](int slot) { return is_element(Sort::Read, slot); };
  switch (r.op) {
    case RelationOp::Co: return order_(a, b);
    case RelationOp::Vis:
      if (!pending_.empty() && pending_[static_cast<std::size_t>(a * facts_.txns() + b)] != 0) {
        asked_too_early_ = true;
        return kTrue;  // not false, which would excuse the question
      }
      return vis_(a, b);
    case RelationOp::Snap: return all({snap_(a, b), read(b)});
    case RelationOp::So: return facts_.so()(a, b);
    case RelationOp::Rt: return facts_.rt()(a, b);
    case RelationOp::Wr:
      return has_key ? facts_.wr(static_cast<int>(r.key))(a, b) : facts_.wr()(a, b);
    case RelationOp::Po:
      return b > a && facts_.txn_of(a) == facts_.txn_of(b) ? all({read(a), read(b)}) : kFalse;
    case RelationOp::Of: return b == facts_.txn_of(a) ? read(a) : kFalse;
    case RelationOp::Same: return all({read(a), read(b), facts_.same_statement(a, b)});
    case RelationOp::Waited: return all({read(b), facts_.waited(a, b)});
    case RelationOp::Ww:
    case RelationOp::Rw: {
      if (a == b) return kFalse;
      if (has_key) return version_order(r, static_cast<int>(r.key), a, b);
      std::vector<Signal> some;
      for (int x = 0; x < facts_.keys(); ++x) some.push_back(version_order(r, x, a, b));
      return algebra_.disj(some);
    }
    case RelationOp::IdentityOn: return a == b ? is_member(r, a) : kFalse;
    default: ISO_ASSERT(false);
  }
}

Signal Grounder::version_order(const GroundRelation& r, int x, int a, int b) {
  const auto ww = [&](int s) {
    return s == b ? kFalse : all({facts_.writes(s, x), facts_.writes(b, x), order_(s, b)});
  };
  if (r.op == RelationOp::Ww) return ww(a);
  std::vector<Signal> ways;
  for (int s = 0; s < facts_.txns(); ++s) ways.push_back(all({facts_.wr(x)(s, a), ww(s)}));
  return algebra_.disj(ways);
}

Signal Grounder::is_member(const GroundRelation& r, int t) {
  if (r.set == SetName::Aborted) return facts_.aborted(t);
  std::vector<Signal> any;
  for (int x = 0; x < facts_.keys(); ++x) {
    if (r.key != GroundRelation::kNone && static_cast<int>(r.key) != x) continue;
    any.push_back(r.set == SetName::Readers ? facts_.reads(t, x)
                                            : all({facts_.writes(t, x), facts_.is_used(x)}));
  }
  return algebra_.disj(any);
}

Signal Grounder::compose(const GroundRelation& r, Element a, Element b) {
  const auto [first, count] = domain(table_[r.left].to);
  return composed(r, a, b, [first = first, count = count](const auto& f) {
    for (int m = first; m < first + count; ++m) f(static_cast<Element>(m));
  });
}

Signal Grounder::closure(RelationId plus, Element a, Element b) {
  const auto [first, count] = domain(table_[plus].from);
  const auto place = (a - static_cast<Element>(first)) * static_cast<std::size_t>(count) +
                     (b - static_cast<Element>(first));
  if (is_pending(plus)) {
    asked_for_all_ = true;
    return kTrue;
  }
  auto known = closures_.find(plus);
  if (known == closures_.end()) known = closures_.emplace(plus, closed(plus)).first;
  return known->second[place];
}

std::vector<Signal> Grounder::closed(RelationId plus) {
  const GroundRelation r = table_[plus];
  const auto [first, count] = domain(r.from);
  const auto n = static_cast<std::size_t>(count);
  std::vector<Signal> m(n * n, kFalse);
  bool leads_forward = true;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      m[a * n + b] = cell(r.left, static_cast<Element>(first) + static_cast<Element>(a),
                          static_cast<Element>(first) + static_cast<Element>(b));
      if (b <= a) leads_forward = leads_forward && m[a * n + b].is_false();
    }
  }
  if (!leads_forward) {
    close(
        m, n, [](std::size_t, std::size_t) { return true; }, [] { return false; });
    return m;
  }
  // By growing distance, as a transitive vis is computed (encode.cpp): the closure that one level
  // names and the vis that another demands become the very same gates.
  for (std::size_t distance = 2; distance < n; ++distance) {
    for (std::size_t a = 0; a + distance < n; ++a) {
      const std::size_t b = a + distance;
      std::vector<Signal> ways;
      for (std::size_t k = a + 1; k < b; ++k) ways.push_back(all({m[a * n + k], m[k * n + b]}));
      m[a * n + b] = any({m[a * n + b], algebra_.disj(ways)});
    }
  }
  return m;
}

Signal Grounder::acyclic(RelationId r) {
  const RelationId plus = table_.plus(r);
  const auto [first, count] = domain(table_[r].from);
  std::vector<Signal> wrong;
  for (int a = first; a < first + count; ++a)
    wrong.push_back(cell(plus, static_cast<Element>(a), static_cast<Element>(a)));
  return !algebra_.disj(wrong);
}

}  // namespace isoscope::synthesis
