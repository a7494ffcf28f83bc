#include "check/strong/decide.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "check/strong/clocks.h"
#include "check/strong/residue.h"
#include "check/strong/saturation.h"
#include "check/strong/search.h"
#include "check/strong/strong.h"
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
    case SatResult::Unsat: decision.outcome = Outcome::Violated; break;
    case SatResult::Sat:
      decision.outcome = Outcome::Consistent;
      decision.completed = std::make_unique<KnownGraph>(complete(residue, search.answers));
      break;
  }
  return decision;
}

}  // namespace isoscope::strong

namespace isoscope {
namespace strong {
namespace {

// Calls f(u) for every writer of a key that t writes and that comes before t in the order.
template <class F>
void for_each_overwritten(const History& h, const std::vector<std::uint32_t>& position, TxnId t,
                          F&& f) {
  for (const EventId e : h.events(t)) {
    if (!h.is_final_write(e)) continue;
    for (const TxnId u : h.writers(h.key(e))) {
      if (position[u.index] < position[t.index]) f(u);
    }
  }
}

std::vector<std::uint32_t> positions_in(const History& h, const std::vector<TxnId>& order) {
  std::vector<std::uint32_t> position(h.num_txns(), 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i].index] = i;
  return position;
}

// so, wr and ww where the order of versions follows `order`.
Relation dependencies(const History& h, const std::vector<TxnId>& order) {
  const std::vector<std::uint32_t> position = positions_in(h, order);
  Relation r = so_relation(h) | wr_relation(h);
  for (const TxnId t : order)
    for_each_overwritten(h, position, t, [&](TxnId u) { r.insert(u.index, t.index); });
  return r;
}

// Closes r under composition. Requires: r follows the order.
void close(Relation& r, const std::vector<TxnId>& order) {
  for (auto t = order.rbegin(); t != order.rend(); ++t) {
    std::vector<std::size_t> direct;
    r.for_each_successor(t->index, [&](std::size_t u) { direct.push_back(u); });
    for (const std::size_t u : direct) r.add_successors(t->index, u);
  }
}

// Each transaction sees a prefix of the order: up to the last that it must see.
Relation prefixes(const History& h, StrongLevel level, const std::vector<TxnId>& order) {
  const std::vector<std::uint32_t> position = positions_in(h, order);
  Relation vis(h.num_txns());
  std::vector<std::uint32_t> session_last(h.num_sessions(), 0);
  for (const TxnId t : order) {
    if (t == kInitialTxn) continue;
    std::uint32_t& last_of_session = session_last[h.session(t).index];
    std::uint32_t last = last_of_session;
    for (const EventId e : h.events(t)) {
      if (h.is_external_read(e)) last = std::max(last, position[h.writer(e).index]);
    }
    if (level == StrongLevel::Si)
      for_each_overwritten(h, position, t,
                           [&](TxnId u) { last = std::max(last, position[u.index]); });
    for (std::uint32_t i = 0; i <= last; ++i) vis.insert(order[i].index, t.index);
    last_of_session = position[t.index];
  }
  return vis;
}

}  // namespace

Witness make_witness(const KnownGraph& graph) {
  const History& h = graph.facts().history();
  const Points& points = graph.points();
  Witness witness;
  witness.order.push_back(kInitialTxn);
  for (const PointId p : graph.order()) {
    if (points.is_commit(p)) witness.order.push_back(points.txn(p));
  }
  const bool is_psi = graph.level() == StrongLevel::Psi;
  if (!is_psi && graph.level() != StrongLevel::Ua) return witness;
  witness.framework = Framework::VisAr;
  if (witness.order.size() > kMaxVisTxns) return witness;
  witness.vis = dependencies(h, witness.order);
  if (is_psi) close(*witness.vis, witness.order);
  return witness;
}

}  // namespace strong

Witness as_vis_witness(const History& h, StrongLevel level, const Witness& co) {
  if (co.framework == Framework::VisAr) return co;
  Witness witness{.framework = Framework::VisAr, .order = co.order, .vis = {}};
  if (co.order.size() > kMaxVisTxns) return witness;
  witness.vis = level == StrongLevel::Ser ? order_relation(co.order, h.num_txns())
                                          : strong::prefixes(h, level, co.order);
  return witness;
}

}  // namespace isoscope
