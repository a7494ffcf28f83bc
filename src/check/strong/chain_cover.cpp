#include "check/strong/chain_cover.h"

#include <cstdint>

namespace isoscope::strong {

std::vector<std::vector<TxnId>> cover_by_chains(const KnownGraph& graph) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const Points& points = graph.points();
  const std::uint32_t n = graph.facts().num_txns();
  // Who is known to reach the start of a transaction from its commit, in one step.
  std::vector<std::uint32_t> begin(n + 1, 0);
  const auto for_each_step = [&](auto&& f) {
    graph.for_each_arc([&](PointId p, PointId q) {
      const TxnId t = points.txn(p);
      const TxnId u = points.txn(q);
      if (t != u && points.is_commit(p) && q == points.start(u)) f(t, u);
    });
  };
  for_each_step([&](TxnId, TxnId u) { ++begin[u.index + 1]; });
  for (std::uint32_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<TxnId> before(begin.back());
  std::vector<std::uint32_t> free(begin.begin(), begin.end() - 1);
  for_each_step([&](TxnId t, TxnId u) { before[free[u.index]++] = t; });

  std::vector<std::vector<TxnId>> chains;
  std::vector<std::uint32_t> ends(n, kNone);  // the chain that a transaction ends
  std::vector<std::uint32_t> place(n, 0);     // of its start in the sorted order
  std::uint32_t next = 0;
  for (const PointId p : graph.order()) {
    const TxnId u = points.txn(p);
    if (p != points.start(u)) continue;
    place[u.index] = next++;
    // The latest end leaves the earlier ones to those that can go on from no other.
    TxnId last = TxnId::none();
    for (std::uint32_t i = begin[u.index]; i < begin[u.index + 1]; ++i) {
      const TxnId t = before[i];
      if (ends[t.index] != kNone && (last.is_none() || place[t.index] > place[last.index]))
        last = t;
    }
    ends[u.index] = last.is_none() ? static_cast<std::uint32_t>(chains.size()) : ends[last.index];
    if (last.is_none()) {
      chains.emplace_back();
    } else {
      ends[last.index] = kNone;
    }
    chains[ends[u.index]].push_back(u);
  }
  return chains;
}

}  // namespace isoscope::strong
