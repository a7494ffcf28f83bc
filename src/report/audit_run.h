#pragma once
// The run of an anomaly in the words that all reports share.
//
// Its calls are renumbered to stand in the order of arbitration, so that T1 is the first to take
// effect wherever the run is told: in the text, in the picture, in the history that is written.
#include <string>

#include "audit/search.h"
#include "verdict/verdict.h"

namespace isoscope {

// The same anomaly, with calls[i] the i-th in arbitration; its cycle begins at the first of them,
// and has the kinds of edges of the anomaly rather than others that the same calls have, too.
audit::FoundAnomaly in_arbitration_order(const audit::FoundAnomaly& anomaly);

// "T2", of the second call.
std::string call_name(audit::ScenarioCallId call);

// "lost update between 2 calls of withdraw", "long fork between 2 calls of look and 1 of pay"
std::string headline(const sql::Application& app, const audit::FoundAnomaly& anomaly);

EdgeKind edge_of(audit::EdgeKind kind);

// What the two calls of an edge read and wrote: "T1 read 100, T2 wrote 50", "T1 found no row, T2
// inserted it".
std::string edge_story(const audit::FoundAnomaly& anomaly, const audit::ReplayEdge& edge);

// The value that the edge's call read or wrote at its location, if it did.
const sql::Value* value_read(const audit::FoundAnomaly& anomaly, const audit::ReplayEdge& edge);
const sql::Value* value_written(const audit::FoundAnomaly& anomaly, const audit::ReplayEdge& edge);

}  // namespace isoscope
