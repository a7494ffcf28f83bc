#pragma once
// Does a relation hold between two elements? As a signal over the variables of the witness.
//
// A pair outside the bounds is a constant. Others are built from the pairs of the operands when
// they are first asked for, so that of a composition only the needed pairs cost gates:
//
//     (r ; s)(a, b)  =  or over m:  r(a, m) and s(m, b)
//
// The order is transitive in every witness. So `(co ; s)(a, b)` needs only those m that no other
// m' with a certain s(m', b) is known to follow: co(a, m) implies co(a, m').
//
// A closure r+ is built whole, by eliminating one element after the other as Warshall's algorithm
// does, on signals: about 2 n^3 gates if nothing is known, exact for every use.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "check/ground/bounds.h"
#include "check/ground/encode.h"
#include "check/ground/meter.h"
#include "check/ground/relations.h"
#include "sat/circuit.h"

namespace isoscope {

class Cells {
 public:
  // Keeps references. `bounds` are those of the encoding.
  Cells(Encoding& encoding, RelationTable& table, Bounds& bounds, Circuit& circuit, Meter& meter)
      : encoding_(encoding), table_(table), bounds_(bounds), circuit_(circuit), meter_(meter) {}

  Signal cell(RelationId id, std::size_t a, std::size_t b);

 private:
  using Matrix = std::vector<Signal>;  // row by row

  Signal make(const GroundRelation& r, std::size_t a, std::size_t b);
  Signal rw(const GroundRelation& r, std::size_t a, std::size_t b);
  Signal compose(const GroundRelation& r, std::size_t a, std::size_t b);
  const Matrix& closure(RelationId plus);
  bool is_the_order(RelationId r, const Bound& base, const Matrix& m);
  void eliminate(Matrix& m, const BitMatrix& may, std::size_t pivot);

  Encoding& encoding_;
  RelationTable& table_;
  Bounds& bounds_;
  Circuit& circuit_;
  Meter& meter_;
  std::unordered_map<RelationId, std::unordered_map<std::uint64_t, Signal>> made_;
  std::unordered_map<RelationId, Matrix> closures_;
};

}  // namespace isoscope
