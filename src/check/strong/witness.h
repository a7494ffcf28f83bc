#pragma once
// Turns the completed graph of a consistent history into the orders that the level asks for.
#include "check/strong/known_graph.h"
#include "history/execution.h"

namespace isoscope::strong {

// pc, si, ser: a commit order; psi, ua: an arbitration order, with the least visibility if the
// history is small enough for a matrix. Requires: graph.sort() succeeded.
Witness make_witness(const KnownGraph& graph);

}  // namespace isoscope::strong
