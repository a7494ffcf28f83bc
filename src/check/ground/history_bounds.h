#pragma once
// What a history states of the named relations: facts exactly, and those of a witness as far as its
// orders are known.
//
//     so, wr, po, [S]     exactly known, as are of, same, waited
//     the order           must: what facts force (T0 first, so, wr, version orders, closed);
//                         may: everything but its opposite
//     ww, rw              as the order, between writers, from readers to overwriters
//
// Cost  A relation of one key costs only its few rows.
#include "check/ground/universe.h"
#include "relational/bounds.h"

namespace isoscope {

// The bounds of the witness: of co, of ar and vis, or of co and snap (transactions to reads).
struct WitnessBounds {
  Bound order;
  Bound vis;
  Bound snap;
};

class HistoryBounds final : public LeafBounds {
 public:
  // Keeps references.
  HistoryBounds(const Universe& universe, const WitnessBounds& witness)
      : universe_(universe), witness_(witness) {}

  std::size_t size(Sort sort) const override { return universe_.size(sort); }
  Bound of(const GroundRelation& leaf) const override;
  const Bound& order() const override { return witness_.order; }

 private:
  BitMatrix identity_on(const GroundRelation& r) const;
  BitMatrix ww(const GroundRelation& r, const BitMatrix& order) const;
  BitMatrix rw(const GroundRelation& r, const BitMatrix& order) const;

  const Universe& universe_;
  const WitnessBounds& witness_;
};

}  // namespace isoscope
