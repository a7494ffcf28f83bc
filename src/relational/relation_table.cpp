#include "relational/relation_table.h"

#include <algorithm>

#include "relational/mentions.h"

namespace isoscope {
namespace {

std::uint32_t key_under(const RelationExpr& r, const Binding& binding) {
  if (!r.key) return GroundRelation::kNone;
  return binding[static_cast<std::size_t>(r.key->slot)];  // kUnbound is kNone: all keys
}

}  // namespace

std::size_t RelationTable::Hash::operator()(const GroundRelation& r) const {
  std::uint64_t hash = static_cast<unsigned>(r.op) | static_cast<unsigned>(r.set) << 8U |
                       static_cast<unsigned>(r.from) << 16U | static_cast<unsigned>(r.to) << 24U;
  for (const std::uint32_t word : {r.key, r.left, r.right}) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

bool RelationTable::is_bound(const RelationExpr& r, const Binding& binding) {
  if (r.key && key_under(r, binding) == kUnbound) return false;
  return (r.left == nullptr || is_bound(*r.left, binding)) &&
         (r.right == nullptr || is_bound(*r.right, binding));
}

RelationId RelationTable::instantiate(const RelationExpr& r, const Binding& binding) {
  const RelationId left = r.left ? instantiate(*r.left, binding) : GroundRelation::kNone;
  const RelationId right = r.right ? instantiate(*r.right, binding) : GroundRelation::kNone;
  if (r.left) return combine(r.op, r.from, r.to, left, right);
  return intern(
      {.op = r.op, .set = r.set, .from = r.from, .to = r.to, .key = key_under(r, binding)});
}

RelationId RelationTable::upper_bound(const RelationExpr& r, const Binding& binding) {
  // Every operator but difference grows with its operands, and a relation without its key is the
  // union over all keys.
  if (r.op == RelationOp::Difference && !is_bound(*r.right, binding))
    return upper_bound(*r.left, binding);
  const RelationId left = r.left ? upper_bound(*r.left, binding) : GroundRelation::kNone;
  const RelationId right = r.right ? upper_bound(*r.right, binding) : GroundRelation::kNone;
  if (r.left) return combine(r.op, r.from, r.to, left, right);
  return intern(
      {.op = r.op, .set = r.set, .from = r.from, .to = r.to, .key = key_under(r, binding)});
}

RelationId RelationTable::combine(RelationOp op, Sort from, Sort to, RelationId left,
                                  RelationId right) {
  switch (op) {
    case RelationOp::Plus: return plus(left);
    case RelationOp::Star: return star(left);
    case RelationOp::Inverse:
      if (relations_[left].op == RelationOp::Inverse) return relations_[left].left;
      break;
    case RelationOp::Union:
    case RelationOp::Intersection:
      if (left == right) return left;
      break;
    default: break;
  }
  return intern({.op = op, .from = from, .to = to, .left = left, .right = right});
}

RelationId RelationTable::plus(RelationId id) {
  const GroundRelation r = relations_[id];
  const bool transitive = r.op == RelationOp::Plus || r.op == RelationOp::Star ||
                          r.op == RelationOp::Co || r.op == RelationOp::So ||
                          r.op == RelationOp::Rt || r.op == RelationOp::Po ||
                          r.op == RelationOp::IdentityOn;
  if (transitive) return id;
  return intern({.op = RelationOp::Plus, .from = r.from, .to = r.to, .left = id});
}

RelationId RelationTable::star(RelationId id) {
  const GroundRelation r = relations_[id];
  if (r.op == RelationOp::Star) return id;
  // r* is kept as identity with r+, so that r+ is computed once for both.
  return intern({.op = RelationOp::Star, .from = r.from, .to = r.to, .left = plus(id)});
}

bool RelationTable::is_order(RelationId id) const {
  const GroundRelation& r = relations_[id];
  return r.op == RelationOp::Co ||
         (r.op == RelationOp::Star && relations_[r.left].op == RelationOp::Co);
}

bool RelationTable::is_costly(RelationId id) const {
  const GroundRelation& r = relations_[id];
  if (r.is_fact || r.left == GroundRelation::kNone) return false;
  if (r.op == RelationOp::Plus) return true;
  if (r.right == GroundRelation::kNone) return is_costly(r.left);
  const bool both_open = !relations_[r.left].is_fact && !relations_[r.right].is_fact;
  return (r.op == RelationOp::Compose && both_open) || is_costly(r.left) || is_costly(r.right);
}

std::vector<std::uint32_t> RelationTable::keys(RelationId id) const {
  std::vector<std::uint32_t> found;
  const auto add = [&](const auto& self, RelationId part) -> void {
    const GroundRelation& r = relations_[part];
    if (r.key != GroundRelation::kNone && std::ranges::find(found, r.key) == found.end())
      found.push_back(r.key);
    if (r.left != GroundRelation::kNone) self(self, r.left);
    if (r.right != GroundRelation::kNone) self(self, r.right);
  };
  add(add, id);
  return found;
}

RelationId RelationTable::with_keys(RelationId id, std::span<const std::uint32_t> from,
                                    std::span<const std::uint32_t> to) {
  GroundRelation r = relations_[id];
  if (r.left == GroundRelation::kNone) {
    const auto place = std::ranges::find(from, r.key);
    if (place != from.end()) r.key = to[static_cast<std::size_t>(place - from.begin())];
    return intern(r);
  }
  const RelationId left = with_keys(r.left, from, to);
  return combine(r.op, r.from, r.to, left,
                 r.right == GroundRelation::kNone ? r.right : with_keys(r.right, from, to));
}

bool RelationTable::mentions(RelationId id, RelationOp name) const {
  const GroundRelation& r = relations_[id];
  return r.op == name || (r.left != GroundRelation::kNone && mentions(r.left, name)) ||
         (r.right != GroundRelation::kNone && mentions(r.right, name));
}

RelationId RelationTable::intern(GroundRelation r) {
  if (r.op == RelationOp::Ar) r.op = RelationOp::Co;
  if (r.op != RelationOp::IdentityOn) r.set = SetName::Writers;
  r.is_fact = r.left == GroundRelation::kNone
                  ? !is_by_witness(r.op)
                  : relations_[r.left].is_fact &&
                        (r.right == GroundRelation::kNone || relations_[r.right].is_fact);
  const auto [place, fresh] = ids_.try_emplace(r, static_cast<RelationId>(relations_.size()));
  if (fresh) relations_.push_back(r);
  return place->second;
}

}  // namespace isoscope
