#pragma once
// Acts out the script of an anomaly in the middle of a run.
#include "generate/injection.h"
#include "generate/recorder.h"
#include "generate/workload.h"
#include "support/result.h"

namespace isoscope::simulation {

// Records the script's transactions, in its order, with keys that no workload draws, fresh values
// and neighbouring sessions from a random one on. Requires: the store is quiescent.
Result<void> inject(const Injection& injection, Workload& workload, Recorder& recorder);

}  // namespace isoscope::simulation
