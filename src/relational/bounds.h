#pragma once
// What is known of each relation before the witness is: the pairs it must have and those it may.
//
//     names (so, co, …)   as the engine knows them: LeafBounds
//     r ; s               must(r) ; must(s)  …  may(r) ; may(s)
//     r \ s               must(r) \ may(s)   …  may(r) \ must(s)
//     r+                  if r is part of the order: no more than the order may have
//
// Only pairs between the two bounds need a circuit, and the bounds tell the enumeration of
// quantifiers where not to look. Given the orders of a witness, both bounds of every relation
// coincide, and the same code evaluates a level on that witness.
//
// Cost  Whole matrices, 64 pairs at a time: O(n^3 / 64) for compositions and closures, made when
//       first asked for. A relation of one key costs only its few rows.
//
// Paper  [TorlakJackson-TACAS'07]: partial instances, and a translation that looks at no pair
//        outside the upper bounds.
#include <memory>
#include <vector>

#include "graph/bit_matrix.h"
#include "relational/relation_table.h"

namespace isoscope {

class Bound {
 public:
  using Matrix = std::shared_ptr<const BitMatrix>;

  Bound(Matrix must, Matrix may);
  explicit Bound(BitMatrix exactly);

  const BitMatrix& must() const { return *must_; }
  const BitMatrix& may() const { return *may_; }
  const Matrix& shared_must() const { return must_; }
  const Matrix& shared_may() const { return may_; }
  bool is_exact() const { return must_ == may_; }

  // Made when first asked for.
  const BitMatrix& must_inverse() const;
  const BitMatrix& may_inverse() const;
  const BitSet& may_from() const;  // the domain of may()
  const BitSet& may_to() const;    // the range of may()

 private:
  Matrix must_;
  Matrix may_;  // the same matrix if nothing is open
  mutable std::unique_ptr<BitMatrix> must_inverse_;
  mutable std::unique_ptr<BitMatrix> may_inverse_;
  mutable std::unique_ptr<BitSet> may_from_;
  mutable std::unique_ptr<BitSet> may_to_;
};

// The bounds of what the language names: all relations but those made by operators.
class LeafBounds {
 public:
  LeafBounds() = default;
  LeafBounds(const LeafBounds&) = delete;
  LeafBounds& operator=(const LeafBounds&) = delete;
  virtual ~LeafBounds() = default;

  // How many elements of a sort there are.
  virtual std::size_t size(Sort sort) const = 0;
  virtual Bound of(const GroundRelation& leaf) const = 0;
  // Of co or ar, which is a strict total order in every witness.
  virtual const Bound& order() const = 0;
};

class Bounds {
 public:
  // `facts`, if given, are other bounds over the same elements, which lend the matrices of
  // relations that do not depend on the witness. Keeps references to all arguments. Once the
  // budget expires, bounds are no longer to be trusted.
  Bounds(const LeafBounds& leaves, RelationTable& table, Budget& budget, Bounds* facts = nullptr)
      : leaves_(leaves), table_(table), budget_(budget), facts_(facts) {}

  const Bound& of(RelationId id);
  // Is it part of the order in every witness, as so | wr | ww is? Then it has no cycle. A yes is
  // certain, a no is cautious.
  bool is_within_order(RelationId id);

 private:
  Bound make(const GroundRelation& r);

  const LeafBounds& leaves_;
  RelationTable& table_;
  Budget& budget_;
  Bounds* facts_;
  std::vector<std::unique_ptr<Bound>> bounds_;  // by relation
};

}  // namespace isoscope
