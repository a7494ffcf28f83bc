#pragma once
// Which rule decides the level of a program: for all its calls together, those with a level of
// their own (@LEVEL) and the rest.
//
//   Weak      true, rc, ra, cc and any mixture of them over co: forced order
//   Strong    pc, si or ser for all calls of a small program: linearizer
//   Checked   everything else: psi, ua, levels of the user's, other mixtures, large programs
#include <cstdint>
#include <optional>
#include <vector>

#include "check/weak/weak.h"
#include "program/executable.h"
#include "spec/levels.h"
#include "store/linearizer.h"
#include "support/result.h"
#include "verdict/logic.h"

namespace isoscope::store {

struct LevelPlan {
  enum class Kind : std::uint8_t { Weak, Strong, Checked };

  Kind kind = Kind::Weak;
  std::optional<Logic> uniform = {};  // the logic that all calls share, if there is one
  // The level of each call, or for the other kinds a weaker one that says no quickly.
  ById<CallId, WeakLevel> weak;
  StrongRule strong = StrongRule::Ser;  // of Kind::Strong
  AssignmentOf<CallId> levels = {};     // all over one framework
  // Does reading the latest values satisfy every level, whatever came before?
  bool is_extensible = true;
};

// pc, si or ser, if the logic is one of them.
std::optional<StrongRule> strong_rule(Logic logic);

// Can a linearizer look at all its states, at most (2m+1)^k for k sessions of m transactions?
bool is_small(const Executable& program, StrongRule rule);

// An error if a call asks for a level that does not exist or that a single transaction cannot
// have. The levels outlive the plan.
Result<LevelPlan> plan_levels(const Executable& program, const Level& level,
                              const LevelSet& levels);

}  // namespace isoscope::store
