#pragma once
// The ids of what is played on a server. Each is a position in a dense table.
//
//     actor 0 (session a)   statement 0 = setup   statement 1 = step 0   statement 2 = step 1 …
//     actor 1 (session b)   …
//
// Who takes turns is an actor, whatever it is: a session of a specification, plan or probe (session
// n is actor n), a command of the user's, a random client, a call of an application.
#include "support/by_id.h"

namespace isoscope::force {

using ActorId = Id<struct ActorTag>;      // on one stage
using StatementId = Id<struct SentTag>;   // of one actor, as they are sent: one for each turn
using StepId = Id<struct StepTag>;        // of one session of a specification
using RequestId = Id<struct RequestTag>;  // of one command; several turns may be one request
using AppCallId = Id<struct AppCallTag>;  // of an application, session by session
using AppSessionId = Id<struct AppSessionTag>;
using InnerId = Id<struct InnerTag>;          // a statement inside of a gated function
using ProbeTxn = Id<struct ProbeTxnTag>;      // of one session of a probe
using ProbeOpId = Id<struct ProbeOpTag>;      // the same
using ProbeReadId = Id<struct ProbeReadTag>;  // the same: its operations that read
using StressRow = Id<struct StressRowTag>;

// Turns of actors, one after the other: each sends the next statement of its actor.
using Turns = std::vector<ActorId>;

}  // namespace isoscope::force
