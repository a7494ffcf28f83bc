#pragma once
// A forbidden cycle with the fewest edges of all that are known.
//
// The known graph leaves out edges that paths imply. That is right for deciding, but a cycle over
// a path is longer than one over the edge that the path implies. This search takes all edges: so
// between any two transactions of a session, ww wherever the order of two versions is known, rw to
// whatever is known to come after what was read.
//
// They are too many to be listed. But what follows on a chain is a suffix of the chain, so a
// breadth-first search keeps one number a group of versions, the first that was reached, and looks
// at every version once. And most transactions need not be tried: lay all points in one order that
// nearly all edges follow; every cycle has an edge that leads back in that order, and few do.
//
// Cost  As a round of saturation, plus a breadth-first search for every transaction that an edge
//       leads back from, each no deeper than the shortest cycle so far. Cycles of two need none.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/strong/knowledge.h"
#include "support/budget.h"

namespace isoscope::strong {

struct ShorterCycle {
  // Whose rounds say nothing; empty if there is none, or none was found.
  std::vector<KnownEdge> edges;
  bool is_shortest = false;  // false if the search stopped at a limit
};

// Looks at so many versions and transactions before it is content: a second or so.
inline constexpr std::uint64_t kMaxCycleWork = std::uint64_t{1} << 25U;

// A shortest cycle among those with fewer edges than `length`, if there are any.
// Requires: saturate() answered Cycle.
ShorterCycle find_shorter_cycle(const Knowledge& known, std::size_t length, Budget& budget,
                                std::uint64_t max_work = kMaxCycleWork);

}  // namespace isoscope::strong
