#include "check/ground/grounder.h"

#include <algorithm>

#include "check/ground/join.h"
#include "check/ground/support.h"
#include "support/assert.h"

namespace isoscope {
namespace {

// Beyond this many remembered nodes, remembering costs more than it saves.
constexpr std::size_t kMaxKnown = 1'000'000;

}  // namespace

void Grounder::enter(const GroundAxiom& axiom) {
  axiom_ = &axiom;
  binding_.assign(static_cast<std::size_t>(axiom.form.slots), kUnbound);
  known_.clear();
}

const BitSet* Grounder::domain(int slot) const {
  const auto found = axiom_->domains.find(slot);
  return found == axiom_->domains.end() ? nullptr : &found->second;
}

std::optional<bool> Grounder::decided(RelationId id, Element a, Element b) {
  const Bound& bound = bounds_.of(id);
  if (!bound.may().contains(a, b)) return false;
  if (bound.must().contains(a, b)) return true;
  ISO_ASSERT(encoding_ != nullptr);
  return std::nullopt;
}

bool Grounder::keeps(RelationId id) const {
  const RelationOp op = table_[id].op;  // the encoding remembers its own
  return op != RelationOp::Co && op != RelationOp::Ww && op != RelationOp::Vis &&
         op != RelationOp::Snap;
}

Signal Grounder::leaf(const GroundRelation& r, Element a, Element b) {
  switch (r.op) {
    case RelationOp::Co:
    case RelationOp::Ww: return encoding_->before(a, b);
    case RelationOp::Vis: return encoding_->vis(a, b);
    case RelationOp::Snap: return encoding_->snap(a, b);
    case RelationOp::Rw: return rw(r, a, b);
    default: ISO_ASSERT(false);  // facts have no open pairs
  }
}

Signal Grounder::rw(const GroundRelation& r, Element a, Element b) {
  std::vector<Signal> some;
  const auto add_key = [&](std::size_t x) {
    if (!universe_.writes(b, x)) return;
    for (const std::uint32_t i : universe_.reads_of(x)) {
      const Universe::Read& read = universe_.reads()[i];
      if (read.reader == a) some.push_back(encoding_->before(read.writer, b));
    }
  };
  if (r.key != GroundRelation::kNone) {
    add_key(r.key);
  } else {
    for_each_bit(universe_.access(FormulaOp::Reads).must().row(a), add_key);
  }
  return algebra_.disj(some);
}

Signal Grounder::atom(const NormalNode& node, Element a, Element b) {
  switch (node.atom) {
    case FormulaOp::Equal: return Signal::constant(a == b);
    case FormulaOp::Current: return Signal::constant(universe_.current_reads().contains(a));
    default: return Signal::constant(universe_.access(node.atom).must().contains(a, b));
  }
}

Signal Grounder::compose(const GroundRelation& r, Element a, Element b) {
  const Bound& left = bounds_.of(r.left);
  const Bound& right = bounds_.of(r.right);
  BitSet middle(left.may().columns());
  middle.unite(left.may().row(a));
  middle.intersect(right.may_inverse().row(b));
  const bool order_first = table_.is_order(r.left);
  if (order_first || table_.is_order(r.right)) {
    BitSet certain = middle;
    certain.intersect(order_first ? right.must_inverse().row(b) : left.must().row(a));
    const Bound& order = encoding_->bounds().order;
    BitSet needless(left.may().columns());
    for_each_bit(certain.row(), [&](std::size_t m) {
      needless.unite(order_first ? order.must_inverse().row(m) : order.must().row(m));
    });
    middle.subtract(needless.row());
  }
  return composed(r, a, b, [&](const auto& f) {
    for_each_bit(middle.row(), [&](std::size_t m) { f(static_cast<Element>(m)); });
  });
}

Signal Grounder::closure(RelationId plus, Element a, Element b) {
  auto known = closures_.find(plus);
  if (known == closures_.end()) known = closures_.emplace(plus, closed(plus)).first;
  return known->second[a * bounds_.of(plus).may().columns() + b];
}

Grounder::Matrix Grounder::closed(RelationId plus) {
  const RelationId r = table_[plus].left;
  const Bound& bound = bounds_.of(plus);
  const Bound& base = bounds_.of(r);
  const std::size_t n = bound.may().rows();
  Matrix m(n * n, kFalse);
  for (std::size_t a = 0; a < n && !meter_.stopped(); ++a) {
    for_each_bit(bound.must().row(a), [&](std::size_t b) { m[a * n + b] = kTrue; });
    for_each_bit(base.may().row(a), [&](std::size_t b) {
      if (!m[a * n + b].is_true())
        m[a * n + b] = cell(r, static_cast<Element>(a), static_cast<Element>(b));
    });
  }
  if (!is_the_order(r, base, m)) {
    close(
        m, n, [&](std::size_t a, std::size_t b) { return bound.may().contains(a, b); },
        [&] { return meter_.stopped(); });
  }
  return m;
}

// Is r, in other words, the order, as in (so | wr | co)+? Then it is closed as it stands.
bool Grounder::is_the_order(RelationId r, const Bound& base, const Matrix& m) {
  const Bound& order = encoding_->bounds().order;
  if (table_[r].from != Sort::Txn || !(base.may() == order.may()) || !(base.must() == order.must()))
    return false;
  const std::size_t n = base.may().rows();
  bool same = true;
  for (std::size_t a = 0; a < n; ++a) {
    for_each_bit(base.may().row(a),
                 [&](std::size_t b) { same = same && m[a * n + b] == encoding_->before(a, b); });
  }
  return same;
}

bool Grounder::is_false(const NormalNode& atom) {
  if (atom.atom != FormulaOp::Member) return truth(atom).is_false();
  const Bound& bound = bounds_.of(table_.instantiate(*atom.relation, binding_));
  const Element a = value(atom.a);
  const Element b = value(atom.b);
  return atom.negated ? bound.must().contains(a, b) : !bound.may().contains(a, b);
}

Signal Grounder::exists(const NormalNode& node) {
  std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(node.id)};
  for (const int slot : node.free) key.push_back(binding_[static_cast<std::size_t>(slot)]);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::vector<Signal> some;
  bool certain = false;
  enumerate(node, [&](std::span<const Signal> open) {
    const Signal instance = algebra_.conj(open);
    certain = instance.is_true();
    some.push_back(instance);
    return !certain;
  });
  const Signal exists = certain ? kTrue : algebra_.disj(some);
  if (known_.size() < kMaxKnown) known_.emplace(std::move(key), exists);
  return exists;
}

