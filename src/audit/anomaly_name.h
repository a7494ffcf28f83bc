#pragma once
// What people call a cycle of a replayed run.
#include "audit/replay.h"
#include "verdict/anomaly.h"

namespace isoscope::audit {

// Lost update: two calls read and write one location, neither seeing the other. Write skew: two
// calls each overwrite what the other read. Long fork: two calls that see two writers in opposite
// orders. Read-only anomaly: a call of the cycle writes nothing, and the others would be all right
// without it. Read skew: any other cycle with one anti-dependency. None if there is no cycle.
Anomaly name_of(const Scenario& scenario, const Replay& replay);

}  // namespace isoscope::audit
