#pragma once
// A violation that only a search found, as clauses and a proof that others can check.
//
// Every execution of the history (a commit order; with vis or snapshots where the level speaks of
// them) gives a value to each variable of a propositional formula. Its clauses are of four kinds:
//
//     what makes an order one        no cycle; no visibility against the order
//     instances of the axioms        with what each variable of the axiom stands for
//     definitions                    names for conjunctions
//     what is required               that each axiom holds
//
// Nothing comes from the engine that decided the level: neither edges that it derived nor the
// choices that it ruled out. A DRAT proof shows that the clauses contradict each other. So no
// execution satisfies the level. Clauses that were added on the way, because a model had a cycle or
// broke an instance, are of the same kinds; the log distinguishes them.
//
// The formula is that of check/ground, of the transactions that the violation names if the level
// is one of which a violated part means a violated whole, and else of the whole history. It speaks
// of the history as its text states it: what is searched has been written and read again.
//
// Cost  A second search, mostly of a few transactions, and once more to prove it.
#include <string>

#include "check/check.h"
#include "sat/clause_log.h"

namespace isoscope {

struct SatRefutation {
  std::string history;                   // the text that the clauses speak of
  std::string format;                    // of that text
  bool is_part = false;                  // of the history that was asked about
  std::size_t num_txns = 0;              // besides T0
  std::vector<std::string> levels = {};  // the texts of the levels of its transactions
  ClauseLog log = {};
  std::string proof = {};  // DRAT
};

struct SatCertificate {
  std::optional<SatRefutation> refutation = {};
  std::string limit = {};  // why there is none
};

// Requires: `h` violates the levels, by `violation`, which has no cycle and no fault.
SatCertificate certify_violation(const History& h, const Assignment& levels,
                                 const Violation& violation, Budget& budget);

}  // namespace isoscope
