#include "check/weak/weak.h"

#include <algorithm>

#include "check/weak/cycles.h"
#include "check/weak/forced.h"
#include "check/weak/reasons.h"
#include "graph/digraph.h"
#include "support/assert.h"
#include "support/budget.h"

namespace isoscope {

bool WeakAssignment::uses(WeakLevel level) const {
  if (own.empty()) return base == level;
  return std::find(own.begin(), own.end(), level) != own.end();
}

WeakFacts::WeakFacts(const History& history, const WeakAssignment& assignment)
    : h(history), levels(assignment), writes(history), previous(history.num_txns(), TxnId::none()) {
  for (SessionId s : h.sessions()) {
    TxnId last = kInitialTxn;
    for (TxnId t : h.session_txns(s)) {
      if (!h.is_present(t)) continue;
      previous[t.index] = last;
      last = t;
    }
  }
}

namespace {

Verdict out_of_time() { return Verdict::unknown(limit_reached()); }

}  // namespace

Verdict check_weak(const History& h, const WeakAssignment& levels, Budget& budget) {
  ISO_ASSERT(h.num_txns() < ForcedEdges::kMaxTxns);
  ISO_ASSERT(levels.own.empty() || levels.own.size() == h.num_txns());
  const WeakFacts facts(h, levels);
  ForcedEdges forced;
  if (levels.uses(WeakLevel::Rc) && !force_read_committed(facts, forced, budget))
    return out_of_time();
  if (levels.uses(WeakLevel::Ra) && !force_read_atomic(facts, forced, budget)) return out_of_time();
  if (h.has_lists() && !force_by_lists(facts, forced, budget)) return out_of_time();
  if (levels.uses(WeakLevel::Cc)) {
    const Before so_wr(h.num_txns(), [&](auto&& add) { add_facts(facts, add); });
    const bool in_time = !so_wr.is_acyclic() || force_causal(facts, so_wr.order(), forced, budget);
    if (!in_time) return out_of_time();
  }

  const Before before(h.num_txns(), [&](auto&& add) {
    add_facts(facts, add);
    for (const VersionEdge& edge : h.version_edges()) {
      if (edge.before != kInitialTxn) add(edge.after.index, edge.before.index);
    }
    forced.for_each([&](TxnId t2, TxnId t1) { add(t1.index, t2.index); });
  });
  const std::size_t num_forced = forced.size();
  forced = {};
  if (budget.expired_now()) return out_of_time();

  Verdict verdict;
  if (before.is_acyclic()) {
    std::vector<TxnId> order = before.order();
    std::erase_if(order, [&](TxnId t) { return !h.is_present(t); });
    verdict = Verdict::consistent({.framework = Framework::Co, .order = std::move(order)});
  } else {
    const ChosenCycles chosen = choose_cycles(facts, before, budget);
    Violation violation;
    violation.cycle = explain_one_of(facts, chosen.cycles);
    verdict = Verdict::violated(std::move(violation));
    verdict.stats.set("shortest", chosen.are_shortest ? 1 : 0);
  }
  verdict.stats.set("forced_edges", static_cast<double>(num_forced));
  return verdict;
}

}  // namespace isoscope
