#pragma once
// What a server sees of a call of a .txn program: its accesses, and besides them locks and the
// borders of statements. Engines over formal levels pass over the latter; a trace should have them.
#include <cstdint>
#include <span>
#include <vector>

#include "program/interpreter.h"
#include "program/program.h"

namespace isoscope {

// The steps of a call whose reads of others' writes were answered so, up to its end; reads of own
// writes are left out. Empty if the call has no locks and groups nothing: its accesses are all
// there is.
std::vector<Step> server_steps(const Program& program, CallId call,
                               std::span<const std::int64_t> answers);

}  // namespace isoscope
