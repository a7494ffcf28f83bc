#pragma once
// Decides any level that is given as text: its axioms are instantiated over the history, become
// circuits over the variables of a witness, and a SAT solver looks for the witness.
//
//     level text ──normal form──┐
//     history ──universe────────┴─ instances ── circuit ── SAT ──┬─ orders ── witness
//                  bounds: what must and what may hold           ├─ a cycle, a violated instance:
//                                                                │    one more clause, again
//                                                                └─ none: axiom and core
//
// Facts drive the instantiation: the quantifiers of `wr[x](t1, t3) and writes(t2, x) and …` run
// over the reads and writers that exist, because each relation is bounded from below and above
// before any variable is made (bounds.h, join.h). An axiom with few instances is grounded at once.
// One with many is grounded on demand: each model of what was required so far is a concrete
// witness, the instances that it breaks are found by evaluating the axiom on it, and only those
// become clauses. The same holds for the order's transitivity and for `acyclic`.
//
// Use      for levels that no faster engine knows; any framework, any mixture of levels of one
//          framework whose axioms have a subject.
// Names    as in the level language: so, wr, co, vis, ar.
// Cost     NP-complete in general. Built-in levels, closures such as `(so | ww)+` in premises, and
//          `acyclic`: seconds at several hundred transactions. A closure that is demanded, in a
//          conclusion or by `not acyclic`, is a cubic circuit: about 100 transactions.
#include <cstddef>
#include <span>

#include "history/history.h"
#include "sat/clause_log.h"
#include "spec/level.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope {

struct GroundOptions {
  // Gates and clauses together; at about 100 bytes each the default is a gigabyte.
  std::size_t max_gates = 10'000'000;
  // Bit matrices and tables of pairs grow with the square.
  std::size_t max_transactions = 4'000;
  // Instances of an axiom that are grounded before the first model is asked for; beyond, only those
  // that a model breaks. Zero grounds everything on demand.
  std::size_t eager_instances = 10'000;
  // Up to this many transactions all triples of the order are made transitive at once; beyond, the
  // cycles that a model shows.
  std::size_t eager_transitivity = 48;
  // What may be spent on making a violation small, within the budget.
  double core_seconds = 5;
  Progress progress = {};
  // If set, the clauses and their reasons are written down here, for a certificate.
  ClauseLog* log = nullptr;
};

// Consistent with a witness (over vis, ar with its vis), Violated with `axiom` and `core`, or
// Unknown with the limit that was hit.
//
//   core    transactions that violate the level by themselves (T0 belongs to every part of a
//           history and is not listed), and of which, when tried, no single one could be left out.
//           Where leaving transactions out can create a violation, because an axiom asks for the
//           existence of something, the core explains the whole as well: no witness of the whole
//           history meets the instances about these transactions (core.h).
//   axiom   the first axiom, in the level's order, of a minimal set that the core violates; EXT if
//           the framework's demand on reads over vis, ar has no witness, empty if so, wr and known
//           version orders already have a cycle.
//
// A history with inexcusable reads is Violated with the first of them, whatever the level.
// Requires: all levels of the assignment have the same framework, and in a mixed assignment every
// axiom has a subject.
Verdict check_ground(const History& h, const Assignment& levels, Budget& budget,
                     const GroundOptions& options = {});

// The same question, asked for its clauses: after Violated those of the log contradict each other,
// and say why. The verdict has neither witness nor violation.
Verdict log_refutation(const History& h, const Assignment& levels, Budget& budget, ClauseLog& log);

// Is a whole violated whenever a part of it is, at these levels? A yes is certain, a no is
// cautious.
bool parts_decide(const Assignment& levels);

// A part of a history, with the levels of its transactions.
struct GroundPart {
  History h;
  Assignment levels;
};
// Requires: `keep` is ascending.
GroundPart part_of(const History& h, const Assignment& levels, std::span<const TxnId> keep);

}  // namespace isoscope
