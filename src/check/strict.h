#pragma once
// Says of a history what was found out about the same history with real time in so and wr
// (history/real_time.h).
#include "history/real_time.h"
#include "verdict/verdict.h"

namespace isoscope {

// Steps over auxiliary transactions become one step: rt over points of the clock, so otherwise.
Violation of_original(const RealTimeHistory& timed, const History& h, Violation violation);
// Without the auxiliary transactions.
Witness of_original(const RealTimeHistory& timed, const History& h, const Witness& witness);

// Does real time stand somewhere in these edges or in their reasons?
bool rests_on_real_time(std::span<const Edge> edges);
// What such a cycle is called.
Anomaly name_real_time(std::span<const Edge> cycle);

}  // namespace isoscope
