#include "verdict/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "history/real_time.h"
#include "history/restrict.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "verdict/exhaust.h"

namespace isoscope {

namespace {

// Sizes up to which the literal evaluator takes a fraction of a second.
constexpr std::size_t kMostTxnsEvaluated = 200;
constexpr std::size_t kMostTxnsEvaluatedAlone = 400;  // for levels that nothing else can confirm
constexpr std::size_t kMostBytesEvaluated = std::size_t{1} << 27U;
// Few transactions may have many events; where a replay can do instead.
constexpr std::size_t kMostEventsEvaluated = 5'000;

std::optional<Logic> single_logic(const Assignment& levels) {
  if (levels.is_mixed()) return {};
  const auto logic = logic_of(*levels.base);
  return logic ? logic : strict_logic_of(*levels.base);
}

bool is_strict(const Assignment& levels) {
  return !levels.is_mixed() && strict_logic_of(*levels.base).has_value();
}

bool have_rules(const Assignment& levels) {
  std::vector<const Level*> all = levels.own;
  all.push_back(levels.base);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return std::all_of(all.begin(), all.end(), [](const Level* level) {
    return level == nullptr || snap_rules_of(*level).has_value();
  });
}

ConfirmResult result(Confirmation how, std::optional<std::string> complaint) {
  return {.how = how, .complaint = std::move(complaint).value_or("")};
}

// Complains if rt is not in the order: walking back, no end of one who comes later may be before
// the start.
std::optional<std::string> check_real_time(const History& h, const std::vector<TxnId>& order) {
  TxnId first_to_end = TxnId::none();
  for (std::size_t i = order.size(); i-- > 0;) {
    const TxnId t = order[i];
    if (!first_to_end.is_none() && h.rt(first_to_end, t))
      return fmt::format("{} ended before {} began, but comes later in the order",
                         h.name(first_to_end), h.name(t));
    const auto times = h.times(t);
    if (times && (first_to_end.is_none() || times->end < h.times(first_to_end)->end))
      first_to_end = t;
  }
  return {};
}

ConfirmResult confirm_strict_witness(const History& h, Logic logic, const Witness& witness,
                                     Budget& budget) {
  if (auto wrong = check_real_time(h, witness.order))
    return result(Confirmation::Replayed, std::move(wrong));
  if (witness.vis) {
    for (TxnId a : h.txns()) {
      for (TxnId b : h.txns()) {
        if (h.is_present(a) && h.is_present(b) && h.rt(a, b) &&
            !witness.vis->contains(a.index, b.index))
          return result(
              Confirmation::Replayed,
              fmt::format("{} does not see {}, which ended before it began", h.name(b), h.name(a)));
      }
    }
    return result(Confirmation::Replayed, check_visibility(h, logic, witness));
  }
  if (logic == Logic::Ra || logic == Logic::Ua) return {};  // single steps of rt
  const RealTimeHistory timed(h);
  const Witness whole{
      .framework = witness.framework, .order = timed.with_auxiliary(witness.order), .vis = {}};
  if (!is_replayable(timed.history(), logic, whole, budget)) return {};
  return result(Confirmation::Replayed, replay(timed.history(), logic, whole, budget));
}

bool is_evaluated(const History& h, const Assignment& levels) {
  const bool has_replay = single_logic(levels) && !is_strict(levels);
  const bool is_small = single_logic(levels) ? h.num_txns() <= kMostTxnsEvaluated
                                             : h.num_txns() <= kMostTxnsEvaluatedAlone;
  return is_small && (!has_replay || h.num_events() <= kMostEventsEvaluated) &&
         evaluation_bytes(h, levels) <= kMostBytesEvaluated;
}

ConfirmResult confirm_witness(const History& h, const Assignment& levels, const Witness& witness,
                              Budget& budget) {
  const auto logic = single_logic(levels);
  if (is_evaluated(h, levels)) {
    const auto failure = Evaluator(h, levels, &budget).evaluate(witness);
    return result(Confirmation::Evaluated,
                  failure ? std::optional(describe(*failure, h)) : std::nullopt);
  }
  if (witness.framework == Framework::CoSnap && have_rules(levels))
    return result(Confirmation::Replayed, replay_snapshots(h, levels, witness, budget));
  if (!logic) return {};
  if (is_strict(levels)) return confirm_strict_witness(h, *logic, witness, budget);
  if (witness.vis) return result(Confirmation::Replayed, check_visibility(h, *logic, witness));
  if (!is_replayable(h, *logic, witness, budget)) return {};
  // Over vis, ar the order stands for the same thing: the two frameworks agree at these levels.
  return result(Confirmation::Replayed, replay(h, *logic, witness, budget));
}

// Is the level what some order of the versions satisfies (exhaust.h)?
bool is_about_version_orders(Logic logic) {
  switch (logic) {
    case Logic::True:
    case Logic::Rc:
    case Logic::Ra:
    case Logic::Cc: return false;
    case Logic::Pc:
    case Logic::Ua:
    case Logic::Psi:
    case Logic::Si:
    case Logic::Ser: return true;
  }
  return false;
}

// Tries all orders of the core alone. A built-in level violated by a part is violated by the
// whole; with a level of the user that may be false, so there only the "yes" counts.
ConfirmResult confirm_core(const History& h, const Assignment& levels, std::vector<TxnId> core,
                           Budget& budget) {
  std::sort(core.begin(), core.end());
  const History part = restrict_to(h, core);
  if (!is_small_enough(part, levels.base->framework)) {
    const auto logic = single_logic(levels);
    const auto timed = is_strict(levels) ? std::make_unique<RealTimeHistory>(part) : nullptr;
    const auto works =
        logic && is_about_version_orders(*logic)
            ? some_version_order_works(timed ? timed->history() : part, *logic, budget)
            : std::nullopt;
    if (!works) return {};
    return {.how = Confirmation::Exhausted,
            .complaint = *works ? "some version order satisfies the level" : ""};
  }
  Assignment own{.base = levels.base, .own = {}};
  if (levels.is_mixed()) {
    own.own.push_back(nullptr);
    for (TxnId t : core) own.own.push_back(&levels.of(t));
  }
  if (!brute_force(part, own)) return {.how = Confirmation::Exhausted};
  if (!single_logic(levels)) return {};
  return {.how = Confirmation::Exhausted,
          .complaint = "some order of those transactions satisfies the level"};
}

}  // namespace

std::string_view name_of(Confirmation confirmation) {
  switch (confirmation) {
    case Confirmation::Evaluated: return "evaluated";
    case Confirmation::Replayed: return "replayed";
    case Confirmation::Traced: return "traced";
    case Confirmation::Exhausted: return "exhausted";
    case Confirmation::Unchecked: return "unchecked";
  }
  return {};
}

ConfirmResult confirm(const History& h, const Assignment& levels, const Verdict& verdict,
                      Budget budget) {
  if (verdict.witness) {
    const ConfirmResult confirmed = confirm_witness(h, levels, *verdict.witness, budget);
    return budget.expired_now() ? ConfirmResult{.is_expired = true} : confirmed;
  }
  if (!verdict.violation) return {};
  const Violation& violation = *verdict.violation;
  if (violation.fault) return result(Confirmation::Traced, check_fault(h, *violation.fault));
  if (violation.cycle.empty()) return confirm_core(h, levels, violation.core, budget);
  if (levels.base->framework == Framework::CoSnap) {
    std::vector<TxnId> core;
    for (const Edge& edge : violation.cycle) core.push_back(edge.from);
    std::sort(core.begin(), core.end());
    core.erase(std::unique(core.begin(), core.end()), core.end());
    return confirm_core(h, levels, std::move(core), budget);
  }
  const auto logic = single_logic(levels);
  // Only the weak engine gives cycles for mixtures; what it forces, cc would force too.
  return result(Confirmation::Traced, check_cycle(h, logic.value_or(Logic::Cc), violation.cycle));
}

}  // namespace isoscope
