#pragma once
// A violation that `stress` has found, as a plan for `force`: the transactions of its smallest
// part in the sessions that they had, since a cycle may lead through the order of a session. An
// aborted transaction of it plays its reads.
#include <string>

#include "force/stress.h"

namespace isoscope::force {

// `minimal`: what check --minimize would leave. The plan names no order: force plays all of them.
std::string stress_plan(const History& minimal, const StressOptions& options);

}  // namespace isoscope::force
