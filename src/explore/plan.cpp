#include "explore/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "check/level_table.h"
#include "explore/level_witness.h"
#include "store/level_plan.h"
#include "store/txn_set.h"
#include "support/spelling.h"
#include "synth/proof.h"

namespace isoscope::explore {
namespace {

// Seconds that we spend on finding out whether a user's level implies cc, ra or rc.
constexpr double kProofSeconds = 5;

std::string_view name_of(WeakLevel level) { return isoscope::name_of(logic_of(level)); }

// The strongest of cc, ra, rc, true that a level of the user's provably implies.
WeakLevel prove_base(const Level& level, const Budget& whole) {
  Budget budget = whole.within(kProofSeconds);
  for (const WeakLevel weak : {WeakLevel::Cc, WeakLevel::Ra, WeakLevel::Rc}) {
    const Level* base = reference_level(logic_of(weak), Framework::Co);
    if (base != nullptr && prove_implies(level, *base, budget).outcome == ProofOutcome::Proved)
      return weak;
  }
  return WeakLevel::True;
}

// The same; what was found of axioms once is kept. A weaker base than possible loses nothing.
WeakLevel proved_base(const Level& level, const Budget& whole) {
  static std::mutex mutex;
  static std::map<std::string, WeakLevel> known;
  std::string axioms(name_of(level.framework));
  for (const Axiom& axiom : level.axioms) axioms += "\n" + axiom.canonical;
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(axioms); found != known.end()) return found->second;
  const WeakLevel base = prove_base(level, whole);
  if (Budget own = whole; !own.expired_now()) known.emplace(std::move(axioms), base);
  return base;
}

// Makes explore-ce walk through the level that the user names. pc, si and ser are levels that it is
// not made for.
Result<void> set_base(const Executable& program, const std::string& name, Rules& rules) {
  const auto level = LevelSet::built_in().find(name);
  const auto logic = level ? logic_of(**level) : std::nullopt;
  rules.strong = logic ? store::strong_rule(*logic) : std::nullopt;
  if (rules.strong) return {};
  const auto known_weak = logic ? weak_level(*logic) : std::nullopt;
  if (!known_weak) {
    std::vector<std::string_view> names;
    for (const LogicRow& row : logic_rows()) {
      if (weak_level(row.logic)) names.push_back(isoscope::name_of(row.logic));
    }
    return Error{.what = fmt::format("'{}' is no base for explore-ce", name),
                 .hint = suggest(name, names)};
  }
  const WeakLevel weak = *known_weak;
  for (const CallId call : rules.weak.ids()) {
    if (weak > rules.weak[call]) {
      return Error{.what = fmt::format("--base {} would lose histories: it is not known to be "
                                       "weaker than the level of {}",
                                       name, program.outline().calls[call].name),
                   .hint = fmt::format("use --base {}", name_of(rules.weak[call]))};
    }
    rules.weak[call] = weak;
  }
  return {};
}

// The strong rule of each call that has one. Nothing if a level is none of true, rc, ra, cc, pc, si
// and ser over co.
using StrongRules = ById<CallId, std::optional<StrongRule>>;
std::optional<StrongRules> mixture(const store::LevelPlan& known) {
  StrongRules rules;
  for (const CallId call : known.weak.ids()) {
    const Level& level = known.levels.of(call);
    const auto logic = logic_of(level);
    if (!logic || level.framework != Framework::Co) return std::nullopt;
    rules.push_back(store::strong_rule(*logic));
    if (!rules.back() && !weak_level(*logic)) return std::nullopt;
  }
  return rules;
}

std::string describe(const Plan& plan) {
  if (plan.algorithm == Algorithm::Dfs) return "dfs, every order";
  if (plan.algorithm == Algorithm::ByTxn) return "whole transactions";
  if (plan.algorithm == Algorithm::Schedules) return "schedules of whole transactions";
  if (plan.rules.strong) return "explore-ce, forced through a strong level";
  const auto& weak = plan.rules.weak;
  const bool is_mixed =
      std::any_of(weak.begin(), weak.end(), [&](WeakLevel l) { return l != weak.front(); });
  std::string through = "weak levels";
  if (!is_mixed) through = weak.empty() ? "nothing" : std::string(name_of(weak.front()));
  return fmt::format("explore-ce{} through {}", plan.filter == Plan::Filter::None ? "" : "*",
                     through);
}

}  // namespace

