#include "check/ground/join.h"

#include <algorithm>

namespace isoscope {
namespace {

bool mentions(const NormalNode& node, int slot) {
  return std::binary_search(node.free.begin(), node.free.end(), slot);
}

}  // namespace

Join::Join(Grounder& grounder, const NormalNode& exists, const Grounder::Visit& visit)
    : grounder_(grounder), node_(exists), visit_(visit), stack_(exists.variables.size() + 1) {}

void Join::run() {
  Domains& domains = stack_.front();
  for (const Variable& v : node_.variables) {
    const BitSet* restricted = grounder_.domain(v.slot);
    domains.push_back(restricted ? *restricted : BitSet::full(grounder_.universe_.size(v.sort)));
  }
  if (propagate(-1, domains)) descend(0);
}

bool Join::is_fully_bound(const NormalNode& node) const {
  return std::all_of(node.free.begin(), node.free.end(), [&](int slot) { return is_bound(slot); });
}

bool Join::descend(std::size_t depth) {
  if (grounder_.meter_.stopped()) return false;
  if (depth == node_.variables.size()) return visit_instance();
  std::size_t next = 0;
  std::size_t fewest = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < node_.variables.size(); ++i) {
    if (is_bound(node_.variables[i].slot)) continue;
    const std::size_t count = stack_[depth][i].count();
    if (count < fewest) {
      fewest = count;
      next = i;
    }
  }
  const int slot = node_.variables[next].slot;
  const BitSet values = stack_[depth][next];
  const std::size_t open = open_.size();
  bool go_on = true;
  for_each_bit(values.row(), [&](std::size_t value) {
    if (!go_on) return;
    grounder_.binding_[static_cast<std::size_t>(slot)] = static_cast<std::uint32_t>(value);
    stack_[depth + 1] = stack_[depth];
    if (propagate(slot, stack_[depth + 1])) go_on = descend(depth + 1);
    open_.resize(open);
  });
  grounder_.binding_[static_cast<std::size_t>(slot)] = kUnbound;
  return go_on;
}

bool Join::visit_instance() {
  const std::size_t open = open_.size();
  bool possible = true;
  for (const NormalNode& child : node_.children) {
    if (child.kind != NormalNode::Kind::Atom) continue;  // in open_ since it was bound
    const Signal signal = grounder_.truth(child);
    if (signal.is_false()) {
      possible = false;
      break;
    }
    if (!signal.is_true()) open_.push_back(signal);
  }
  const bool go_on = !possible || visit_(open_);
  open_.resize(open);
  return go_on;
}

bool Join::propagate(int slot, Domains& domains) {
  for (const NormalNode& child : node_.children) {
    if (slot >= 0 && !mentions(child, slot)) continue;
    const bool is_atom = child.kind == NormalNode::Kind::Atom;
    if (is_fully_bound(child)) {
      // Signals of atoms are only made for complete instances: most bindings lead to none.
      if (is_atom) {
        if (grounder_.is_false(child)) return false;
        continue;
      }
      const Signal signal = grounder_.truth(child);
      if (signal.is_false()) return false;
      if (!signal.is_true()) open_.push_back(signal);
    } else if (is_atom) {
      for (std::size_t i = 0; i < node_.variables.size(); ++i) {
        const Variable& v = node_.variables[i];
        if (is_bound(v.slot) || !mentions(child, v.slot)) continue;
        revise(child, v, domains[i]);
        if (domains[i].empty()) return false;
      }
    }
  }
  return true;
}

void Join::revise(const NormalNode& atom, const Variable& v, BitSet& domain) const {
  const Universe& universe = grounder_.universe_;
  const bool is_first = atom.a.slot == v.slot;
  const int other = is_first ? atom.b.slot : atom.a.slot;
  switch (atom.atom) {
    case FormulaOp::Equal:
      if (!is_bound(other)) return;
      if (atom.negated) {
        domain.erase(value(other));
      } else {
        domain.keep_only(value(other));
      }
      return;
    case FormulaOp::Current:
      if (atom.negated) {
        domain.subtract(universe.current_reads().row());
      } else {
        domain.intersect(universe.current_reads().row());
      }
      return;
    case FormulaOp::Member: return revise_member(atom, v, domain);
    default: return narrow_by(universe.access(atom.atom), atom, v, domain);
  }
}

// By what the other variable of the atom allows, if it has a value.
void Join::narrow_by(const Bound& bound, const NormalNode& atom, const Variable& v,
                     BitSet& domain) const {
  const bool is_first = atom.a.slot == v.slot;
  const int other = is_first ? atom.b.slot : atom.a.slot;
  if (!is_bound(other)) {
    if (!atom.negated) domain.intersect((is_first ? bound.may_from() : bound.may_to()).row());
  } else if (atom.negated) {
    domain.subtract((is_first ? bound.must_inverse() : bound.must()).row(value(other)));
  } else {
    domain.intersect((is_first ? bound.may_inverse() : bound.may()).row(value(other)));
  }
}

void Join::revise_member(const NormalNode& atom, const Variable& v, BitSet& domain) const {
  const bool is_first = atom.a.slot == v.slot;
  const bool is_second = atom.b.slot == v.slot;
  if (!is_first && !is_second) return revise_key(atom, v, domain);
  const bool keys_bound = RelationTable::is_bound(*atom.relation, grounder_.binding_);
  // r(v, v) is looked at once v is bound; and what a relation lacks for some key tells nothing
  // about the key that is still to come.
  if ((is_first && is_second) || (atom.negated && !keys_bound)) return;
  const RelationId r = keys_bound
                           ? grounder_.table_.instantiate(*atom.relation, grounder_.binding_)
                           : grounder_.table_.upper_bound(*atom.relation, grounder_.binding_);
  narrow_by(grounder_.bounds_.of(r), atom, v, domain);
}

// The keys that a basic relation of a key can have, given its ends.
void Join::revise_key(const NormalNode& atom, const Variable& v, BitSet& domain) const {
  const Universe& universe = grounder_.universe_;
  const RelationExpr& r = *atom.relation;
  if (atom.negated || !r.key || r.key->slot != v.slot) return;
  FormulaOp first = FormulaOp::Writes;  // what the ends do with the key
  FormulaOp second = FormulaOp::Writes;
  switch (r.op) {
    case RelationOp::Wr: second = FormulaOp::Reads; break;
    case RelationOp::Rw: first = FormulaOp::Reads; break;
    case RelationOp::Ww:
    case RelationOp::IdentityOn: break;
    default: return;  // none that has a key
  }
  if (is_bound(atom.a.slot))
    domain.intersect(universe.access(first).must().row(value(atom.a.slot)));
  if (is_bound(atom.b.slot)) {
    const std::uint32_t b = value(atom.b.slot);
    if (r.op == RelationOp::Wr && r.to == Sort::Read) {
      domain.keep_only(universe.reads()[b].key);
    } else {
      domain.intersect(universe.access(second).must().row(b));
    }
  }
}

}  // namespace isoscope
