#include <algorithm>

#include "graph/digraph.h"

namespace isoscope {

namespace {

using Node = Digraph::Node;

// The next node of the same chain, by node; kNone at the end of a chain.
std::vector<Node> next_in_chain(std::size_t n, Chains chains) {
  std::vector<Node> next(n, Digraph::kNone);
  std::vector<Node> last;  // by chain
  for (Node v = 0; v < chains.size(); ++v) {
    if (chains[v] == Digraph::kNone) continue;
    if (chains[v] >= last.size()) last.resize(chains[v] + 1, Digraph::kNone);
    if (last[chains[v]] != Digraph::kNone) next[last[chains[v]]] = v;
    last[chains[v]] = v;
  }
  return next;
}

class CycleSearch {
 public:
  CycleSearch(const Digraph& g, Chains chains)
      : g_(g),
        chains_(chains),
        next_(next_in_chain(g.size(), chains)),
        component_(strongly_connected_components(with_chain_steps()).of) {}

  std::optional<Cycle> search(std::uint64_t limit, Budget* budget) {
    if (auto found = up_to_two()) return found;
    std::vector<std::uint32_t> size(g_.size(), 0);
    for (std::uint32_t component : component_) ++size[component];
    seen_.assign(g_.size(), Digraph::kNone);
    chain_seen_.assign(g_.size(), Digraph::kNone);
    steps_to_.resize(g_.size());
    parent_.resize(g_.size());
    bool is_shortest = true;
    for (Node v = 0; v < g_.size(); ++v) {
      if (size[component_[v]] == 1) continue;
      const bool is_late = budget != nullptr && budget->expired_now();
      if (!best_.empty() && (looked_at_ > limit || is_late)) {
        is_shortest = false;
        break;
      }
      search_from(v);
      if (best_.size() == 3) break;  // shorter ones do not exist
    }
    if (best_.empty()) return {};
    return Cycle{std::move(best_), is_shortest};
  }

 private:
  Digraph with_chain_steps() const {
    return Digraph::of(g_.size(), [&](auto&& add) {
      for (Node v = 0; v < g_.size(); ++v) {
        if (next_[v] != Digraph::kNone) add(v, next_[v]);
        for (Node w : g_.successors(v)) add(v, w);
      }
    });
  }

  std::optional<Cycle> up_to_two() const {
    for (Node v = 0; v < g_.size(); ++v) {
      for (Node w : g_.successors(v)) {
        if (v == w) return Cycle{{v}};
      }
    }
    const auto pairs = cycles_of_two(g_, chains_, 1);
    if (pairs.empty()) return {};
    return Cycle{{pairs.front().from, pairs.front().to}};
  }

  // Looks for a cycle through v shorter than the best one. Smaller nodes have had their turn: no
  // shorter cycle leads through them.
  void search_from(Node v) {
    queue_.clear();
    steps_to_[v] = 0;
    queue_.push_back(v);
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const Node u = queue_[head];
      if (!best_.empty() && steps_to_[u] + 1 >= best_.size()) return;
      for (Node w : g_.successors(u)) {
        ++looked_at_;
        if (w == v) return close(u, v);
        if (w > v && component_[w] == component_[v]) reach(w, u, v);
      }
      // Where the chain has been walked, it has been walked to its end.
      for (Node w = next_[u]; w != Digraph::kNone && chain_seen_[w] != v; w = next_[w]) {
        ++looked_at_;
        if (component_[w] != component_[v]) break;
        chain_seen_[w] = v;
        reach(w, u, v);
      }
    }
  }

  void reach(Node w, Node from, Node source) {
    if (seen_[w] == source) return;
    seen_[w] = source;
    steps_to_[w] = steps_to_[from] + 1;
    parent_[w] = from;
    queue_.push_back(w);
  }

  void close(Node last, Node source) {
    best_.clear();
    for (Node u = last; u != source; u = parent_[u]) best_.push_back(u);
    best_.push_back(source);
    std::reverse(best_.begin(), best_.end());
  }

  const Digraph& g_;
  Chains chains_;
  std::vector<Node> next_;
  std::vector<std::uint32_t> component_;

  std::vector<Node> best_;  // the cycle so far; empty if none
  std::uint64_t looked_at_ = 0;
  // Of the search from a source; `seen` holds that source.
  std::vector<Node> queue_;
  std::vector<Node> seen_;
  std::vector<Node> chain_seen_;
  std::vector<std::uint32_t> steps_to_;
  std::vector<Node> parent_;
};

}  // namespace

std::vector<Digraph::Arc> cycles_of_two(const Digraph& g, Chains chains, std::size_t max) {
  const auto precedes_in_chain = [&](Node v, Node w) {
    return v < w && !chains.empty() && chains[v] != Digraph::kNone && chains[v] == chains[w];
  };
  std::vector<Digraph::Arc> pairs;
  const Digraph predecessors = reverse(g);
  std::vector<Node> leads_to(g.size(), Digraph::kNone);  // the node that it was last seen lead to
  std::vector<Node> paired(g.size(), Digraph::kNone);    // the same for those that are in `pairs`
  for (Node v = 0; v < g.size(); ++v) {
    for (Node u : predecessors.successors(v)) leads_to[u] = v;
    for (Node w : g.successors(v)) {
      // A pair of arcs is found from its smaller node, an arc against a chain from its larger one.
      const bool is_pair =
          w > v ? leads_to[w] == v && !precedes_in_chain(v, w) : precedes_in_chain(w, v);
      if (!is_pair || paired[w] == v) continue;
      if (pairs.size() == max) return pairs;
      paired[w] = v;
      pairs.push_back({std::min(v, w), std::max(v, w)});
    }
  }
  return pairs;
}

std::optional<Cycle> shortest_cycle(const Digraph& g, Chains chains, std::uint64_t limit,
                                    Budget* budget) {
  return CycleSearch(g, chains).search(limit, budget);
}

}  // namespace isoscope
