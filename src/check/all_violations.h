#pragma once
// Not only the first violation: all, grouped by anomaly.
//
// A history that violates a level often does so in many places, and which cycle is "the"
// violation is a matter of taste. What can be counted is what would have to go: find a violation,
// leave out the read that it hinges on (one that sees too little, or else one that closes the
// circle), look again, until nothing is left. Every count is thus a number of reads, no read
// counts twice, and the shortest explanations come first. Inexcusable reads count one each.
//
// Cost  One check a violation, on a history that keeps its size.
#include <cstddef>
#include <functional>
#include <vector>

#include "check/check.h"
#include "history/history.h"
#include "support/budget.h"

namespace isoscope {

struct AnomalyGroup {
  Anomaly anomaly = Anomaly::None;
  std::size_t count = 0;
  Violation example;  // the first that was found, in terms of the whole history
};

struct AllViolations {
  std::vector<AnomalyGroup> groups;  // most frequent first
  std::vector<Violation> each;       // in the order in which they were found
  bool complete = true;              // false if a limit came first: there may be more

  std::size_t total() const;
};

// Who wants to hear of each violation as soon as it is found, in terms of the whole history.
using ViolationSink = std::function<void(const Violation&)>;

// Requires: `first` is what the level has against `h`.
AllViolations all_violations(const History& h, const Level& level, const LevelSet& levels,
                             const Violation& first, std::size_t most, Budget& budget,
                             const Progress& progress = {}, const ViolationSink& found = {});

}  // namespace isoscope
