#include "check/strong/witness.h"

#include <algorithm>
#include <vector>

#include "check/strong/strong.h"

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
