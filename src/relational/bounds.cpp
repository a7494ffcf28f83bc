#include "relational/bounds.h"

#include <utility>

#include "support/assert.h"

namespace isoscope {

Bound::Bound(Matrix must, Matrix may) : must_(std::move(must)), may_(std::move(may)) {
  if (must_ != may_ && *must_ == *may_) may_ = must_;
}

Bound::Bound(BitMatrix exactly)
    : must_(std::make_shared<BitMatrix>(std::move(exactly))), may_(must_) {}

const BitMatrix& Bound::must_inverse() const {
  if (!must_inverse_) must_inverse_ = std::make_unique<BitMatrix>(must_->transposed());
  return *must_inverse_;
}

const BitMatrix& Bound::may_inverse() const {
  if (is_exact()) return must_inverse();
  if (!may_inverse_) may_inverse_ = std::make_unique<BitMatrix>(may_->transposed());
  return *may_inverse_;
}

const BitSet& Bound::may_from() const {
  if (!may_from_) may_from_ = std::make_unique<BitSet>(may_->nonempty_rows());
  return *may_from_;
}

const BitSet& Bound::may_to() const {
  if (!may_to_) may_to_ = std::make_unique<BitSet>(may_inverse().nonempty_rows());
  return *may_to_;
}

const Bound& Bounds::of(RelationId id) {
  if (facts_ != nullptr && table_[id].is_fact) return facts_->of(id);
  if (bounds_.size() <= id) bounds_.resize(table_.size());
  if (bounds_[id] == nullptr) {
    // Making it may enlarge the table of bounds, so the place is looked up again.
    auto made = std::make_unique<Bound>(make(table_[id]));
    bounds_[id] = std::move(made);
  }
  return *bounds_[id];
}

namespace {

// Applies a monotone operation to both bounds, once if they coincide.
template <class Operation, class... Operands>
Bound lift(Operation&& operation, const Operands&... operands) {
  auto must = std::make_shared<const BitMatrix>(operation(operands.must()...));
  if ((operands.is_exact() && ...)) return {must, must};
  return {must, std::make_shared<const BitMatrix>(operation(operands.may()...))};
}

}  // namespace

Bound Bounds::make(const GroundRelation& r) {
  switch (r.op) {
    case RelationOp::Union:
      return lift([](const BitMatrix& a, const BitMatrix& b) { return unite(a, b); }, of(r.left),
                  of(r.right));
    case RelationOp::Intersection:
      return lift([](const BitMatrix& a, const BitMatrix& b) { return intersect(a, b); },
                  of(r.left), of(r.right));
    case RelationOp::Compose:
      return lift(
          [this](const BitMatrix& a, const BitMatrix& b) { return compose(a, b, &budget_); },
          of(r.left), of(r.right));
    case RelationOp::Difference: {
      const Bound& a = of(r.left);
      const Bound& b = of(r.right);
      auto must = std::make_shared<const BitMatrix>(subtract(a.must(), b.may()));
      if (a.is_exact() && b.is_exact()) return {must, must};
      return {must, std::make_shared<const BitMatrix>(subtract(a.may(), b.must()))};
    }
    case RelationOp::Inverse:
      return lift([](const BitMatrix& a) { return a.transposed(); }, of(r.left));
    case RelationOp::Plus: {
      Bound closed =
          lift([this](const BitMatrix& a) { return transitive_closure(a, &budget_); }, of(r.left));
      if (closed.is_exact() || !is_within_order(r.left)) return closed;
      return {closed.shared_must(),
              std::make_shared<const BitMatrix>(intersect(closed.may(), leaves_.order().may()))};
    }
    case RelationOp::Star: {
      const BitMatrix identity = BitMatrix::identity(leaves_.size(r.from));
      return lift([&](const BitMatrix& a) { return unite(a, identity); }, of(r.left));
    }
    default: ISO_ASSERT(r.left == GroundRelation::kNone); return leaves_.of(r);
  }
}

bool Bounds::is_within_order(RelationId id) {
  const GroundRelation r = table_[id];
  if (r.from != Sort::Txn || r.to != Sort::Txn) return false;
  if (r.is_fact) {
    const BitMatrix& fact = of(id).must();
    return intersect(fact, leaves_.order().must()) == fact;
  }
  switch (r.op) {
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ww: return true;
    case RelationOp::Union:
    case RelationOp::Compose: return is_within_order(r.left) && is_within_order(r.right);
    case RelationOp::Intersection: return is_within_order(r.left) || is_within_order(r.right);
    case RelationOp::Difference:
    case RelationOp::Plus: return is_within_order(r.left);
    default: return false;
  }
}

}  // namespace isoscope
