#include "verdict/simplify.h"

#include <algorithm>

namespace isoscope {

namespace {

// Each step copies the cycle, and longer ones are not read.
constexpr std::size_t kLongestSimplified = 1'000;

std::vector<EdgeKind> kinds_of(const std::vector<Edge>& cycle) {
  std::vector<EdgeKind> kinds;
  for (const Edge& e : cycle) kinds.push_back(e.kind);
  return kinds;
}

bool is_simple(const std::vector<Edge>& cycle) {
  std::vector<TxnId> seen;
  for (const Edge& e : cycle) seen.push_back(e.from);
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

}  // namespace

std::vector<Edge> simplify(Logic logic, std::vector<Edge> cycle) {
  if (cycle.size() > kLongestSimplified) return cycle;
  for (std::size_t i = cycle.size(); i-- > 0;) {
    const Edge& edge = cycle[i];
    if (edge.kind != EdgeKind::Ww || !edge.read.is_none() || edge.path.size() != 1) continue;
    std::vector<Edge> candidate(cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(i));
    candidate.insert(candidate.end(), edge.path.begin(), edge.path.end());
    candidate.insert(candidate.end(), cycle.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     cycle.end());
    if (is_simple(candidate) && forbids(logic, kinds_of(candidate))) cycle = std::move(candidate);
  }
  return cycle;
}

}  // namespace isoscope
