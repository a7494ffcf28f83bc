#include "check/ground/short_cycles.h"

#include <algorithm>
#include <utility>

namespace isoscope {
namespace {

std::vector<std::size_t> shortest_cycle(const BitMatrix& r, std::size_t start) {
  const std::size_t n = r.rows();
  std::vector<std::size_t> previous(n, n);
  BitSet unseen = BitSet::full(n);
  std::vector<std::size_t> queue = {start};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t a = queue[head];
    if (r.contains(a, start)) {
      std::vector<std::size_t> cycle;
      for (std::size_t b = a; b != start; b = previous[b]) cycle.push_back(b);
      cycle.push_back(start);
      std::reverse(cycle.begin(), cycle.end());
      return cycle;
    }
    BitSet next = unseen;
    next.intersect(r.row(a));
    unseen.subtract(next.row());
    for_each_bit(next.row(), [&](std::size_t b) {
      if (b == start) return;
      previous[b] = a;
      queue.push_back(b);
    });
  }
  return {};
}

}  // namespace

std::vector<std::vector<std::size_t>> short_cycles(const BitMatrix& r, std::size_t limit,
                                                   Budget& budget) {
  if (is_acyclic(r)) return {};
  std::vector<std::vector<std::size_t>> cycles;
  for (std::size_t a = 0; a < r.rows() && !budget.expired_now(); ++a) {
    std::vector<std::size_t> cycle = shortest_cycle(r, a);
    if (cycle.empty()) continue;
    // Written from its smallest element on, so that equal cycles look equal.
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    cycles.push_back(std::move(cycle));
  }
  std::sort(cycles.begin(), cycles.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  cycles.erase(std::unique(cycles.begin(), cycles.end()), cycles.end());
  if (cycles.size() > limit) cycles.resize(limit);
  return cycles;
}

}  // namespace isoscope
