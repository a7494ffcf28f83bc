#include "check/ground/grounder.h"

#include <algorithm>

#include "check/ground/join.h"
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

Signal Grounder::ground(const NormalNode& node) {
  switch (node.kind) {
    case NormalNode::Kind::Atom:
      return ground_atom(node);
    case NormalNode::Kind::And:
    case NormalNode::Kind::Or: {
      const bool is_and = node.kind == NormalNode::Kind::And;
      std::vector<Signal> parts;
      for (const NormalNode& child : node.children) {
        const Signal part = ground(child);
        if (part == Signal::constant(!is_and)) return part;
        parts.push_back(part);
      }
      return is_and ? circuit_.conj(parts) : circuit_.disj(parts);
    }
    case NormalNode::Kind::Iff: {
      const Signal same = circuit_.iff(ground(node.children[0]), ground(node.children[1]));
      return node.negated ? !same : same;
    }
    case NormalNode::Kind::Exists:
      return ground_exists(node);
    case NormalNode::Kind::Acyclic:
      return ground_acyclic(node);
  }
  ISO_ASSERT(false);
}

Signal Grounder::ground_atom(const NormalNode& node) {
  const std::uint32_t a = binding_[static_cast<std::size_t>(node.a.slot)];
  if (node.atom == FormulaOp::Current)
    return Signal::constant(universe_.current_reads().contains(a) != node.negated);
  const std::uint32_t b = binding_[static_cast<std::size_t>(node.b.slot)];
  Signal holds = kFalse;
  switch (node.atom) {
    case FormulaOp::Equal:
      holds = Signal::constant(a == b);
      break;
    case FormulaOp::Writes:
      holds = Signal::constant(universe_.writes(a, b));
      break;
    case FormulaOp::Reads:
      holds = Signal::constant(universe_.reads(a, b));
      break;
    case FormulaOp::Locks:
      holds = Signal::constant(universe_.lockers_of().contains(b, a));
      break;
    case FormulaOp::WritesRow:
      holds = Signal::constant(universe_.row_writers_of().contains(b, a));
      break;
    default: {
      const RelationId r = table_.instantiate(*node.relation, binding_);
      const Bound& bound = bounds_.of(r);
      if (bound.must().contains(a, b)) {
        holds = kTrue;
      } else if (bound.may().contains(a, b)) {
        ISO_ASSERT(cells_ != nullptr);
        holds = cells_->cell(r, a, b);
      }
    }
  }
  return node.negated ? !holds : holds;
}

bool Grounder::is_false(const NormalNode& atom) {
  if (atom.atom != FormulaOp::Member) return ground_atom(atom).is_false();
  const Bound& bound = bounds_.of(table_.instantiate(*atom.relation, binding_));
  const std::uint32_t a = binding_[static_cast<std::size_t>(atom.a.slot)];
  const std::uint32_t b = binding_[static_cast<std::size_t>(atom.b.slot)];
  return atom.negated ? bound.must().contains(a, b) : !bound.may().contains(a, b);
}

Signal Grounder::ground_exists(const NormalNode& node) {
  std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(node.id)};
  for (const int slot : node.free) key.push_back(binding_[static_cast<std::size_t>(slot)]);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::vector<Signal> some;
  bool certain = false;
  enumerate(node, [&](std::span<const Signal> open) {
    const Signal instance = circuit_.conj(open);
    certain = instance.is_true();
    some.push_back(instance);
    return !certain;
  });
  Signal exists = certain ? kTrue : circuit_.disj(some);
  if (node.negated) exists = !exists;
  if (known_.size() < kMaxKnown) known_.emplace(std::move(key), exists);
  return exists;
}

Signal Grounder::ground_acyclic(const NormalNode& node) {
  const RelationId r = table_.instantiate(*node.relation, binding_);
  const Bound& bound = bounds_.of(r);
  Signal holds = kTrue;
  if (!is_acyclic(bound.must())) {
    holds = kFalse;
  } else if (!bound.is_exact() && !is_acyclic(bound.may()) && !bounds_.is_within_order(r)) {
    holds = acyclic_(r);
  }
  return node.negated ? !holds : holds;
}

void Grounder::enumerate(const NormalNode& exists, const Visit& visit) {
  Join(*this, exists, visit).run();
}

std::vector<Signal> Grounder::conjuncts(const NormalNode& exists, Support& support) {
  std::vector<Signal> open;
  for (const NormalNode& child : exists.children) {
    if (child.kind == NormalNode::Kind::Atom && !child.negated && is_costly(child)) {
      const RelationId r = table_.instantiate(*child.relation, binding_);
      const auto signals = support.of(r, binding_[static_cast<std::size_t>(child.a.slot)],
                                      binding_[static_cast<std::size_t>(child.b.slot)]);
      open.insert(open.end(), signals.begin(), signals.end());
    } else {
      open.push_back(ground(child));
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
