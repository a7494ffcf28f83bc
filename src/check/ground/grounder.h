#pragma once
// The relational core over one history: formulas as signals, and the instances of a quantifier that
// matter.
//
// A grounder works with given bounds. With those of the encoding, open pairs become gates over the
// variables of the witness. With the exact bounds of a witness nothing is open, every signal is a
// constant, and the grounder is an evaluator: so the search finds the instances that a witness
// breaks with the code that grounds.
//
// The order is transitive in every witness. So `(co ; s)(a, b)` needs only those m in the middle
// that no other m' with a certain s(m', b) is known to follow: co(a, m) implies co(a, m').
//
// A closure r+ is built whole, on signals: about 2 n^3 gates if nothing is known, exact for every
// use.
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/ground/encode.h"
#include "check/ground/meter.h"
#include "check/ground/universe.h"
#include "relational/bounds.h"
#include "relational/translator.h"

namespace isoscope {

class Support;

// An axiom, and the transactions for which it is required.
struct GroundAxiom {
  const Axiom* axiom = nullptr;
  NormalForm form;
  // What the subject ranges over in a mixture of levels, by slot; absent for everything.
  std::map<int, BitSet> domains;
};

class Grounder : public Translator<Grounder, Signals> {
 public:
  // Called with the open conjuncts of an instance; returns false to end the enumeration.
  using Visit = std::function<bool(std::span<const Signal> open)>;
  // A signal that may be true only if the relation has no cycle.
  using AcyclicSignal = std::function<Signal(RelationId)>;

  // Keeps references. `encoding` and `acyclic` may be absent if the bounds are exact.
  Grounder(const Universe& universe, RelationTable& table, Bounds& bounds, Circuit& circuit,
           Meter& meter, Encoding* encoding, AcyclicSignal acyclic)
      : Translator({circuit}, table),
        universe_(universe),
        bounds_(bounds),
        meter_(meter),
        encoding_(encoding),
        acyclic_(std::move(acyclic)) {}

  // All that follows speaks of nodes of this axiom. Unbinds all variables.
  void enter(const GroundAxiom& axiom);

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
  friend class Translator<Grounder, Signals>;
  friend class Join;
  using Matrix = std::vector<Signal>;  // row by row

  // The structure of the core.
  std::optional<bool> decided(RelationId id, Element a, Element b);
  Signal leaf(const GroundRelation& r, Element a, Element b);
  Signal atom(const NormalNode& node, Element a, Element b);
  static Signal identity(Sort, Element a, Element b) { return Signal::constant(a == b); }
  Signal compose(const GroundRelation& r, Element a, Element b);
  Signal closure(RelationId plus, Element a, Element b);
  Signal exists(const NormalNode& node);
  Signal acyclic(RelationId r);
  bool keeps(RelationId id) const;

  // Is the atom false whatever the witness? Makes no gate.
  bool is_false(const NormalNode& atom);
  Signal rw(const GroundRelation& r, Element a, Element b);
  Matrix closed(RelationId plus);
  bool is_the_order(RelationId r, const Bound& base, const Matrix& m);
  const BitSet* domain(int slot) const;

  const Universe& universe_;
  Bounds& bounds_;
  Meter& meter_;
  Encoding* encoding_;
  AcyclicSignal acyclic_;
  const GroundAxiom* axiom_ = nullptr;
  std::map<std::vector<std::uint32_t>, Signal> known_;  // quantified nodes: id, free variables
  std::unordered_map<RelationId, Matrix> closures_;
};

}  // namespace isoscope
