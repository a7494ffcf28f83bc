#include "check/ground/history_bounds.h"

#include <memory>
#include <utility>

#include "support/assert.h"

namespace isoscope {

Bound HistoryBounds::of(const GroundRelation& leaf) const {
  const bool has_key = leaf.key != GroundRelation::kNone;
  const auto shared = [](const Bound& b) { return Bound(b.shared_must(), b.shared_may()); };
  const auto by_order =
      [&](BitMatrix (HistoryBounds::*make)(const GroundRelation&, const BitMatrix&) const) {
        auto must = std::make_shared<const BitMatrix>((this->*make)(leaf, order().must()));
        if (order().is_exact()) return Bound(must, must);
        return Bound(must, std::make_shared<const BitMatrix>((this->*make)(leaf, order().may())));
      };
  switch (leaf.op) {
    case RelationOp::So: return Bound(universe_.so());
    case RelationOp::Rt: return Bound(universe_.rt());
    case RelationOp::Po: return Bound(universe_.po());
    case RelationOp::Of: return Bound(universe_.of());
    case RelationOp::Same: return Bound(universe_.same());
    case RelationOp::Waited: return Bound(universe_.waited());
    case RelationOp::Wr:
      if (leaf.to == Sort::Read)
        return Bound(has_key ? universe_.wr_to_reads(leaf.key) : universe_.wr_to_reads());
      return Bound(has_key ? universe_.wr(leaf.key) : universe_.wr());
    case RelationOp::IdentityOn: return Bound(identity_on(leaf));
    case RelationOp::Co: return shared(witness_.order);
    case RelationOp::Vis: return shared(witness_.vis);
    case RelationOp::Snap: return shared(witness_.snap);
    case RelationOp::Ww: return by_order(&HistoryBounds::ww);
    case RelationOp::Rw: return by_order(&HistoryBounds::rw);
    default: ISO_ASSERT(false);
  }
}

BitMatrix HistoryBounds::identity_on(const GroundRelation& r) const {
  BitMatrix m(universe_.num_txns(), universe_.num_txns());
  const auto add = [&](BitRow members) {
    for_each_bit(members, [&](std::size_t a) { m.insert(a, a); });
  };
  switch (r.set) {
    case SetName::Writers:
      add(r.key == GroundRelation::kNone ? universe_.writers().row() : universe_.writers_of(r.key));
      break;
    case SetName::Readers: add(universe_.readers().row()); break;
    case SetName::Aborted: add(universe_.aborted().row()); break;
  }
  return m;
}

BitMatrix HistoryBounds::ww(const GroundRelation& r, const BitMatrix& order) const {
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

BitMatrix HistoryBounds::rw(const GroundRelation& r, const BitMatrix& order) const {
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
