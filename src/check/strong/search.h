#pragma once
// Answers the open choices, or finds that no answers stand together.
//
// Each choice is a variable. Conflicts become clauses lazily: guess, look for conflicts, forbid
// them, let the solver answer again, until it finds answers without conflicts or no answers. The
// solver keeps what it learnt between the calls and prefers the answers of the guess.
//
// Where a few calls do not suffice (many sessions, few reads), speculation makes another guess: it
// follows what each answer implies, which the solver cannot see, and most often needs no repair.
//
// Papers  Lazy clauses instead of the solvers with acyclicity built in of [Cobra-OSDI'20] and its
//         successors: after saturation few choices are open, and after the guess few conflicts.
//         Measured on 10,000 to 100,000 transactions of simulated stores, the solver is called up
//         to seven times and gets up to 3,000 clauses, so that encoding all cycles of two or
//         three choices beforehand would cost more than it saves.
#include <cstdint>

#include "check/strong/guess.h"
#include "check/strong/residue.h"
#include "sat/solver.h"
#include "support/budget.h"

namespace isoscope::strong {

struct Search {
  SatResult result = SatResult::Unknown;
  Answers answers;  // if Sat
  std::uint32_t solver_calls = 0;
  std::size_t clauses = 0;
  std::uint32_t restarts = 0;  // of speculation
};

Search search_answers(const Residue& residue, const Guess& guess, Budget& budget,
                      const Progress& progress);

}  // namespace isoscope::strong
