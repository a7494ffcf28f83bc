#pragma once
// Follows what the facts force about version orders, round by round, until nothing is new.
//
// A writer b of x comes before another writer a if the opposite, with the edges that it implies,
// would close a cycle with what is known:
//
//     b ---> ... ---> a                       ww(a, b) would close it     (ordered)
//     b ---> ... ---> r, which reads x from a     rw(r, b) would close it     (overtaken)
//
// Then ww(b, a) is known, and rw(r', a) for every reader r' of b's x. A round computes clocks,
// asks these two questions for every version and every group of its key, and adds the edges that
// known paths do not imply already. Of a group, the last version that comes before stands for
// all; of the readers on one chain, the last one.
//
// For ua, a path says only that nothing precedes itself; direct.h has the rest.
//
// Papers  The saturation of [BiswasEnea-OOPSLA'19] and the pruning of polygraphs in
//         [Cobra-OSDI'20] are this one idea, with different edges. Differs: clocks by
//         chain answer for all pairs of a version and a group at once, so the cost of a round
//         does not depend on the number of pairs.
// Cost    A round takes O(edges × chains + versions × groups × (1 + readers)); a few rounds.
#include <cstddef>
#include <cstdint>

#include "check/strong/clocks.h"
#include "check/strong/knowledge.h"
#include "support/budget.h"

namespace isoscope::strong {

enum class Saturated : std::uint8_t {
  Fixpoint,  // the graph is sorted, and nothing more follows
  Paused,    // the graph is sorted, and max_rounds have been run
  Cycle,     // the known graph has a cycle, or known.returned is set
  OutOfTime,
};

struct SaturationOptions {
  bool facts_only = false;  // look for a cycle of facts, derive nothing
  std::size_t max_clock_numbers = kMaxClockNumbers;
  std::uint32_t max_rounds = ~std::uint32_t{0};
  Progress progress = {};
};

// Adds what is known of versions from the start: T0 before all others, known version orders, and
// the versions of each chain one after the other.
void add_version_facts(Knowledge& known);

// Requires: add_version_facts was called.
Saturated saturate(Knowledge& known, Budget& budget, const SaturationOptions& options = {});

}  // namespace isoscope::strong
