#include "check/ground/decode.h"

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

namespace isoscope {
namespace {

// More cycles than these say little that the first ones do not.
constexpr std::size_t kMaxCycles = 400;

// The order that a model chose, as a graph of the fixed edges and the chosen ones.
class ChosenOrder {
 public:
  ChosenOrder(const Encoding& encoding, const Circuit& circuit)
      : encoding_(encoding), n_(encoding.num_points()), chosen_(n_) {
    for (const Encoding::Pair& pair : encoding.order_pairs()) {
      if (circuit.value(pair.signal)) {
        chosen_[pair.from].push_back({pair.to, pair.signal});
      } else {
        chosen_[pair.to].push_back({pair.from, !pair.signal});
      }
    }
  }

  // A linear extension that keeps close to the reference order; shorter than n if there are
  // cycles.
  std::vector<std::uint32_t> sort() {
    std::vector<std::uint32_t> waiting(n_);
    for (std::size_t a = 0; a < n_; ++a)
      for_each_successor(a, [&](std::uint32_t b) { ++waiting[b]; });
    using Entry = std::pair<std::uint32_t, std::uint32_t>;  // rank, transaction
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::uint32_t a = 0; a < n_; ++a) {
      if (waiting[a] == 0) ready.emplace(encoding_.rank(a), a);
    }
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
      const std::uint32_t a = ready.top().second;
      ready.pop();
      order.push_back(a);
      for_each_successor(a, [&](std::uint32_t b) {
        if (--waiting[b] == 0) ready.emplace(encoding_.rank(b), b);
      });
    }
    in_cycles_.assign(n_, true);
    for (const std::uint32_t a : order) in_cycles_[a] = false;
    return order;
  }

  // Each cycle has a chosen edge that leads backwards in the reference order, so searching from
  // those finds one wherever there is one. Requires: sort() was called.
  std::vector<std::vector<Signal>> cycles(Budget& budget) const {
    std::vector<std::vector<Signal>> found;
    for (std::uint32_t a = 0; a < n_ && found.size() < kMaxCycles; ++a) {
      if (!in_cycles_[a]) continue;
      for (const Edge& edge : chosen_[a]) {
        if (!in_cycles_[edge.to] || encoding_.rank(edge.to) > encoding_.rank(a)) continue;
        if (budget.expired_now()) return found;
        auto path = chosen_on_path(edge.to, a);
        if (!path) continue;  // behind a cycle, not on one
        path->push_back(edge.signal);
        found.push_back(*std::move(path));
      }
    }
    return found;
  }

 private:
  struct Edge {
    std::uint32_t to = 0;
    Signal signal;
  };

  template <class F>
  void for_each_successor(std::size_t a, F&& f) const {
    for (const std::uint32_t b : encoding_.fixed_successors()[a]) f(b);
    for (const Edge& edge : chosen_[a]) f(edge.to);
  }

  // The chosen edges of a path with the fewest of them, if there is a path. Fixed edges cost
  // nothing, so this is a breadth-first search on a double-ended queue.
  std::optional<std::vector<Signal>> chosen_on_path(std::uint32_t from, std::uint32_t to) const {
    constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
    struct Step {
      std::uint32_t cost = kFar;
      std::uint32_t previous = 0;
      Signal signal = kTrue;  // the constant for a fixed edge
    };
    std::vector<Step> steps(n_);
    steps[from].cost = 0;
    std::deque<std::pair<std::uint32_t, std::uint32_t>> queue = {{from, 0}};  // with its cost
    while (!queue.empty()) {
      const auto [a, cost] = queue.front();
      queue.pop_front();
      if (a == to) break;
      if (cost > steps[a].cost) continue;
      for (const std::uint32_t b : encoding_.fixed_successors()[a]) {
        if (!in_cycles_[b] || steps[b].cost <= cost) continue;
        steps[b] = {cost, a, kTrue};
        queue.emplace_front(b, cost);
      }
      for (const Edge& edge : chosen_[a]) {
        if (!in_cycles_[edge.to] || steps[edge.to].cost <= cost + 1) continue;
        steps[edge.to] = {cost + 1, a, edge.signal};
        queue.emplace_back(edge.to, cost + 1);
      }
    }
    if (steps[to].cost == kFar) return std::nullopt;
    std::vector<Signal> path;
    for (std::uint32_t a = to; a != from; a = steps[a].previous) {
      if (!steps[a].signal.is_constant()) path.push_back(steps[a].signal);
    }
    return path;
  }

  const Encoding& encoding_;
  std::size_t n_;
  std::vector<std::vector<Edge>> chosen_;
  std::vector<bool> in_cycles_;  // or behind one: what sort() did not reach
};

}  // namespace

Decoded decode(const Encoding& encoding, const Circuit& circuit, Budget& budget) {
  Decoded decoded;
  ChosenOrder chosen(encoding, circuit);
  const std::vector<std::uint32_t> points = chosen.sort();
  if (points.size() < encoding.num_points()) {
    decoded.cycles = chosen.cycles(budget);
    return decoded;
  }
  const std::size_t n = encoding.universe().num_txns();
  std::vector<std::uint32_t> snapshots(encoding.universe().num_statements());
  for (const std::uint32_t a : points) {
    if (a < n) {
      decoded.order.push_back(a);
    } else {
      snapshots[a - n] = static_cast<std::uint32_t>(decoded.order.size());
    }
  }
  if (encoding.framework() == Framework::CoSnap) {
    for (const Universe::Read& read : encoding.universe().reads())
      decoded.snap.push_back(snapshots[read.statement]);
  }
  if (encoding.framework() == Framework::VisAr) {
    decoded.vis = encoding.bounds().vis.must();
    for (const Encoding::Pair& pair : encoding.vis_pairs()) {
      if (circuit.value(pair.signal)) decoded.vis.insert(pair.from, pair.to);
    }
  }
  return decoded;
}

WitnessBounds exact_bounds(const Decoded& decoded, Framework framework) {
  const std::size_t n = decoded.order.size();
  BitMatrix order(n, n);
  BitSet later(n);
  for (auto a = decoded.order.rbegin(); a != decoded.order.rend(); ++a) {
    order.unite_row(*a, later.row());
    later.insert(*a);
  }
  BitMatrix snap(n, decoded.snap.size());
  for (std::size_t r = 0; r < decoded.snap.size(); ++r) {
    for (std::size_t i = 0; i < decoded.snap[r]; ++i) snap.insert(decoded.order[i], r);
  }
  return {Bound(std::move(order)), Bound(framework == Framework::VisAr ? decoded.vis : BitMatrix()),
          Bound(std::move(snap))};
}

Witness to_witness(const Decoded& decoded, const Encoding& encoding) {
  const Universe& universe = encoding.universe();
  Witness witness;
  witness.framework = encoding.framework();
  for (const std::uint32_t a : decoded.order) witness.order.push_back(universe.txn(a));
  if (witness.framework == Framework::VisAr) {
    witness.vis.emplace(universe.history().num_txns());
    for (std::size_t a = 0; a < universe.num_txns(); ++a) {
      for_each_bit(decoded.vis.row(a), [&](std::size_t b) {
        witness.vis->insert(universe.txn(a).index, universe.txn(b).index);
      });
    }
  }
  if (witness.framework == Framework::CoSnap) {
    witness.snap.assign(universe.history().num_events(), 0);
    for (std::size_t r = 0; r < decoded.snap.size(); ++r)
      witness.snap[universe.reads()[r].event.index] = decoded.snap[r];
  }
  return witness;
}

}  // namespace isoscope
