#pragma once
// What the texts and the JSON of `predict` share.
#include <algorithm>
#include <vector>

#include "verdict/verdict.h"

namespace isoscope {

// Of the steps that stand behind an edge, those that are inferred themselves: version orders and
// what follows from them. Session order, reads and the initial state need no derivation.
inline std::vector<Edge> inferred(const std::vector<Edge>& path) {
  std::vector<Edge> found;
  for (const Edge& step : path) {
    const bool is_fact = step.kind == EdgeKind::So || step.kind == EdgeKind::Wr ||
                         (step.kind != EdgeKind::Rw && step.read.is_none() && step.path.empty());
    if (!is_fact) found.push_back(step);
  }
  return found;
}

}  // namespace isoscope
