#pragma once
// The order of statements and commits that makes a run happen, where calls take a snapshot for each
// statement.
//
// A statement begins where its snapshot says: after the last commit that is in it, before the next
// one. Calls commit in the order of ar. Of two calls that lock a row in modes that exclude each
// other the first to commit must have locked it first: its statement begins before the other's,
// which waits, unless the first has committed by then. Who waits goes on after that commit: its
// later snapshots contain it. Points in time and "comes before": there is a schedule iff that has
// no cycle. Runs that need a pause inside a statement, between its snapshot and its first lock,
// have none here, though a server may have them by chance.
#include "audit/replay.h"
#include "support/result.h"

namespace isoscope::audit {

bool has_per_statement(const std::vector<CallTrace>& traces);
// Texts of levels know nothing of them: only a schedule says that the run can be.
bool has_advisory_locks(const std::vector<CallTrace>& traces);

// An error says why there is none: the run cannot be, or not without luck.
Result<std::vector<ScheduleStep>> schedule_of(const Scenario& scenario,
                                              const std::vector<CallTrace>& traces);

}  // namespace isoscope::audit
