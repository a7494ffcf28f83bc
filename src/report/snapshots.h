#pragma once
// Cycles of commits and snapshots in words; part of report/explain.h.
#include <functional>
#include <string>

#include "history/execution.h"
#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope {

// Does the edge lead to or from a snapshot, or say who held a lock first?
bool is_about_points(const Edge& edge);
bool is_about_points(const Violation& violation);

// "T2's second statement already saw T3, so its third must see T1, yet it reads y from T0".
// Requires: is_about_points().
std::string explain_points(const History& h, const Violation& violation);
std::string why_points(const History& h, const Edge& edge);

// Calls `visit` with each statement that reads, counted from 1 in its transaction, and the last
// transaction in its snapshot. Requires: a witness over co, snap.
void for_each_snapshot(
    const History& h, const Witness& w,
    const std::function<void(TxnId t, std::uint32_t statement, TxnId last)>& visit);

}  // namespace isoscope
