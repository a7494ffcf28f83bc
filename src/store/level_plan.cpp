#include "store/level_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "check/level_table.h"

namespace isoscope::store {

namespace {

constexpr double kMostStates = 50'000;
constexpr std::size_t kMostLinearized = 64;  // calls

Result<AssignmentOf<CallId>> assign(const Executable& program, const Level& level,
                                    const LevelSet& levels) {
  std::vector<WantedLevel> wanted;
  for (const Call& call : program.outline().calls)
    wanted.push_back(
        {.name = call.level, .place = call.level_place.line != 0 ? call.level_place : call.place});
  auto assigned = assign_levels(wanted, level, levels);
  if (!assigned) return assigned.error();
  assigned->own.resize(wanted.size(), nullptr);
  return AssignmentOf<CallId>{.base = assigned->base, .own = std::move(assigned->own)};
}

}  // namespace

std::optional<StrongRule> strong_rule(Logic logic) {
  switch (logic) {
    case Logic::Pc: return StrongRule::Pc;
    case Logic::Si: return StrongRule::Si;
    case Logic::Ser: return StrongRule::Ser;
    case Logic::True:
    case Logic::Rc:
    case Logic::Ra:
    case Logic::Cc:
    case Logic::Ua:
    case Logic::Psi: break;
  }
  return std::nullopt;
}

bool is_small(const Executable& program, StrongRule rule) {
  if (program.outline().calls.size() > kMostLinearized) return false;
  double states = 1;
  for (const Session& session : program.outline().sessions)
    states *= (rule == StrongRule::Ser ? 1.0 : 2.0) * session.size + 1;
  return states <= kMostStates;
}

Result<LevelPlan> plan_levels(const Executable& program, const Level& level,
                              const LevelSet& levels) {
  auto assigned = assign(program, level, levels);
  if (!assigned) return assigned.error();
  if (auto plain = require_plain(*assigned->base, "the store"); !plain) return plain.error();
  LevelPlan plan;
  bool is_known = true;
  bool is_over_co = true;
  bool is_weak = true;
  bool is_uniform = true;
  std::optional<Logic> first;
  for (const CallId call : program.outline().calls.ids()) {
    const Level& own = assigned->of(call);
    const auto logic = logic_of(own);
    if (call == CallId{}) first = logic;
    is_uniform = is_uniform && logic && logic == first;
    is_known = is_known && logic;
    is_weak = is_weak && logic && weak_level(*logic);
    is_over_co = is_over_co && own.framework == Framework::Co;
    plan.weak.push_back(logic ? weak_base(*logic) : WeakLevel::True);
  }
  plan.levels = *std::move(assigned);
  plan.is_extensible = is_known;
  if (is_uniform) plan.uniform = first;
  if (is_uniform && is_weak) return plan;  // the two frameworks agree
  if (is_over_co && is_weak) return plan;
  if (const auto strong = is_uniform ? strong_rule(*first) : std::nullopt;
      strong && is_small(program, *strong)) {
    plan.kind = LevelPlan::Kind::Strong;
    plan.strong = *strong;
    return plan;
  }
  plan.kind = LevelPlan::Kind::Checked;
  if (!is_uniform && !is_over_co) {
    // Over vis, ar a transaction sees the causes of what it sees only if those in between do so
    // too; direct ones it sees always.
    for (WeakLevel& weak : plan.weak) weak = std::min(weak, WeakLevel::Ra);
  }
  return plan;
}

}  // namespace isoscope::store
