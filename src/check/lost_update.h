#pragma once
// The plainest violation of all: two transactions read one version of a key, and both overwrite it.
//
// Saturation may run into some longer cycle first, and a reader of reports should not have to see
// through that.
//
// Cost  O(events) time and memory.
#include <vector>

#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope {

// A cycle t -rw-> u -rw-> t on one key, which ser forbids; empty if there is no such pair. The
// pair that is complete first in the order of the file.
std::vector<Edge> find_lost_update(const History& h);

}  // namespace isoscope
