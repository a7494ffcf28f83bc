#pragma once
// How a program is explored at a level: which engine, through which rules, with which filter.
//
//   rc, ra, cc, true, also mixed   explore-ce, strongly optimal
//   pc, si, ser for all            by schedules of whole transactions (schedules.h); where many of
//                                  them have the same history, by_txn.h
//   psi, ua for all                by_txn.h, decided whenever a transaction ends
//   mixtures with pc, si, ser      by_txn.h, decided at each read and when a transaction ends
//   users' levels, other           explore-ce*: explore-ce through the strongest weak level that is
//   mixtures                       known to be weaker, and a check of each complete history
//
// Each can be asked for by name, to compare.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/walk.h"
#include "program/executable.h"
#include "spec/levels.h"
#include "support/result.h"

namespace isoscope::explore {

enum class Algorithm : std::uint8_t {
  Best,
  Ce,         // explore-ce, or explore-ce* where the level asks for it
  ByTxn,      // whole transactions, each history once
  Schedules,  // the same for pc, si and ser, by executing them on the latest state; else ByTxn
  Dfs,        // whole transactions, every order of every history
};

struct Plan {
  enum class Filter : std::uint8_t { None, Weak, Strong, Check };

  Algorithm algorithm = Algorithm::Ce;
  // Of Schedules: if a sample has the same histories again and again, take ByTxn.
  bool may_change = false;
  Rules rules;
  Filter filter = Filter::None;
  // Rules that say just what the level says, if there are any: final(x) asks for commit orders.
  std::optional<Rules> exact = {};
  ById<CallId, WeakLevel> weak_filter;         // of Filter::Weak
  StrongRule strong_filter = StrongRule::Ser;  // of Filter::Strong
  const Level* level = nullptr;                // for calls without a level of their own
  const LevelSet* levels = nullptr;
  std::string description;  // "explore-ce at cc", for people
};

// `base` is the level that explore-ce* walks through (true, rc, ra, cc), if the user chooses it;
// pc, si and ser make explore-ce walk through a level for which it is not made. An error if a call
// asks for a level that does not exist or that a single transaction cannot have. What can be proved
// of a user's level is found within the budget; with less of it the plan is slower, not wrong.
Result<Plan> make_plan(const Executable& program, const Level& level, const LevelSet& levels,
                       Algorithm algorithm, const std::optional<std::string>& base,
                       const Budget& budget = {});

}  // namespace isoscope::explore
