#pragma once
// Turns formulas into signals, and finds the instances of a quantifier that matter.
//
// A grounder works with given bounds. With those of the encoding, open pairs become gates. With
// the exact bounds of a witness nothing is open, every signal is a constant, and the grounder is an
// evaluator: so the search finds the instances that a witness breaks with the code that grounds.
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/ground/bounds.h"
#include "check/ground/cells.h"
#include "check/ground/meter.h"
#include "check/ground/normal_form.h"
#include "check/ground/relations.h"
#include "check/ground/support.h"
#include "check/ground/universe.h"

namespace isoscope {

// An axiom, and the transactions for which it is required.
struct GroundAxiom {
  const Axiom* axiom = nullptr;
  NormalForm form;
  // What the subject ranges over in a mixture of levels, by slot; absent for everything.
  std::map<int, BitSet> domains;
};

class Grounder {
 public:
  // Told the open conjuncts of an instance; returns false to end the enumeration.
  using Visit = std::function<bool(std::span<const Signal> open)>;
  // A signal that may be true only if the relation has no cycle.
  using AcyclicSignal = std::function<Signal(RelationId)>;

  // Keeps references. `cells` and `acyclic` may be absent if the bounds are exact.
  Grounder(const Universe& universe, RelationTable& table, Bounds& bounds, Circuit& circuit,
           Meter& meter, Cells* cells, AcyclicSignal acyclic)
      : universe_(universe),
        table_(table),
        bounds_(bounds),
        circuit_(circuit),
        meter_(meter),
        cells_(cells),
        acyclic_(std::move(acyclic)) {}

  // All that follows speaks of nodes of this axiom. Unbinds all variables.
  void enter(const GroundAxiom& axiom);
  Binding& binding() { return binding_; }

  // Requires: the free variables of the node are bound.
  Signal ground(const NormalNode& node);
  // Calls `visit` for every binding of the node's variables under which no conjunct is false.
  // Meanwhile binding() holds them.
  void enumerate(const NormalNode& exists, const Visit& visit);
  // Signals that together imply the node under the current binding, all variables of its outermost
  // quantifier included. Costly relations are supported by what holds in a witness in which the
  // node is true; everything else is grounded.
  std::vector<Signal> conjuncts(const NormalNode& exists, Support& support);
  // Does it speak of a costly relation, so that its instances had better wait for a witness?
  bool is_costly(const NormalNode& node);

 private:
  friend class Join;

  Signal ground_atom(const NormalNode& node);
  // Is the atom false whatever the witness? Makes no gate.
  bool is_false(const NormalNode& atom);
  Signal ground_exists(const NormalNode& node);
  Signal ground_acyclic(const NormalNode& node);
  const BitSet* domain(int slot) const;

  const Universe& universe_;
  RelationTable& table_;
  Bounds& bounds_;
  Circuit& circuit_;
  Meter& meter_;
  Cells* cells_;
  AcyclicSignal acyclic_;
  const GroundAxiom* axiom_ = nullptr;
  Binding binding_;
  std::map<std::vector<std::uint32_t>, Signal> known_;  // quantified nodes: id, free variables
};

}  // namespace isoscope
