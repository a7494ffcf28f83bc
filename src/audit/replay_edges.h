#pragma once
// Which calls of a run depend on each other, and by what.
#include <vector>

#include "audit/replay.h"
#include "audit/replay_view.h"

namespace isoscope::audit {

// Between calls of the cycle, one for each location.
std::vector<ReplayEdge> edges_of(const Scenario& scenario, const Versions& versions,
                                 Conflicts conflicts);
// A shortest cycle, by trying every start; empty if there is none.
std::vector<ReplayEdge> cycle_of(const Scenario& scenario, const std::vector<ReplayEdge>& edges);

}  // namespace isoscope::audit
