#pragma once
// The order of statements and commits that makes a run happen on PostgreSQL.
//
// A statement begins where its snapshot says: after the last commit that is in it, before the next
// one. A call that keeps one snapshot takes it with its first statement; where that has no order,
// some time before, as a client does that begins with another statement. Calls commit in the order
// of ar. Of two calls that lock a row in modes that exclude each other the first to commit must
// have locked it first: its statement begins before the other's, which waits, unless the first has
// committed by then. So it is with a UNIQUE value that is taken after another call took or freed
// it, and DO NOTHING that finds a key comes before whoever frees it. Who waits goes on after that
// commit: its later snapshots contain it. Points in time and "comes before": there is a schedule
// iff that has no cycle. Runs that need a pause inside a statement, between its snapshot and its
// first lock, have none here, though a server may have them by chance.
#include "audit/replay.h"
#include "support/result.h"

namespace isoscope::audit {

bool has_per_statement(const Traces& traces);
// What a call does depends on when its statements begin, and not on what it sees alone: it takes a
// snapshot for each, or takes an advisory lock, or finds a key by DO NOTHING.
bool shows_its_order(const Traces& traces);

// An error says why there is none: the run cannot be, or not without luck.
Result<std::vector<ScheduleStep>> schedule_of(const Scenario& scenario, const Traces& traces);

}  // namespace isoscope::audit
