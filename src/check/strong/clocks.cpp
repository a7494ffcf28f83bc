#include "check/strong/clocks.h"

#include <algorithm>

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

// A loop without calls over two rows and a size that nobody else changes: many numbers at a time.
void raise_to(std::uint32_t* to, const std::uint32_t* from, std::size_t size) {
  for (std::size_t c = 0; c < size; ++c) to[c] = std::max(to[c], from[c]);
}

}  // namespace

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
      rows_(static_cast<std::size_t>(graph.num_points()) * block.size) {
  for (const PointId p : graph.order()) {
    if (budget.expired()) return;
    graph.for_each_successor(p, [&](PointId q) { advance(row(rows_, q), row(rows_, p), p); });
  }
  if (graph.level() != StrongLevel::Psi || rw == RwPaths::None) return;
  // A path with one rw: free of them up to the reader, then the edge, then free of them again.
  rw_rows_ = rows_;
  for (const KnownEdge& e : graph.sorted_edges()) {
    if (e.kind == EdgeKind::Rw)
      advance(row(rw_rows_, points_.commit(e.to)), row(rows_, points_.start(e.from)),
              points_.start(e.from));
  }
  for (const PointId p : graph.order()) {
    if (budget.expired()) return;
    const std::uint32_t* from = row(rw_rows_, p);
    graph.for_each_successor(p, [&](PointId q) { raise_to(row(rw_rows_, q), from, block_.size); });
  }
}

}  // namespace isoscope::strong
