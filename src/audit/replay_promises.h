#pragma once
// What a run owes to others than the text of its level: keys that only one row has, foreign keys,
// locks, and pairs of functions that see each other.
#include <string>

#include "audit/replay.h"
#include "audit/replay_view.h"

namespace isoscope::audit {

// The first that is not kept; empty if all are.
std::string broken_promise(const Problem& problem, const Scenario& scenario,
                           const Versions& versions);

}  // namespace isoscope::audit
