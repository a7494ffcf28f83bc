#pragma once
// The same violation, explained by plainer edges.
#include <vector>

#include "verdict/logic.h"
#include "verdict/verdict.h"

namespace isoscope {

// A version-order edge that follows from a single edge is replaced by that, as long as the logic
// still forbids the cycle, which gets no longer: "T1 -ww-> T2 -ww-> T1, because each missed the
// other" becomes "T1 -ww-> T2 -rw-> T1". Facts stay; the cycle visits no transaction twice.
std::vector<Edge> simplify(Logic logic, std::vector<Edge> cycle);

}  // namespace isoscope
