#pragma once
// The run that was observed: is it one to predict from?
#include <span>

#include "predict/decode.h"
#include "predict/predict.h"
#include "verdict/verdict.h"

namespace isoscope::predict {

// Do writes of a boundary transaction after its stop count for the level? Under strict, where the
// level looks at who writes a common key; under strict+ always.
bool later_writes_count(const Level& level, Boundary boundary);

// What a level is asked about a candidate: with later writes or without, and with reads of own
// writes where statements have snapshots.
Extent judged_extent(const Level& level, Boundary boundary);

// Leads the cycle through a transaction whose reads have changed.
void lead_through_changes(const History& observed, Prediction& prediction);

// What is told of a history that no serial order explains: if the cycle can be led through one of
// these transactions, it is, so that the explanation shows what has changed.
void lead_through(const History& h, std::span<const TxnId> changed, Violation& violation);

}  // namespace isoscope::predict
