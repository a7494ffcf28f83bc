#pragma once
// The orders of a witness, as `check --json` and `synth --json` give them.
#include <vector>

#include "history/execution.h"
#include "history/history.h"
#include "report/json.h"

namespace isoscope {

// The transactions' names.
Json order_json(const History& h, const std::vector<TxnId>& order);

// {"co":[…]}, {"co":[…],"snap":[…]} or {"vis":[…],"ar":[…]}, by the framework; "vis" is null where
// its pairs would bury everything else.
Json witness_json(const History& h, const Witness& w);

}  // namespace isoscope