Result<Plan> make_plan(const Executable& program, const Level& level, const LevelSet& levels,
                       Algorithm algorithm, const std::optional<std::string>& base,
                       const Budget& budget) {
  auto known = store::plan_levels(program, level, levels);
  if (!known) return known.error();
  Plan plan;
  plan.level = &level;
  plan.levels = &levels;
  // Can the rules alone decide the levels?
  const bool is_weak = known->kind == store::LevelPlan::Kind::Weak;
  const auto strong = known->uniform ? store::strong_rule(*known->uniform) : std::nullopt;
  const ById<CallId, WeakLevel> exact = known->weak;
  plan.rules.weak = known->weak;
  if (!logic_of(level) && !known->levels.is_mixed())
    plan.rules.weak.assign(plan.rules.weak.size(), proved_base(level, budget));

  // psi and ua are decided on the way, where histories grow by whole transactions.
  std::optional<SightRule> sight;
  if (known->uniform == Logic::Psi) sight = SightRule::Psi;
  if (known->uniform == Logic::Ua) sight = SightRule::Ua;
  StrongRules mixed;
  if (!is_weak && !strong && !sight) mixed = mixture(*known).value_or(mixed);
  const bool has_engine = is_weak || strong || sight || !mixed.empty();
  // Where no engine is made for the levels, their axioms may be rules.
  std::shared_ptr<const LevelRules> forcing;
  if (!has_engine && program.outline().calls.size() <= LevelWitness<TxnSet<1>>::kMostCalls)
    forcing = rules_of(*known->levels.base, known->levels.own);
  if (has_engine)
    plan.exact = Rules{.weak = exact, .strong = strong, .sight = sight, .mixed = mixed};
  if (!plan.exact && !program.final_keys().empty())
    return Error{.what = fmt::format("final({}) is not known at these levels: isoscope does not "
                                     "go through their commit orders",
                                     program.keys().name(program.final_keys().front())),
                 .hint =
                     "it is at true, rc, ra, cc, pc, si, ser and mixtures of them, and at psi or "
                     "ua for all"};
  plan.algorithm = algorithm;
  if (algorithm == Algorithm::Best) {
    plan.algorithm = strong && !base ? Algorithm::Schedules : Algorithm::Ce;
    plan.may_change = !base;
    if ((sight || !mixed.empty() || forcing) && !base) plan.algorithm = Algorithm::ByTxn;
  }
  // Executing whole transactions is made for these levels only.
  if (algorithm == Algorithm::Schedules && (!strong || base)) plan.algorithm = Algorithm::ByTxn;
  if (base) {
    if (auto set = set_base(program, *base, plan.rules); !set) return set.error();
  } else if (plan.algorithm != Algorithm::Ce) {
    plan.rules.strong = strong;
  }
  if (sight && !base && plan.algorithm != Algorithm::Ce) {
    plan.rules.sight = sight;
  } else if (!mixed.empty() && !base && plan.algorithm != Algorithm::Ce) {
    plan.rules.mixed = mixed;
  } else if (forcing && !base && plan.algorithm != Algorithm::Ce) {
    plan.rules.forcing = forcing;
  } else if (plan.rules.strong) {
    plan.filter = strong == plan.rules.strong ? Plan::Filter::None : Plan::Filter::Check;
  } else if (!is_weak || plan.rules.weak != exact) {
    plan.filter = strong    ? Plan::Filter::Strong
                  : is_weak ? Plan::Filter::Weak
                            : Plan::Filter::Check;
    if (strong) plan.strong_filter = *strong;
    if (is_weak) plan.weak_filter = exact;
  }
  plan.description = describe(plan);
  return plan;
}

}  // namespace isoscope::explore
