#include "check/ground/bounds.h"

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
    std::unique_ptr<Bound> made = make(table_[id]);
    bounds_[id] = std::move(made);
  }
  return *bounds_[id];
}

namespace {

// Applies a monotone operation to both bounds, once if they coincide.
template <class Operation>
std::unique_ptr<Bound> lift(Operation&& operation, const Bound& a) {
  auto must = std::make_shared<const BitMatrix>(operation(a.must()));
  if (a.is_exact()) return std::make_unique<Bound>(must, must);
  return std::make_unique<Bound>(must, std::make_shared<const BitMatrix>(operation(a.may())));
}

template <class Operation>
std::unique_ptr<Bound> lift(Operation&& operation, const Bound& a, const Bound& b) {
  auto must = std::make_shared<const BitMatrix>(operation(a.must(), b.must()));
  if (a.is_exact() && b.is_exact()) return std::make_unique<Bound>(must, must);
  return std::make_unique<Bound>(must,
                                 std::make_shared<const BitMatrix>(operation(a.may(), b.may())));
}

}  // namespace

std::unique_ptr<Bound> Bounds::make(const GroundRelation& r) {
  const bool has_key = r.key != GroundRelation::kNone;
  const auto exactly = [](BitMatrix m) { return std::make_unique<Bound>(std::move(m)); };
  const auto shared = [](const Bound& b) {
    return std::make_unique<Bound>(b.shared_must(), b.shared_may());
  };
  const auto united = [](const BitMatrix& a, const BitMatrix& b) { return unite(a, b); };
  const auto intersected = [](const BitMatrix& a, const BitMatrix& b) { return intersect(a, b); };
  switch (r.op) {
    case RelationOp::So:
      return exactly(universe_.so());
    case RelationOp::Rt:
      return exactly(universe_.rt());
    case RelationOp::Po:
      return exactly(universe_.po());
    case RelationOp::Of:
      return exactly(universe_.of());
    case RelationOp::Same:
      return exactly(universe_.same());
    case RelationOp::Waited:
      return exactly(universe_.waited());
    case RelationOp::Snap:
      return shared(witness_.snap);
    case RelationOp::Wr:
      if (r.to == Sort::Read)
        return exactly(has_key ? universe_.wr_to_reads(r.key) : universe_.wr_to_reads());
      return exactly(has_key ? universe_.wr(r.key) : universe_.wr());
    case RelationOp::Co:
    case RelationOp::Ar:
      return shared(witness_.order);
    case RelationOp::Vis:
      return shared(witness_.vis);
    case RelationOp::Ww:
      return lift([&](const BitMatrix& order) { return ww(r, order); }, witness_.order);
    case RelationOp::Rw:
      return lift([&](const BitMatrix& order) { return rw(r, order); }, witness_.order);
    case RelationOp::IdentityOn:
      return exactly(identity_on(r));
    case RelationOp::Union:
      return lift(united, of(r.left), of(r.right));
    case RelationOp::Intersection:
      return lift(intersected, of(r.left), of(r.right));
    case RelationOp::Compose:
      return lift(
          [this](const BitMatrix& a, const BitMatrix& b) { return compose(a, b, &budget_); },
          of(r.left), of(r.right));
    case RelationOp::Difference: {
      const Bound& a = of(r.left);
      const Bound& b = of(r.right);
      auto must = std::make_shared<const BitMatrix>(subtract(a.must(), b.may()));
      if (a.is_exact() && b.is_exact()) return std::make_unique<Bound>(must, must);
      return std::make_unique<Bound>(
          must, std::make_shared<const BitMatrix>(subtract(a.may(), b.must())));
    }
    case RelationOp::Inverse:
      return lift([](const BitMatrix& a) { return a.transposed(); }, of(r.left));
    case RelationOp::Plus: {
      auto closed =
          lift([this](const BitMatrix& a) { return transitive_closure(a, &budget_); }, of(r.left));
      if (closed->is_exact() || !is_within_order(r.left)) return closed;
      return std::make_unique<Bound>(
          closed->shared_must(),
          std::make_shared<const BitMatrix>(intersect(closed->may(), witness_.order.may())));
    }
    case RelationOp::Maybe:
      break;  // gone with the sorts
    case RelationOp::Star: {
      const BitMatrix identity = BitMatrix::identity(universe_.size(r.from));
      return lift([&](const BitMatrix& a) { return unite(a, identity); }, of(r.left));
    }
  }
  ISO_ASSERT(false);
}

bool Bounds::is_within_order(RelationId id) {
  const GroundRelation r = table_[id];
  if (r.from != Sort::Txn || r.to != Sort::Txn) return false;
  if (r.is_fact) {
    const BitMatrix& fact = of(id).must();
    return intersect(fact, witness_.order.must()) == fact;
  }
  switch (r.op) {
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ww:
      return true;
    case RelationOp::Union:
    case RelationOp::Compose:
      return is_within_order(r.left) && is_within_order(r.right);
    case RelationOp::Intersection:
      return is_within_order(r.left) || is_within_order(r.right);
    case RelationOp::Difference:
    case RelationOp::Plus:
      return is_within_order(r.left);
    default:
      return false;
  }
}

BitMatrix Bounds::identity_on(const GroundRelation& r) const {
  BitMatrix m(universe_.num_txns(), universe_.num_txns());
  const auto add = [&](BitRow members) {
    for_each_bit(members, [&](std::size_t a) { m.insert(a, a); });
  };
  switch (r.set) {
    case SetName::Writers:
      add(r.key == GroundRelation::kNone ? universe_.writers().row() : universe_.writers_of(r.key));
      break;
    case SetName::Readers:
      add(universe_.readers().row());
      break;
    case SetName::Aborted:
      add(universe_.aborted().row());
      break;
  }
  return m;
}

BitMatrix Bounds::ww(const GroundRelation& r, const BitMatrix& order) const {
  BitMatrix m(universe_.num_txns(), universe_.num_txns());
  const auto add_key = [&](std::size_t x) {
    const BitRow writers = universe_.writers_of(x);
    for_each_bit(writers, [&](std::size_t a) { m.unite_row(a, writers); });
  };
  if (r.key != GroundRelation::kNone) {
    add_key(r.key);
  } else {
    for (std::size_t x = 0; x < universe_.size(Sort::Key); ++x) add_key(x);
  }
  return intersect(std::move(m), order);
}

BitMatrix Bounds::rw(const GroundRelation& r, const BitMatrix& order) const {
  BitMatrix m(universe_.num_txns(), universe_.num_txns());
  const auto add_read = [&](const Universe::Read& read) {
    if (!universe_.writes(read.writer, read.key)) return;
    BitSet overwriters(universe_.num_txns());
    overwriters.unite(universe_.writers_of(read.key));
    overwriters.intersect(order.row(read.writer));
    overwriters.erase(read.reader);
    m.unite_row(read.reader, overwriters.row());
  };
  if (r.key != GroundRelation::kNone) {
    for (const std::uint32_t i : universe_.reads_of(r.key)) add_read(universe_.reads()[i]);
  } else {
    for (const Universe::Read& read : universe_.reads()) {
      if (!read.is_own) add_read(read);
    }
  }
  return m;
}

}  // namespace isoscope
