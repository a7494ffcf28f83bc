#pragma once
// How a history is decided, and what a consistent one shows for it.
#include <memory>
#include <optional>
#include <string>

#include "check/strong/knowledge.h"
#include "check/strong/strong.h"
#include "history/execution.h"
#include "support/budget.h"
#include "verdict/verdict.h"

namespace isoscope::strong {

// The pipeline of the strong checkers: facts, saturation, the choices that are left, search.
//
// Says how it came out and hands over what was found, for others to turn into a witness (the
// completed graph) or an explanation (the contradictory knowledge).

struct Decision {
  Outcome outcome = Outcome::Unknown;
  std::unique_ptr<Facts> facts;  // which the graphs below refer to
  // If Violated by saturation: what contradicts itself. Nothing if only the search refuted it.
  std::unique_ptr<Knowledge> contradiction;
  // If Consistent: the known edges and those of the answers, sorted.
  std::unique_ptr<KnownGraph> completed;
  std::string limit;  // if Unknown
  Stats stats;
};

Decision decide(const History& h, StrongLevel level, Budget& budget, const StrongOptions& options);

// Turns the completed graph of a consistent history into the orders that the level asks for.

// pc, si, ser: a commit order; psi, ua: an arbitration order, with the least visibility if the
// history is small enough for a matrix. Requires: graph.sort() succeeded.
Witness make_witness(const KnownGraph& graph);

}  // namespace isoscope::strong
