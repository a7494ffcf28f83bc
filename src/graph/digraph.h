#pragma once
// A directed graph over 0 … n-1 for millions of nodes: built once, then only read.
//
// Arcs stand in one array, grouped by where they start (compressed sparse rows): 4 bytes an arc
// and 8 a node. What checkers ask of it is all about cycles: the strongly connected components,
// an order that every arc follows, and, where there is none, a shortest cycle to show to people.
//
// Some orders are too long to be written down arc by arc: a session of a million transactions
// has 10^12 pairs. `Chains` says them in one number a node, and a shortest cycle takes a run
// along a chain for the single step that it is.
//
// Papers  [Tarjan-SIAM'72] for components, in the form with one number a node of [Pearce-IPL'16].
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "support/budget.h"

namespace isoscope {

class Digraph {
 public:
  using Node = std::uint32_t;
  struct Arc {
    Node from;
    Node to;
    friend auto operator<=>(const Arc&, const Arc&) = default;
  };
  static constexpr Node kNone = std::numeric_limits<Node>::max();

  Digraph() = default;
  Digraph(std::size_t n, std::span<const Arc> arcs);
  // `each(add)` calls add(from, to) for every arc. It is called twice, to count and to fill, and
  // must say the same both times; so the arcs need no list of their own.
  template <class Each>
  static Digraph of(std::size_t n, Each&& each) {
    Digraph g;
    g.begin_.assign(n + 2, 0);
    each([&](Node from, Node) { ++g.begin_[from + 2]; });
    for (std::size_t v = 2; v < n + 2; ++v) g.begin_[v] += g.begin_[v - 1];
    g.to_.resize(g.begin_.back());
    each([&](Node from, Node to) { g.to_[g.begin_[from + 1]++] = to; });
    g.begin_.pop_back();
    return g;
  }

  std::size_t size() const { return begin_.size() - 1; }
  // In the order in which they were added; one that was added twice is here twice.
  std::span<const Node> successors(Node v) const {
    return {to_.data() + begin_[v], to_.data() + begin_[v + 1]};
  }

 private:
  std::vector<std::size_t> begin_ = {0};  // by node, one more at the end
  std::vector<Node> to_;
};

Digraph reverse(const Digraph& g);

// Two nodes are in one component iff each can be reached from the other.
struct Components {
  // By node. Components are numbered as they are completed: an arc leads to the same number or to
  // a smaller one. Roots are tried from 0 up, so if every arc of `g` leads to a smaller node, the
  // component of v is v.
  std::vector<std::uint32_t> of;
  std::size_t count = 0;

  // If not, some cycle is longer than a loop at one node.
  bool are_single() const { return count == of.size(); }
};
// O(nodes + arcs), without recursion.
Components strongly_connected_components(const Digraph& g);

// The order that every arc follows; of several, the one in which the smallest node that may come
// next does. Nothing if there is a cycle. O(arcs + nodes log nodes).
std::optional<std::vector<Digraph::Node>> topological_order(const Digraph& g);

// By node: the chain it belongs to (numbered from 0), or kNone. A node precedes every larger node
// of its chain, as if there were an arc. Empty if there are no chains.
using Chains = std::span<const std::uint32_t>;

// The first `max` pairs of nodes, the smaller one first, of which each leads to the other by an arc
// or by its chain: the cycles of two. O(nodes + arcs).
std::vector<Digraph::Arc> cycles_of_two(const Digraph& g, Chains chains, std::size_t max);

struct Cycle {
  // Each leads to the next by an arc or by its chain, the last one to the first; the smallest
  // node comes first. A loop has one node.
  std::vector<Digraph::Node> nodes;
  bool is_shortest = true;  // false if the search stopped at its limit, or with its budget
};

// The search looks at this many arcs before it is content with the shortest cycle so far: some
// seconds. Loops and cycles of two are always found.
inline constexpr std::uint64_t kCycleSearchLimit = std::uint64_t{1} << 28U;

// A cycle of `g` and its chains with the fewest steps, or nothing if there is none. Of several,
// always the same one.
//
// Cost  O(arcs) if the answer has up to two steps; otherwise a breadth-first search from every
//       node that lies on a cycle, each cut off at the length of the best cycle so far.
std::optional<Cycle> shortest_cycle(const Digraph& g, Chains chains = {},
                                    std::uint64_t limit = kCycleSearchLimit,
                                    Budget* budget = nullptr);

}  // namespace isoscope
