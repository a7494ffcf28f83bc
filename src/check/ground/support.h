#pragma once
// Why does a relation hold between two elements of a concrete witness? A few variables of the
// encoding, true in that witness, that make it hold in every other witness where they are true.
//
//     (r ; s)(a, b)   one m with r(a, m) and s(m, b): the support of both
//     r+(a, b)        a shortest path: the support of its steps
//
// An instance that a witness breaks can be grounded in two ways. With whole cells (grounder.h) the
// clause speaks of all reasons at once, at the price of their gates. With supports it speaks of one
// reason and costs next to nothing; other reasons come in later rounds. Supports are for relations
// whose cells are costly: closures, and compositions of two relations that both depend on the
// witness.
#include <vector>

#include "check/ground/grounder.h"

namespace isoscope {

class Support {
 public:
  // Keeps references. `known` are the bounds of the encoding, `exact` those of the witness.
  Support(RelationTable& table, Bounds& known, Bounds& exact, Grounder& grounder)
      : table_(table), known_(known), exact_(exact), grounder_(grounder) {}

  // Signals that together imply that the relation holds. Requires: it holds in the witness.
  std::vector<Signal> of(RelationId id, std::size_t a, std::size_t b) {
    std::vector<Signal> signals;
    add(id, a, b, signals);
    return signals;
  }

 private:
  Signal cell(RelationId id, std::size_t a, std::size_t b) {
    return grounder_.cell(id, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  }
  void add(RelationId id, std::size_t a, std::size_t b, std::vector<Signal>& signals);
  void add_composition(const GroundRelation& r, std::size_t a, std::size_t b,
                       std::vector<Signal>& signals);
  void add_path(RelationId step, std::size_t a, std::size_t b, std::vector<Signal>& signals);

  RelationTable& table_;
  Bounds& known_;
  Bounds& exact_;
  Grounder& grounder_;
};

}  // namespace isoscope
