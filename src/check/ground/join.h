#pragma once
// Enumerates the bindings of a quantifier under which no conjunct is certainly false.
//
// Each variable has a domain: the values that the conjuncts still allow. Binding one variable
// narrows the domains of those that share an atom with it: after t3 := T7, `wr[x](t1, t3)` leaves
// for x the keys that T7 reads, and for t1 the transactions it reads from. The variable with the
// smallest domain is bound next, so the loops run over what is rare: reads from a transaction
// before all transactions, writers of a key before all keys.
//
// This is forward checking as constraint solvers do it, on bit sets; a domain is cut down by one
// row of a bound, 64 values at a time.
#include <cstdint>
#include <vector>

#include "check/ground/grounder.h"

namespace isoscope {

class Join {
 public:
  // Requires: the free variables of the node are bound in grounder.binding().
  Join(Grounder& grounder, const NormalNode& exists, const Grounder::Visit& visit);
  void run();

 private:
  using Domains = std::vector<BitSet>;  // by variable of the node

  bool is_bound(int slot) const {
    return grounder_.binding_[static_cast<std::size_t>(slot)] != kUnbound;
  }
  std::uint32_t value(int slot) const { return grounder_.binding_[static_cast<std::size_t>(slot)]; }
  bool is_fully_bound(const NormalNode& node) const;

  // Binds one more variable in all ways; false to end the enumeration.
  bool descend(std::size_t depth);
  bool visit_instance();
  // Draws the consequences of what is bound for the conjuncts that mention `slot`, or for all if
  // it is negative; false if one of them is false or a domain is empty.
  bool propagate(int slot, Domains& domains);
  // Narrows the domain of a variable to what the atom allows.
  void revise(const NormalNode& atom, const Variable& v, BitSet& domain) const;
  void narrow_by(const Bound& bound, const NormalNode& atom, const Variable& v,
                 BitSet& domain) const;
  void revise_member(const NormalNode& atom, const Variable& v, BitSet& domain) const;
  void revise_key(const NormalNode& atom, const Variable& v, BitSet& domain) const;

  Grounder& grounder_;
  const NormalNode& node_;
  const Grounder::Visit& visit_;
  std::vector<Domains> stack_;  // by depth
  std::vector<Signal>
      open_;  // conjuncts without atoms of their own that are neither true nor false
};

}  // namespace isoscope
