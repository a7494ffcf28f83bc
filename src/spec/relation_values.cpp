#include "spec/relation_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/print.h"
#include "support/assert.h"

namespace isoscope {

int RelationValues::add(const RelationExpr& expression) {
  Node node;
  node.op = expression.op;
  node.from = expression.from;
  node.to = expression.to;
  node.set = expression.set;
  if (expression.key) {
    node.key = expression.key->slot;
    node.keys.push_back(node.key);
  }
  switch (node.op) {
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ar:
    case RelationOp::Snap:
    case RelationOp::Ww:
    case RelationOp::Rw: node.is_fact = false; break;
    case RelationOp::So:
    case RelationOp::Wr:
    case RelationOp::Po:
    case RelationOp::Of:
    case RelationOp::Same:
    case RelationOp::Waited:
    case RelationOp::Rt:
    case RelationOp::IdentityOn:
    case RelationOp::Union:
    case RelationOp::Intersection:
    case RelationOp::Difference:
    case RelationOp::Compose:
    case RelationOp::Inverse:
    case RelationOp::Plus:
    case RelationOp::Star:
    case RelationOp::Maybe: break;  // facts, as far as their parts are
  }
  for (const auto& [part, number] :
       {std::pair{&expression.left, &node.left}, std::pair{&expression.right, &node.right}}) {
    if (*part == nullptr) continue;
    *number = add(**part);
    const Node& added = nodes_[static_cast<std::size_t>(*number)];
    node.is_fact = node.is_fact && added.is_fact;
    node.keys.insert(node.keys.end(), added.keys.begin(), added.keys.end());
  }
  std::sort(node.keys.begin(), node.keys.end());
  node.keys.erase(std::unique(node.keys.begin(), node.keys.end()), node.keys.end());
  node.values.resize(node.keys.size() == 1 ? facts_.history().num_keys() : 1);

  const int number = static_cast<int>(nodes_.size());
  if (node.keys.empty()) {
    const std::string text =
        fmt::format("{} {} {}", name_of(node.from), name_of(node.to), print(expression));
    const auto [known, fresh] = closed_.try_emplace(text, number);
    if (!fresh) return known->second;
  }
  nodes_.push_back(std::move(node));
  return number;
}

void RelationValues::set_orders(const std::vector<TxnId>& order, const Relation* vis,
                                const std::vector<std::uint32_t>* snap) {
  ++witness_;
  order_ = order_relation(order, facts_.size());
  if (snap != nullptr) {
    snap_ = Relation(facts_.size());
    for (std::uint32_t read : facts_.elements(Sort::Read)) {
      for (std::size_t i = 0; i < (*snap)[facts_.event(read).index]; ++i)
        snap_.insert(order[i].index, read);
    }
  }
  if (vis == nullptr) return;
  vis_ = Relation(facts_.size());
  for (std::size_t a = 0; a < vis->size(); ++a)
    vis->for_each_successor(a, [&](std::size_t b) { vis_.insert(a, b); });
}

const Relation& RelationValues::value(int number, const Environment& env) {
  Node& node = nodes_[static_cast<std::size_t>(number)];
  const bool by_key = node.keys.size() == 1;
  Value& value = node.values[by_key ? env[static_cast<std::size_t>(node.keys[0])] : 0];
  if (value.computed_for == kForGood || value.computed_for == witness_) return value.relation;
  compute(node, env, value.relation);
  const bool depends_on_several = node.keys.size() > 1;
  value.computed_for = depends_on_several ? kNever : node.is_fact ? kForGood : witness_;
  return value.relation;
}

void RelationValues::compute(const Node& node, const Environment& env, Relation& out) {
  if (node.left < 0) return compute_leaf(node, env, out);
  const Relation& left = value(node.left, env);
  if (node.right < 0) {
    switch (node.op) {
      case RelationOp::Inverse: out = inverse(left); return;
      case RelationOp::Plus: out = transitive_closure(left, budget_); return;
      case RelationOp::Star:
        out = transitive_closure(left, budget_);
        out |= facts_.identity_on(node.from);
        return;
      default: ISO_ASSERT(false);
    }
  }
  const Relation& right = value(node.right, env);
  if (node.op == RelationOp::Compose) {
    out = compose(left, right, budget_);
    return;
  }
  out = left;
  switch (node.op) {
    case RelationOp::Union: out |= right; return;
    case RelationOp::Intersection: out &= right; return;
    case RelationOp::Difference: out -= right; return;
    default: ISO_ASSERT(false);
  }
}

void RelationValues::compute_leaf(const Node& node, const Environment& env, Relation& out) {
  const bool indexed = node.key >= 0;
  const KeyId x{indexed ? env[static_cast<std::size_t>(node.key)] : 0};
  switch (node.op) {
    case RelationOp::So: out = facts_.so(); return;
    case RelationOp::Po: out = facts_.po(); return;
    case RelationOp::Of: out = facts_.of(); return;
    case RelationOp::Same: out = facts_.same(); return;
    case RelationOp::Waited: out = facts_.waited(); return;
    case RelationOp::Snap: out = snap_; return;
    case RelationOp::Rt: out = facts_.rt(); return;
    case RelationOp::Wr: out = indexed ? facts_.wr(node.to, x) : facts_.wr(node.to); return;
    case RelationOp::Co:
    case RelationOp::Ar: out = order_; return;
    case RelationOp::Vis: out = vis_; return;
    case RelationOp::Ww:
    case RelationOp::Rw: {
      const auto of_key = [&](KeyId y) { return node.op == RelationOp::Ww ? ww(y) : rw(y); };
      if (indexed) {
        out = of_key(x);
        return;
      }
      out = Relation(facts_.size());
      for (KeyId y : facts_.history().keys()) out |= of_key(y);
      return;
    }
    case RelationOp::IdentityOn:
      out = Relation(facts_.size());
      for (std::uint32_t t : facts_.elements(Sort::Txn)) {
        if (indexed ? facts_.writes(t, x.index) : facts_.is_member(t, node.set)) out.insert(t, t);
      }
      return;
    default: ISO_ASSERT(false);
  }
}

Relation RelationValues::ww(KeyId x) const { return facts_.both_write(x) & order_; }

Relation RelationValues::rw(KeyId x) const {
  Relation r = compose(inverse(facts_.wr(Sort::Txn, x)), ww(x), budget_);
  for (std::uint32_t t : facts_.elements(Sort::Txn)) r.erase(t, t);
  return r;
}

}  // namespace isoscope
