#pragma once
// The weakest levels at which all assertions of a program hold, and which of its transactions may
// run weaker still.
//
// A stronger level allows fewer histories, so what holds at a level holds above it: the levels are
// tried from the weakest up, and those above one that holds are left out. Then, at the weakest
// level at which the assertions hold for all, one transaction after the other is lowered as far as
// they still hold. The result is minimal (no single transaction can run weaker) but there may be
// others: which one is found depends on the order of the transactions.
#include <optional>
#include <string>
#include <vector>

#include "explore/explore.h"

namespace isoscope::explore {

struct LevelTrial {
  std::string level;
  ExploreOutcome outcome = ExploreOutcome::Unknown;  // Complete: the assertions hold
  std::uint64_t histories = 0;                       // seen until a violation, if there is one
};

struct Weakest {
  std::vector<LevelTrial> trials;    // from weak to strong, those that were necessary
  std::vector<std::string> minimal;  // the weakest levels at which the assertions hold; may be none
  // By call, the level that is enough for it when the others have theirs. Empty if there is no
  // minimal level, or only one for all.
  std::vector<std::string> mixed;
  // The time limit came first: what is above holds, but a weaker level may do as well.
  bool is_out_of_time = false;

  // Complete if all is decided and a level holds, Violated if none does.
  ExploreOutcome outcome() const {
    if (is_out_of_time) return ExploreOutcome::Unknown;
    return minimal.empty() ? ExploreOutcome::Violated : ExploreOutcome::Complete;
  }
};

// `levels` knows the levels of calls that have their own; those stay as they are. An error if a
// call's level does not exist.
Result<Weakest> find_weakest(const Executable& program, const LevelSet& levels,
                             const ExploreOptions& options);

}  // namespace isoscope::explore
