#include "explore/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/spelling.h"
#include "synth/proof.h"
#include "verdict/logic.h"

namespace isoscope::explore {
namespace {

// Seconds that we spend on finding out whether a user's level implies cc, ra or rc.
constexpr double kProofSeconds = 5;

std::optional<WeakLevel> weak_level(Logic logic) {
  switch (logic) {
    case Logic::True:
      return WeakLevel::True;
    case Logic::Rc:
      return WeakLevel::Rc;
    case Logic::Ra:
      return WeakLevel::Ra;
    case Logic::Cc:
      return WeakLevel::Cc;
    default:
      return std::nullopt;
  }
}

std::optional<StrongRule> strong_rule(Logic logic) {
  switch (logic) {
    case Logic::Pc:
      return StrongRule::Pc;
    case Logic::Si:
      return StrongRule::Si;
    case Logic::Ser:
      return StrongRule::Ser;
    default:
      return std::nullopt;
  }
}

std::string_view name_of(WeakLevel level) {
  constexpr std::string_view kNames[] = {"true", "rc", "ra", "cc"};
  return kNames[static_cast<std::size_t>(level)];
}

// The strongest of cc, ra, rc, true that is known to be weaker than the level for every history.
WeakLevel known_base(const Level& level) {
  if (const auto logic = logic_of(level)) {
    if (const auto weak = weak_level(*logic)) return *weak;
    return *logic == Logic::Ua ? WeakLevel::Ra : WeakLevel::Cc;
  }
  Budget budget = Budget::seconds(kProofSeconds);
  for (const auto& [name, weak] : {std::pair("cc", WeakLevel::Cc), std::pair("ra", WeakLevel::Ra),
                                   std::pair("rc", WeakLevel::Rc)}) {
    const Level* base = LevelSet::built_in().lookup(name, Framework::Co);
    if (base != nullptr && prove_implies(level, *base, budget).outcome == ProofOutcome::Proved)
      return weak;
  }
  return WeakLevel::True;
}

struct CallLevels {
  std::vector<const Level*> by_call;
  bool is_mixed = false;
};

Result<CallLevels> find_levels(const Executable& program, const Level& level,
                               const LevelSet& levels) {
  CallLevels found;
  for (const Call& call : program.outline().calls) {
    const Level* own = &level;
    if (!call.level.empty()) {
      auto named = levels.find(call.level);
      if (!named) {
        Error error = named.error();
        error.where = call.level_place;
        return error;
      }
      own = *named;
    }
    found.is_mixed = found.is_mixed || own != &level;
    found.by_call.push_back(own);
  }
  return found;
}

// The rules that explore-ce walks through so that no history of the levels is lost.
std::vector<WeakLevel> known_bases(const CallLevels& levels) {
  std::vector<WeakLevel> bases;
  const bool has_vis = std::any_of(levels.by_call.begin(), levels.by_call.end(),
                                   [](const Level* l) { return l->framework == Framework::VisAr; });
  for (const Level* level : levels.by_call) {
    if (!levels.is_mixed) {
      bases.push_back(bases.empty() ? known_base(*level) : bases.front());
      continue;
    }
    // Mixed, what a user's level implies alone says nothing. Over vis, ar a transaction sees the
    // causes of what it sees only if those in between do so too; direct ones it sees always.
    const auto logic = logic_of(*level);
    WeakLevel base = logic ? known_base(*level) : WeakLevel::True;
    if (has_vis) base = std::min(base, WeakLevel::Ra);
    bases.push_back(base);
  }
  return bases;
}

std::string describe(const Plan& plan) {
  if (plan.algorithm == Algorithm::Dfs) return "dfs, every order";
  if (plan.algorithm == Algorithm::ByTxn) return "whole transactions";
  if (plan.rules.strong) return "explore-ce, forced through a strong level";
  const auto& weak = plan.rules.weak;
  const bool is_mixed =
      std::any_of(weak.begin(), weak.end(), [&](WeakLevel l) { return l != weak.front(); });
  std::string through = "weak levels";
  if (!is_mixed) through = weak.empty() ? "nothing" : std::string(name_of(weak.front()));
  return fmt::format("explore-ce{} through {}", plan.filter == Plan::Filter::None ? "" : "*",
                     through);
}

Result<WeakLevel> find_base(std::string_view name) {
  constexpr std::string_view kNames[] = {"true", "rc", "ra", "cc"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<WeakLevel>(i);
  }
  return Error{.what = fmt::format("'{}' is no base for explore-ce", name),
               .hint = suggest(name, kNames)};
}

}  // namespace

Result<Plan> make_plan(const Executable& program, const Level& level, const LevelSet& levels,
                       Algorithm algorithm, const std::optional<std::string>& base) {
  auto call_levels = find_levels(program, level, levels);
  if (!call_levels) return call_levels.error();
  Plan plan;
  plan.level = &level;
  plan.levels = &levels;

  // Can the rules alone decide the levels?
  std::vector<WeakLevel> exact;
  for (const Level* own : call_levels->by_call) {
    const auto logic = logic_of(*own);
    const auto weak = logic ? weak_level(*logic) : std::nullopt;
    if (weak) exact.push_back(*weak);
  }
  const bool is_weak = exact.size() == call_levels->by_call.size();
  std::optional<StrongRule> strong;
  const Level& first = call_levels->by_call.empty() ? level : *call_levels->by_call.front();
  const bool is_uniform = std::all_of(
      call_levels->by_call.begin(), call_levels->by_call.end(),
      [&](const Level* own) { return logic_of(*own) && logic_of(*own) == logic_of(first); });
  if (is_uniform && logic_of(first)) strong = strong_rule(*logic_of(first));

  plan.algorithm = algorithm;
  if (algorithm == Algorithm::Best)
    plan.algorithm = strong && !base ? Algorithm::ByTxn : Algorithm::Ce;
  plan.rules.weak = is_weak ? exact : known_bases(*call_levels);
  if (base) {
    const auto forced = [&]() -> std::optional<StrongRule> {
      if (*base == "pc") return StrongRule::Pc;
      if (*base == "si") return StrongRule::Si;
      if (*base == "ser") return StrongRule::Ser;
      return std::nullopt;
    }();
    if (forced) {
      plan.rules.strong = forced;
    } else {
      auto weak = find_base(*base);
      if (!weak) return weak.error();
      for (std::size_t i = 0; i < plan.rules.weak.size(); ++i) {
        if (*weak > plan.rules.weak[i]) {
          return Error{.what = fmt::format("--base {} would lose histories: it is not known to be "
                                           "weaker than the level of {}",
                                           *base, program.outline().calls[i].name),
                       .hint = fmt::format("use --base {}", name_of(plan.rules.weak[i]))};
        }
        plan.rules.weak[i] = *weak;
      }
    }
  }
  if (plan.algorithm != Algorithm::Ce && strong && !base) plan.rules.strong = strong;

  const bool is_exact = is_weak && plan.rules.weak == exact;
  if (plan.rules.strong) {
    plan.filter = strong == plan.rules.strong ? Plan::Filter::None : Plan::Filter::Check;
  } else if (!is_exact) {
    plan.filter = strong ? Plan::Filter::Strong : Plan::Filter::Check;
    if (strong) plan.strong_filter = *strong;
  }
  plan.description = describe(plan);
  return plan;
}

}  // namespace isoscope::explore
