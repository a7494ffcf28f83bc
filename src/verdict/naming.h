#pragma once
// Gives a cycle its common name.
#include <span>

#include "history/history.h"
#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

// The weakest of the strong logics under which the cycle and the reasons of its forced edges hold;
// `found_by` if none is weaker. A version order that only serializability forces, say, does not
// make a lost update.
Logic weakest_forbidding(const History& h, Logic found_by, std::span<const Edge> cycle);

// The name of a violating cycle. `weakest` is the weakest logic known to forbid it: the same
// edges are a fractured read where ra already fails, a causality violation where only cc does.
Anomaly name_cycle(const History& h, Logic weakest, std::span<const Edge> cycle);

}  // namespace isoscope
