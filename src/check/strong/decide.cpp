#include "check/strong/decide.h"

#include <memory>
#include <utility>

#include "check/strong/chain_cover.h"
#include "check/strong/conflicts.h"
#include "check/strong/guess.h"
#include "check/strong/saturation.h"
#include "check/strong/search.h"
#include "support/budget.h"

namespace isoscope::strong {

namespace {

// Numbers in the version order: a gigabyte.
constexpr std::size_t kMaxOrderNumbers = std::size_t{1} << 28U;

// Rounds after which it is worth to look for fewer chains: the first ones force the most.
constexpr std::uint32_t kRoundsToPause = 2;

// Begins anew with fewer chains, as long as what is known by now holds the transactions in half as
// many. What is forced stays known, but the rounds of edges tell no reasons any more.
Saturated saturate_with_fewer_chains(const History& h, std::unique_ptr<Facts>& facts,
                                     std::unique_ptr<Knowledge>& known, Budget& budget,
                                     SaturationOptions how) {
  const StrongLevel level = known->graph.level();
  how.max_rounds = kRoundsToPause;
  for (;;) {
    const Saturated saturated = saturate(*known, budget, how);
    if (saturated != Saturated::Paused) return saturated;
    const auto cover = cover_by_chains(known->graph);
    if (cover.size() * 2 > facts->num_chains()) {
      how.max_rounds = SaturationOptions{}.max_rounds;
      continue;
    }
    auto relaid = std::make_unique<Facts>(h, cover);
    auto again = std::make_unique<Knowledge>(*relaid, level);
    for (const KnownEdge& e : known->graph.edges()) {
      if (e.kind != EdgeKind::Wr) again->graph.add(e);  // those it has
    }
    add_version_facts(*again);
    known = std::move(again);
    facts = std::move(relaid);
  }
}

// The share of the time that is left, and the seconds if there is no limit, for a stronger level.
constexpr double kShareForStronger = 0.25;
constexpr double kSecondsForStronger = 60;
// So many times StrongOptions::few_chains must there be chains: with fewer, a history that is at
// neither stronger level would cost twice what it costs alone.
constexpr std::uint32_t kManyForStronger = 16;

// pc and psi leave more open than si and ser do, and among thousands of short sessions cost more to
// decide. Whoever satisfies the stronger level satisfies them, by the same order of versions.
std::optional<KnownGraph> complete_by_stronger(const History& h, const Knowledge& known,
                                               Budget& budget, const StrongOptions& options) {
  const StrongLevel level = known.graph.level();
  if ((level != StrongLevel::Pc && level != StrongLevel::Psi) || !options.saturate ||
      !options.prune || known.graph.facts().num_chains() <= options.few_chains * kManyForStronger)
    return std::nullopt;
  for (const StrongLevel stronger : {StrongLevel::Ser, StrongLevel::Si}) {
    const auto left = budget.remaining();
    Budget part = budget.within(left ? *left * kShareForStronger : kSecondsForStronger);
    const Decision decision = decide(h, stronger, part, options);
    if (decision.outcome != Outcome::Consistent) continue;
    if (auto completed = complete_by(known, guess_of(*decision.completed), budget))
      return completed;
  }
  return std::nullopt;
}

Decision give_up(Decision decision, std::string limit) {
  decision.limit = std::move(limit);
  return decision;
}

}  // namespace

Decision decide(const History& h, StrongLevel level, Budget& budget, const StrongOptions& options) {
  Decision decision;
  const auto tell = [&](std::string_view phase) {
    if (options.progress) options.progress(phase, -1);
  };
  tell("collecting reads and writes");
  decision.facts = std::make_unique<Facts>(h, level != StrongLevel::Ua);
  if (VersionOrder::size_for(*decision.facts) > kMaxOrderNumbers)
    return give_up(std::move(decision), "memory: too many sessions write the same keys");
  auto known = std::make_unique<Knowledge>(*decision.facts, level);
  add_version_facts(*known);
  const bool has_many_chains =
      decision.facts->num_chains() > options.few_chains && options.saturate;
  if (auto completed = complete_by_stronger(h, *known, budget, options)) {
    decision.outcome = Outcome::Consistent;
    decision.completed = std::make_unique<KnownGraph>(*std::move(completed));
    return decision;
  }
  SaturationOptions how;
  how.facts_only = !options.saturate;
  how.progress = options.progress;
  Saturated saturated = Saturated::Paused;
  // ua knows no paths, and takes its sessions for chains.
  if (has_many_chains && level != StrongLevel::Ua) {
    saturated = saturate_with_fewer_chains(h, decision.facts, known, budget, how);
    decision.stats.set("chains", decision.facts->num_chains());
    if (saturated == Saturated::Cycle) {  // once more, for the reasons
      known.reset();
      decision.facts = std::make_unique<Facts>(h, true);
      known = std::make_unique<Knowledge>(*decision.facts, level);
      add_version_facts(*known);
      saturated = saturate(*known, budget, how);
    }
  } else {
    saturated = saturate(*known, budget, how);
  }
  decision.stats.set("rounds", known->rounds);
  decision.stats.set("known edges", static_cast<double>(known->graph.edges().size()));
  if (saturated == Saturated::OutOfTime) return give_up(std::move(decision), limit_reached());
  if (saturated == Saturated::Cycle) {
    decision.outcome = Outcome::Violated;
    decision.contradiction = std::move(known);
    return decision;
  }

  tell("trying an order");
  const Guess guess = make_guess(*known);
  if (options.prune) {
    if (auto completed = complete_by(*known, guess, budget)) {
      decision.outcome = Outcome::Consistent;
      decision.completed = std::make_unique<KnownGraph>(*std::move(completed));
      return decision;
    }
  }
  if (!has_few_open_pairs(known->order))
    return give_up(std::move(decision), "memory: too many pairs of versions in unknown order");
  const Residue residue(*known, options.prune);
  const Search search = search_answers(residue, guess, budget, options.progress);
  decision.stats.set("choices", static_cast<double>(residue.choices().size()));
  decision.stats.set("components", static_cast<double>(residue.num_components()));
  decision.stats.set("solver calls", search.solver_calls);
  decision.stats.set("clauses", static_cast<double>(search.clauses));
  decision.stats.set("restarts", search.restarts);
  switch (search.result) {
    case SatResult::Unknown:
      return give_up(std::move(decision),
                     budget.expired_now() ? limit_reached() : "the memory of the SAT solver");
    case SatResult::Unsat:
      decision.outcome = Outcome::Violated;
      break;
    case SatResult::Sat:
      decision.outcome = Outcome::Consistent;
      decision.completed = std::make_unique<KnownGraph>(complete(residue, search.answers));
      break;
  }
  return decision;
}

}  // namespace isoscope::strong
