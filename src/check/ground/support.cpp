#include "check/ground/support.h"

#include "support/assert.h"

namespace isoscope {

void Support::add(RelationId id, std::size_t a, std::size_t b, std::vector<Signal>& signals) {
  if (known_.of(id).must().contains(a, b)) return;
  const GroundRelation r = table_[id];
  switch (r.op) {
    case RelationOp::Union: {
      // The left part, unless it does not hold or the right one is certain.
      const bool left =
          exact_.of(r.left).must().contains(a, b) && !known_.of(r.right).must().contains(a, b);
      return add(left ? r.left : r.right, a, b, signals);
    }
    case RelationOp::Intersection: add(r.left, a, b, signals); return add(r.right, a, b, signals);
    case RelationOp::Difference:
      add(r.left, a, b, signals);
      signals.push_back(!cell(r.right, a, b));
      return;
    case RelationOp::Inverse: return add(r.left, b, a, signals);
    case RelationOp::Star: return add(r.left, a, b, signals);  // a pair of equals is certain
    case RelationOp::Plus: return add_path(r.left, a, b, signals);
    case RelationOp::Compose: return add_composition(r, a, b, signals);
    default: signals.push_back(cell(id, a, b));
  }
}

void Support::add_composition(const GroundRelation& r, std::size_t a, std::size_t b,
                              std::vector<Signal>& signals) {
  const Bound& left = exact_.of(r.left);
  const Bound& right = exact_.of(r.right);
  BitSet middle(left.must().columns());
  middle.unite(left.must().row(a));
  middle.intersect(right.must_inverse().row(b));
  // An element for which one half is certain gives the shorter clause.
  BitSet certain = middle;
  certain.intersect(known_.of(r.left).must().row(a));
  if (certain.empty()) {
    certain = middle;
    certain.intersect(known_.of(r.right).must_inverse().row(b));
  }
  const BitSet& choice = certain.empty() ? middle : certain;
  std::size_t chosen = left.must().columns();
  for_each_bit(choice.row(), [&](std::size_t m) {
    if (chosen == left.must().columns()) chosen = m;
  });
  ISO_ASSERT(chosen < left.must().columns());
  add(r.left, a, chosen, signals);
  add(r.right, chosen, b, signals);
}

void Support::add_path(RelationId step, std::size_t a, std::size_t b,
                       std::vector<Signal>& signals) {
  const BitMatrix& r = exact_.of(step).must();
  const std::size_t n = r.rows();
  std::vector<std::size_t> previous(n, n);
  BitSet unseen = BitSet::full(n);
  std::vector<std::size_t> queue = {a};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t at = queue[head];
    if (r.contains(at, b)) {
      add(step, at, b, signals);
      for (std::size_t m = at; m != a; m = previous[m]) add(step, previous[m], m, signals);
      return;
    }
    BitSet next = unseen;
    next.intersect(r.row(at));
    next.erase(a);
    unseen.subtract(next.row());
    for_each_bit(next.row(), [&](std::size_t m) {
      previous[m] = at;
      queue.push_back(m);
    });
  }
  ISO_ASSERT(false);
}

}  // namespace isoscope
