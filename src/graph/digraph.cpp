#include "graph/digraph.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace isoscope {

using Node = Digraph::Node;

Digraph::Digraph(std::size_t n, std::span<const Arc> arcs)
    : Digraph(of(n, [&](auto&& add) {
        for (const Arc& arc : arcs) add(arc.from, arc.to);
      })) {}

Digraph reverse(const Digraph& g) {
  return Digraph::of(g.size(), [&](auto&& add) {
    for (Node v = 0; v < g.size(); ++v) {
      for (Node w : g.successors(v)) add(w, v);
    }
  });
}

namespace {

// Does every arc lead to a smaller node? Then the numbering itself shows that there is no cycle.
bool leads_down(const Digraph& g) {
  for (Node v = 0; v < g.size(); ++v) {
    for (Node w : g.successors(v)) {
      if (w >= v) return false;
    }
  }
  return true;
}

// One visit of the depth-first search, in place of a recursive call.
struct Visit {
  Node node;
  std::uint32_t number;  // when the node was found
  std::size_t next;      // the successor to look at
};

}  // namespace

Components strongly_connected_components(const Digraph& g) {
  constexpr std::uint32_t kUnseen = 0;
  constexpr std::uint32_t kDone = std::numeric_limits<std::uint32_t>::max();
  Components result;
  result.of.resize(g.size());
  if (leads_down(g)) {
    std::iota(result.of.begin(), result.of.end(), 0U);
    result.count = g.size();
    return result;
  }
  std::vector<std::uint32_t> low(g.size(), kUnseen);  // the earliest node known to be reachable
  std::vector<Visit> visits;
  std::vector<Node> open;  // found, and of a component that is not complete
  std::uint32_t found = 0;
  const auto enter = [&](Node v) {
    low[v] = ++found;
    visits.push_back({v, found, 0});
  };
  for (Node root = 0; root < g.size(); ++root) {
    if (low[root] != kUnseen) continue;
    enter(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const Node v = visit.node;
      const auto successors = g.successors(v);
      while (visit.next < successors.size() && low[successors[visit.next]] != kUnseen) {
        low[v] = std::min(low[v], low[successors[visit.next]]);
        ++visit.next;
      }
      if (visit.next < successors.size()) {
        enter(successors[visit.next]);  // which is looked at again on return
        continue;
      }
      const std::uint32_t number = visit.number;
      visits.pop_back();
      if (low[v] != number) {
        open.push_back(v);
        continue;
      }
      // What is open and was found since v belongs to v's component; the rest is older than v.
      const auto component = static_cast<std::uint32_t>(result.count++);
      for (; !open.empty() && low[open.back()] >= number; open.pop_back()) {
        result.of[open.back()] = component;
        low[open.back()] = kDone;
      }
      result.of[v] = component;
      low[v] = kDone;
    }
  }
  return result;
}

std::optional<std::vector<Node>> topological_order(const Digraph& g) {
  std::vector<std::uint32_t> waits_for(g.size(), 0);
  for (Node v = 0; v < g.size(); ++v) {
    for (Node w : g.successors(v)) ++waits_for[w];
  }
  std::priority_queue<Node, std::vector<Node>, std::greater<>> ready;
  for (Node v = 0; v < g.size(); ++v) {
    if (waits_for[v] == 0) ready.push(v);
  }
  std::vector<Node> order;
  order.reserve(g.size());
  while (!ready.empty()) {
    const Node v = ready.top();
    ready.pop();
    order.push_back(v);
    for (Node w : g.successors(v)) {
      if (--waits_for[w] == 0) ready.push(w);
    }
  }
  if (order.size() < g.size()) return {};
  return order;
}

}  // namespace isoscope
