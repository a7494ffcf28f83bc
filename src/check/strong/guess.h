#pragma once
// A first guess at what is open: run the transactions one after another.
//
// Takes the points in an order that the known graph allows, and avoids what makes cycles where it
// can: a commit waits while a version that it would overwrite has readers to come, and at si a
// start waits while a writer of a key that it will write is under way. When everybody waits, the
// first in line goes on nevertheless. Versions are then guessed to come in the order of commits.
//
// A store that was right made such an order once, and little is open after saturation, so that a
// guess leaves little or nothing for others to repair.
//
// Cost  Linear in the known arcs, plus the times somebody waits, which are limited.
#include <cstdint>
#include <optional>
#include <vector>

#include "check/strong/knowledge.h"
#include "support/budget.h"

namespace isoscope::strong {

struct Guess {
  std::vector<std::uint32_t> committed;  // by transaction: when
};

// Requires: known.graph is sorted.
Guess make_guess(const Knowledge& known);
// The order of commits in a graph that was completed at some level.
Guess guess_of(const KnownGraph& completed);

// The known graph with the version orders of the guess, sorted; nothing if that is not what the
// level allows, or if it takes longer than the budget. Never anything for ua, where it takes all
// pairs of versions to tell.
std::optional<KnownGraph> complete_by(const Knowledge& known, const Guess& guess, Budget& budget);

}  // namespace isoscope::strong
