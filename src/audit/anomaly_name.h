#pragma once
// What people call a cycle of a replayed run.
#include "audit/replay.h"
#include "verdict/anomaly.h"

namespace isoscope::audit {

// The first of these that the cycle is; None if there is no cycle.
//
//   LostUpdate           two calls, and both read and write the location of an anti-dependency
//   WriteSkew            two calls, and each overwrites what the other read
//   ReadSkew             one anti-dependency
//   DirtyWrite           no anti-dependency
//   LongFork             two writers and two readers, each of whom sees one of the writers and not
//                        the other
//   ReadOnlyAnomaly      some call writes nothing
//   SerializationCycle   any other cycle
Anomaly name_of(const Replay& replay);

}  // namespace isoscope::audit
