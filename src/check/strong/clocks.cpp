#include "check/strong/clocks.h"

#include <algorithm>
#include <cstdint>

namespace isoscope::strong {

std::vector<ChainBlock> chain_blocks(const KnownGraph& graph, std::size_t max_numbers) {
  const std::uint32_t chains = graph.facts().num_chains();
  const std::size_t points = std::max<std::size_t>(graph.num_points(), 1);
  const auto fitting = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(max_numbers / points, 1, std::max<std::uint32_t>(chains, 1)));
  std::vector<ChainBlock> blocks;
  for (std::uint32_t first = 0; first < chains; first += fitting)
    blocks.push_back({first, std::min(fitting, chains - first)});
  return blocks;
}

namespace {

// A loop without calls over two rows and a size that no other code changes: many numbers at a time.
void raise_to(std::uint32_t* to, const std::uint32_t* from, std::size_t size) {
  for (std::size_t c = 0; c < size; ++c) to[c] = std::max(to[c], from[c]);
}

}  // namespace

Predecessors::Predecessors(const KnownGraph& graph)
    : begin_(graph.num_points() + 1, 0), end_(graph.num_points(), 0) {
  const auto order = graph.order();
  for (const PointId p : order)
    graph.for_each_successor(p, [&](PointId q) { ++begin_[q.index + 1]; });
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  sources_.resize(begin_.back());
  std::copy(begin_.begin(), begin_.end() - 1, end_.begin());
  for (auto p = order.rbegin(); p != order.rend(); ++p)
    graph.for_each_successor(*p, [&](PointId q) { sources_[end_[q.index]++] = *p; });
}

Steps Predecessors::by_source() const {
  Steps steps;
  steps.begin.assign(begin_.size(), 0);
  const auto for_each_step = [&](auto&& f) {
    for (std::uint32_t q = 0; q < end_.size(); ++q)
      for_each(PointId{q}, [&](PointId p) { f(p, PointId{q}); });
  };
  for_each_step([&](PointId p, PointId) { ++steps.begin[p.index + 1]; });
  for (std::size_t i = 1; i < steps.begin.size(); ++i) steps.begin[i] += steps.begin[i - 1];
  steps.targets.resize(steps.begin.back());
  std::vector<std::uint32_t> free(steps.begin.begin(), steps.begin.end() - 1);
  for_each_step([&](PointId p, PointId q) { steps.targets[free[p.index]++] = q; });
  return steps;
}

void Clocks::advance(std::uint32_t* to, const std::uint32_t* from_row, PointId from) const {
  raise_to(to, from_row, block_.size);
  const ChainId own = chain(from);
  if (!block_.contains(own)) return;
  std::uint32_t& slot = to[own.index - block_.first];
  slot = std::max(slot, points_.position(facts_, from) + 1);
}

Clocks::Clocks(const KnownGraph& graph, ChainBlock block, Budget& budget, RwPaths rw)
    : facts_(graph.facts()),
      points_(graph.points()),
      block_(block),
      rows_(static_cast<std::size_t>(graph.num_points()) * block.size),
      before_(graph) {
  for (const PointId q : graph.order()) {
    if (budget.expired()) return;
    std::uint32_t* to = row(rows_, q);
    before_.keep_if(q, [&](PointId p) {
      const ChainId c = chain(p);
      if (block_.contains(c) && to[c.index - block_.first] > points_.position(facts_, p))
        return false;
      advance(to, row(rows_, p), p);
      return true;
    });
  }
  if (graph.level() != StrongLevel::Psi || rw == RwPaths::None) return;
  // A path with one rw: free of them up to the reader, then the edge, then free of them again.
  rw_rows_ = rows_;
  for (const KnownEdge& e : graph.sorted_edges()) {
    if (e.kind == EdgeKind::Rw)
      advance(row(rw_rows_, points_.commit(e.to)), row(rows_, points_.start(e.from)),
              points_.start(e.from));
  }
  for (const PointId q : graph.order()) {
    if (budget.expired()) return;
    std::uint32_t* to = row(rw_rows_, q);
    before_.for_each(q, [&](PointId p) { raise_to(to, row(rw_rows_, p), block_.size); });
  }
}

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
