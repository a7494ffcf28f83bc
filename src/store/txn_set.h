#pragma once
// A set of the calls of a bounded program.
//
// T0 is in no set: it comes before everything, and code that needs it names it.
#include "graph/id_set.h"
#include "program/executable.h"

namespace isoscope {

template <unsigned kWords>
using TxnSet = IdSet<CallId, kWords>;

}  // namespace isoscope
