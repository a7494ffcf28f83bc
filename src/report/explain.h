#pragma once
// Verdicts in words: one sentence for the whole, one for each edge.
#include <string>

#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope {

// "T2 overwrites x without having seen T1's update". No full stop, no anomaly name.
std::string explanation(const History& h, const Violation& violation);

// Why the edge holds: "T2 reads x = 5 from T1 (line 4)".
std::string why(const History& h, const Edge& edge);

// The event as the text format writes it: r(x,5).
std::string show_event(const History& h, EventId e);

// "line 4", or "line 4:7" where a line holds several events.
std::string where(const History& h, EventId e);

}  // namespace isoscope
