#pragma once
// All that saturation finds out: the known graph and the known part of the version orders.
#include <cstdint>
#include <vector>

#include "check/strong/known_graph.h"
#include "check/strong/version_order.h"

namespace isoscope::strong {

struct Knowledge {
  KnownGraph graph;
  VersionOrder order;
  std::uint32_t rounds = 0;   // begun so far; at ua, each order that is forced counts as one
  bool is_saturated = false;  // does nothing more follow?
  // psi, ua: known rw edges that a known path (in ua, an edge) leads back over. Some of them, if
  // there are any.
  std::vector<KnownEdge> returned;

  Knowledge(const Facts& facts, StrongLevel level)
      : graph(facts, level), order(facts, level == StrongLevel::Ua) {}
};

}  // namespace isoscope::strong
