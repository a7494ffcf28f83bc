#pragma once
// The weakest levels at which all assertions of a program hold, and which of its transactions may
// run weaker still.
//
// A stronger level allows fewer histories, so what holds at a level holds above it: the levels are
// tried from the weakest up, and those above one that holds are left out. Then, at the weakest
// level at which the assertions hold for all, one function after the other (all its calls together;
// a block without a name is on its own) is lowered as far as they still hold. The result is minimal
// (no single function can run weaker) but there may be others: which one is found depends on the
// order of the functions. From the weakest up, each function costs one complete exploration, that
// of the level that it gets; the others end at their first violation.
#include <optional>
#include <string>
#include <vector>

#include "explore/explore.h"

namespace isoscope::explore {

struct LevelTrial {
  std::string level;
  ExploreOutcome outcome = ExploreOutcome::Unknown;  // Complete: the assertions hold
  std::uint64_t histories = 0;                       // seen until a violation, if there is one
  // Instead, if equal ones were merged, or reads on which nothing depends were left out.
  std::optional<std::uint64_t> states = {};
};

struct Weakest {
  std::vector<LevelTrial> trials;    // from weak to strong, those that were necessary
  std::vector<std::string> minimal;  // the weakest levels at which the assertions hold; may be none
  // The level that is enough for a call when the others have theirs. Empty if there is no minimal
  // level, or only one for all and that is decided.
  ById<CallId, std::string> mixed;
  // When functions are lowered: is it known that the level of a call in `mixed` is as weak as can
  // be? Calls with a level of their own have nothing to decide.
  ById<CallId, bool> is_decided;
  // The time limit came first: what is above holds, but a weaker level may do as well.
  bool is_out_of_time = false;

  // Were all levels tried that had to be, so that `minimal` is final?
  bool is_minimal_known() const { return !is_out_of_time || !is_decided.empty(); }

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
