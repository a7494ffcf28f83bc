#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/blame.h"
#include "check/ground/ground.h"
#include "check/level_table.h"
#include "check/points/points.h"
#include "check/strict.h"
#include "check/strong/strong.h"
#include "check/weak/weak.h"
#include "spec/evaluate.h"
#include "verdict/naming.h"

namespace isoscope {

namespace {

// All levels weak and over co: the saturation takes the mixture as it is.
std::optional<WeakAssignment> as_weak(const History& h, const Assignment& levels) {
  WeakAssignment weak;
  const auto base = logic_of(*levels.base);
  const auto weak_base = base ? weak_level(*base) : std::nullopt;
  if (!weak_base || levels.base->framework != Framework::Co) return {};
  weak.base = *weak_base;
  std::map<const Level*, WeakLevel> known = {{levels.base, weak.base}};
  for (TxnId t : h.txns()) {
    const Level* own = &levels.of(t);
    auto found = known.find(own);
    if (found == known.end()) {
      const auto logic = logic_of(*own);
      const auto level = logic ? weak_level(*logic) : std::nullopt;
      if (!level) return {};
      found = known.emplace(own, *level).first;
    }
    weak.own.push_back(found->second);
  }
  return weak;
}

// Up to this size, the search is as quick.
constexpr std::size_t kFewTxns = 500;

// Recorded runs are mostly written down as they committed, and the order that satisfies the weaker
// level follows the file where nothing speaks against it. So it is often an order for the stronger
// level, too, and to see that takes no clocks, whatever the number of sessions.
std::optional<Verdict> by_order(const History& h, Logic logic, const Witness& weaker,
                                Budget& budget) {
  if (h.num_txns() <= kFewTxns || weaker.framework != Framework::Co) return {};
  // What satisfies si satisfies ua and psi, which have no commit order.
  const bool needs_vis = logic == Logic::Ua || logic == Logic::Psi;
  if (replay(h, needs_vis ? Logic::Si : logic, weaker, budget) || budget.expired_now()) return {};
  Verdict verdict =
      Verdict::consistent(needs_vis ? as_vis_witness(h, StrongLevel::Si, weaker) : weaker);
  verdict.stats.set("rounds", 0);
  return verdict;
}

}  // namespace

std::optional<Verdict> Checker::inherited(Logic logic) const {
  for (const auto& [other, verdict] : known_) {
    if (verdict.outcome == Outcome::Violated && implies(logic, other)) return verdict;
    const bool by_commit_order = verdict.witness && verdict.witness->framework == Framework::Co &&
                                 logic != Logic::Ua && logic != Logic::Psi;
    if (verdict.outcome == Outcome::Consistent && by_commit_order && implies(other, logic))
      return verdict;
  }
  return {};
}

Verdict Checker::decide_by_logic(Logic logic, Budget& budget) {
  const auto strong = strong_level(logic);
  if (!strong) {
    tell("ordering the commits");
    return check_weak(h_, {*weak_level(logic), {}}, budget);
  }
  // Most real violations are weak ones, and the weak engines are quick.
  const Verdict& weaker = known(logic_of(weak_base(logic)), budget);
  if (weaker.outcome != Outcome::Consistent) return weaker;
  if (auto verdict = by_order(h_, logic, *weaker.witness, budget)) return *std::move(verdict);
  return check_strong(h_, *strong, budget, {.progress = options_.progress});
}

const Verdict& Checker::known(Logic logic, Budget& budget) {
  if (const auto found = known_.find(logic); found != known_.end()) return found->second;
  if (auto verdict = inherited(logic))
    return known_.emplace(logic, *std::move(verdict)).first->second;
  Verdict verdict = decide_by_logic(logic, budget);
  if (verdict.violation) {
    auto& cycle = verdict.violation->cycle;
    cycle = simplify(logic, std::move(cycle));
  }
  return known_.emplace(logic, std::move(verdict)).first->second;
}

namespace {

constexpr std::size_t kMostTxnsWithVis = 2000;  // 4 million pairs

// The (vis, ar) witness that a commit order stands for, for the levels that exist over both: ar is
// the commit order, vis the least visibility that the level allows with it: so ∪ wr for ra, its
// closure for cc, prefixes for pc and si, all for ser. Left out (no vis) for histories whose
// quadratic vis is too large to read. A witness that is (vis, ar) already is returned as it is.
Witness as_visibility(const History& h, Logic logic, const Witness& witness) {
  if (witness.framework == Framework::VisAr) return witness;
  if (const auto strong = strong_level(logic)) return as_vis_witness(h, *strong, witness);
  Witness result{.framework = Framework::VisAr, .order = witness.order, .vis = {}};
  if (h.num_txns() > kMostTxnsWithVis) return result;
  result.vis = so_relation(h) | wr_relation(h);
  if (logic == Logic::Cc) result.vis = transitive_closure(*std::move(result.vis));
  return result;
}

// ra and ua ask for single steps of so and wr.
bool is_fast_when_strict(const Assignment& levels) {
  const auto logic = strict_logic_of(*levels.base);
  return logic && !levels.is_mixed() && *logic != Logic::Ra && *logic != Logic::Ua;
}

}  // namespace

Verdict Checker::decide_strict(Logic logic, const Assignment& levels, Budget& budget) {
  if (!timed_) {
    tell("ordering by time");
    timed_ = std::make_unique<RealTimeHistory>(h_);
    timed_checker_ = std::make_unique<Checker>(
        timed_->history(), CheckOptions{.confirm = false, .progress = options_.progress});
  }
  const Level* base = reference_level(logic, levels.base->framework);
  Verdict verdict = timed_checker_->decide({.base = base}, budget);
  if (verdict.witness) verdict.witness = of_original(*timed_, h_, *verdict.witness);
  if (!verdict.violation) return verdict;
  Violation& violation = *verdict.violation;
  violation = of_original(*timed_, h_, std::move(violation));
  if (!violation.cycle.empty() && !rests_on_real_time(violation.cycle)) return verdict;
  // What is wrong without looking at the clock is told without it.
  if (Verdict plain = decide({.base = base}, budget); plain.violation) return plain;
  violation.anomaly = name_real_time(violation.cycle);
  const auto has = [&](EdgeKind kind) {
    return std::any_of(violation.cycle.begin(), violation.cycle.end(),
                       [&](const Edge& e) { return e.kind == kind; });
  };
  if (!violation.cycle.empty() && !has(EdgeKind::Rw) && !has(EdgeKind::Co))
    violation.axiom = "RealTime";
  return verdict;
}

Verdict Checker::decide(const Assignment& levels, Budget& budget) {
  if (!h_.faults().empty()) {
    const ReadFault& fault = h_.faults().front();
    return Verdict::violated(
        {.axiom = {}, .anomaly = anomaly_of(fault.kind), .cycle = {}, .fault = fault, .core = {}});
  }
  if (options_.engine == Engine::Best && is_fast_when_strict(levels))
    return decide_strict(*strict_logic_of(*levels.base), levels, budget);
  const auto logic = logic_of(*levels.base);
  if (options_.engine == Engine::Ground || !logic || levels.is_mixed()) {
    const auto weak = options_.engine == Engine::Ground ? std::nullopt : as_weak(h_, levels);
    if (!weak && options_.engine == Engine::Best && has_points(levels))
      return check_points(h_, levels, budget, {.progress = options_.progress});
    if (!weak) return check_ground(h_, levels, budget, {.progress = options_.progress});
    tell("ordering the commits");
    Verdict verdict = check_weak(h_, *weak, budget);
    if (verdict.violation) {
      verdict.violation->anomaly = name_cycle(h_, Logic::Cc, verdict.violation->cycle);
      verdict.violation->axiom = levels.base->axioms.empty() ? "" : levels.base->axioms[0].name;
    }
    return verdict;
  }

  Verdict verdict = known(*logic, budget);
  if (verdict.violation) {
    tell("explaining the violation");
    Logic weakest = weakest_forbidding(h_, *logic, verdict.violation->cycle);
    // The weakest level that fails already has the clearest cycle and the right name.
    for (Logic candidate : {Logic::Rc, Logic::Ra, Logic::Cc}) {
      if (!implies(*logic, candidate)) continue;
      const Verdict& weaker = known(candidate, budget);
      if (weaker.outcome != Outcome::Violated) continue;
      verdict.violation = weaker.violation;
      weakest = candidate;
      break;
    }
    Violation& violation = *verdict.violation;
    violation.anomaly = name_cycle(h_, weakest, violation.cycle);
    if (*logic == Logic::Ser && violation.anomaly == Anomaly::SerializationCycle) {
      // What weaker levels call a lost update is one here, too, whatever cycle was found. Only ser
      // forbids the plain form of it, two rw edges.
      if (auto plainer = find_lost_update(h_); !plainer.empty()) {
        violation.cycle = std::move(plainer);
        violation.anomaly = Anomaly::LostUpdate;
      }
    }
    violation.axiom = blamed_axiom(h_, *levels.base, *logic, weakest, violation, budget);
  }
  if (verdict.witness && levels.base->framework == Framework::VisAr)
    verdict.witness = as_visibility(h_, *logic, *verdict.witness);
  return verdict;
}

CheckAnswer Checker::check(const Assignment& levels, Budget& budget) {
  CheckAnswer answer;
  answer.verdict = decide(levels, budget);
  if (!options_.confirm) return answer;
  tell("confirming the answer");
  answer.confirmation = confirm(h_, levels, answer.verdict, budget);
  if (answer.confirmation.is_expired)
    answer.verdict =
        Verdict::unknown(fmt::format("{}, while the answer was confirmed", limit_reached()));
  if (!answer.confirmation.holds()) {
    answer.verdict = Verdict::unknown(
        fmt::format("a bug of isoscope: its reason for '{}' does not hold ({}); please report it "
                    "with the history",
                    name_of(answer.verdict.outcome), answer.confirmation.complaint));
  }
  return answer;
}

bool has_committed(const History& h) {
  const auto txns = h.txns();
  return std::any_of(txns.begin(), txns.end(),
                     [&](TxnId t) { return t != kInitialTxn && h.is_committed(t); });
}

CheckAnswer check(const History& h, const Level& level, Budget& budget, CheckOptions options) {
  return Checker(h, std::move(options)).check({.base = &level, .own = {}}, budget);
}

Result<Assignment> assign_levels(std::span<const WantedLevel> wanted, const Level& base,
                                 const LevelSet& levels) {
  Assignment assignment{.base = &base, .own = {}};
  std::map<std::string_view, const Level*> by_name;
  Framework framework = base.framework;
  for (const WantedLevel& one : wanted) {
    if (one.name.empty() || by_name.contains(one.name)) continue;
    auto level = levels.find(one.name);
    if (!level) {
      Error error = level.error();
      error.where = one.place;
      return error;
    }
    by_name[one.name] = *level;
    // What one level exists over, the others must too: few are over vis, ar or co, snap alone.
    if ((*level)->framework != Framework::Co) framework = (*level)->framework;
  }
  if (by_name.empty()) return assignment;
  const auto in_framework = [&](const Level& level) -> Result<const Level*> {
    if (level.framework == framework) return &level;
    auto found = levels.find(fmt::format("{}@{}", level.name, name_of(framework)));
    if (found) return *found;
    return Error{
        .what = fmt::format("'{}' is not defined over {}, which another level of this history "
                            "needs",
                            level.name, orders_of(framework)),
        .hint = "assign levels of one framework"};
  };
  auto own_base = in_framework(base);
  if (!own_base) return own_base.error();
  assignment.base = *own_base;
  assignment.own.assign(wanted.size(), nullptr);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].name.empty()) continue;
    auto level = in_framework(*by_name[wanted[i].name]);
    if (!level) {
      Error error = level.error();
      error.where = wanted[i].place;
      return error;
    }
    assignment.own[i] = *level;
  }
  if (auto assignable = check_assignable(assignment); !assignable) return assignable.error();
  return assignment;
}

Result<Assignment> assign_levels(const History& h, const Level& base, const LevelSet& levels) {
  if (!h.has_levels()) return Assignment{.base = &base, .own = {}};
  std::vector<WantedLevel> wanted;
  wanted.reserve(h.num_txns());
  for (const TxnId t : h.txns())
    wanted.push_back({.name = h.level(t), .place = h.level(t).empty() ? Place{} : h.place(t)});
  return assign_levels(wanted, base, levels);
}

}  // namespace isoscope
