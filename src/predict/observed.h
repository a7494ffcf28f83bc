#pragma once
// The run that was observed: is it one to predict from?
#include <span>

#include "predict/predict.h"
#include "verdict/verdict.h"

namespace isoscope::predict {

// ser, as it is built in.
const Level& serializable_level();

// What is told of a history that no serial order explains: if the cycle can be led through one of
// these transactions, it is, so that the explanation shows what has changed.
void lead_through(const History& h, std::span<const TxnId> changed, Violation& violation);

}  // namespace isoscope::predict
