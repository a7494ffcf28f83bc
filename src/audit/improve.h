#pragma once
// Makes a run that shows an anomaly better to look at, without changing what it shows.
#include "audit/replay.h"

namespace isoscope::audit {

// Tries fewer rows, and other numbers for arguments and values at the start, in the hope of a run
// that differs from every serial order in its results, where this one differs in reads only. Same
// calls, same visibility, a cycle of the same length. Deterministic, unless the budget is over:
// then the run stays as it is.
void make_observable(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget);

// Leaves out every row at the start without which the run is worth as much, until the budget is
// over.
void minimize_rows(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget);

// Leaves out every call that prepares, and without which the run is worth as much.
void minimize_calls(const Problem& problem, Scenario& scenario, Replay& run, Budget& budget);

}  // namespace isoscope::audit
