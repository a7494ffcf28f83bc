#pragma once
// Proves, for histories of any size, that one isolation level implies another.
//
// Level A implies level B if every history that satisfies A satisfies B. B asks for a witness, so a
// proof says how to make one from A's:
//
//   SameOrders        B over the same framework: the same co, or the same vis and ar
//   ArbitrationAsCo   A over vis, ar and B over co: co is ar
//   LeastVisibility   B over vis, ar: ar is A's order, vis the least that B's axioms force
//                     (synth/proof_horn.h)
//   LinearExtension   A demands acyclic(r): co is a linear extension of r, which histories have
//                     because they are finite (synth/acyclic.h)
//   ExtendedLeastVisibility   both: ar is a linear extension of r, vis the least along it
//   LeastSnapshots, ExtendedLeastSnapshots   B over co, snap: the same with the least snapshots
//
// Then Z3 is asked for a history that satisfies A by some witness while the constructed one fails a
// demand of B's framework or an axiom of B, demand by demand. "Unsatisfiable" for all of them is
// the proof. Least relations (closures such as hb = (so | wr)+, the least visibility) are beyond
// first-order logic; what a proof needs of them are inclusions in other relations, which are shown
// by induction, each in a query of its own, and then used:
//
//     V ⊆ P     because so and wr are in P, and whatever V's axioms conclude from pairs in both
//               V and P is in P
//
// Closures are compared with each other in this way, too, so that acyclic(r | s) implies
// acyclic(r); and relations that differ only in their spelling have one closure.
//
// Sound     All that is asserted is true of every history with a witness of A: the argument stands
//           beside each formula, in proof_theory.h and proof_translate.h. Tests pin the formulas to
//           random histories with their witnesses, and no implication that a history refutes is
//           proved.
// Complete  No: NotProved says that these constructions and inclusions do not do it. A history may
//           refute the implication, or nothing may.
// Paper     [Isolde-2026] has bounded answers only; the constructions across frameworks are those
//           of its equivalences.
// Scope     Every history, or every one whose statements have a shape. Runs that number their
//           commits are left out where B, over co, snap, asks co to keep to the numbers and A does
//           not: `without_numbers` says so.
// Cost      Below a second for the built-in levels, most of it Z3; bounded in steps of Z3, so the
//           answer is the same on every machine unless the budget expires.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spec/level.h"
#include "support/budget.h"
#include "synth/statement_shape.h"

namespace isoscope {

enum class ProofOutcome : std::uint8_t { Proved, NotProved, Unknown };
std::string_view name_of(ProofOutcome outcome);  // proved, not proved, unknown

enum class Construction : std::uint8_t {
  SameOrders,
  ArbitrationAsCo,
  LeastVisibility,
  LinearExtension,
  ExtendedLeastVisibility,
  LeastSnapshots,
  ExtendedLeastSnapshots
};
// "co is ar", for people.
std::string_view describe(Construction construction);

struct ProofAnswer {
  ProofOutcome outcome = ProofOutcome::Unknown;
  std::optional<Construction> construction = {};  // of Proved: which witness did it
  // Of Proved: level A admits no history in which a transaction reads what another but T0 wrote,
  // so that it implies nearly everything. No built-in level is like that.
  bool vacuous = false;
  // Of Proved: for which histories.
  StatementShape statements = StatementShape::Any;
  bool without_numbers = false;  // for those that do not number their commits
  std::string limit = {};        // of Unknown: what was hit
  std::size_t queries = 0;       // that Z3 answered
  double seconds = 0;
};

// "every history without inserts": for which it is proved.
std::string histories_of(const ProofAnswer& answer);

// Does every history (of the shape, if one of the levels speaks of statements) that satisfies `a`
// satisfy `b`? Unknown only if the budget expires.
ProofAnswer prove_implies(const Level& a, const Level& b, Budget& budget,
                          StatementShape statements = StatementShape::Any);

}  // namespace isoscope