Signal Grounder::acyclic(RelationId r) {
  const Bound& bound = bounds_.of(r);
  if (!is_acyclic(bound.must())) return kFalse;
  if (bound.is_exact() || is_acyclic(bound.may()) || bounds_.is_within_order(r)) return kTrue;
  return acyclic_(r);
}

void Grounder::enumerate(const NormalNode& exists, const Visit& visit) {
  Join(*this, exists, visit).run();
}

std::vector<Signal> Grounder::conjuncts(const NormalNode& exists, Support& support) {
  std::vector<Signal> open;
  for (const NormalNode& child : exists.children) {
    if (child.kind == NormalNode::Kind::Atom && !child.negated && is_costly(child)) {
      const RelationId r = table_.instantiate(*child.relation, binding_);
      const auto signals = support.of(r, value(child.a), value(child.b));
      open.insert(open.end(), signals.begin(), signals.end());
    } else {
      open.push_back(truth(child));
    }
  }
  return open;
}

bool Grounder::is_costly(const NormalNode& node) {
  // Keys make no difference to the cost.
  if (node.kind == NormalNode::Kind::Atom && node.atom == FormulaOp::Member)
    return table_.is_costly(table_.upper_bound(*node.relation, binding_));
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const NormalNode& child) { return is_costly(child); });
}

}  // namespace isoscope
