#include "check/strong/explain.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "check/strong/decide.h"
#include "check/strong/direct.h"
#include "check/strong/paths.h"
#include "check/strong/shortest.h"
#include "graph/digraph.h"
#include "history/restrict.h"
#include "support/assert.h"

namespace isoscope::strong {

namespace {

// Edges in an explanation, those in reasons included, beyond which it is unreadable.
constexpr std::size_t kMaxEdges = 20'000;
// Reasons within reasons: as many calls of tell() are under way, here and wherever an explanation
// is walked through.
constexpr std::size_t kMaxDepth = 1'000;
// States that the search for the shortest cycle looks at before it takes the best so far.
constexpr std::uint64_t kMaxPathWork = 4'000'000;

class Explainer {
 public:
  Explainer(const Knowledge& known, Budget& budget)
      : known_(known),
        budget_(budget),
        facts_(known.graph.facts()),
        h_(facts_.history()),
        points_(known.graph.points()),
        level_(known.graph.level()),
        paths_(known) {}

  Explanation explain() {
    const std::vector<KnownEdge> cheap = known_.returned.empty() ? find_cycle() : find_return();
    ShorterCycle shorter = find_shorter_cycle(known_, cheap.size(), budget_);
    if (!shorter.edges.empty()) {
      find_rounds(shorter.edges);
      std::vector<Edge> told = tell_all(shorter.edges);
      if (!told.empty()) return {std::move(told), shorter.is_shortest};
    }
    return {tell_all(cheap), shorter.edges.empty() && shorter.is_shortest};
  }

 private:
  // Nothing if that takes too long or a reason is missing.
  std::vector<Edge> tell_all(const std::vector<KnownEdge>& cycle) {
    num_edges_ = 0;
    is_complete_ = true;
    std::vector<Edge> edges = tell(cycle);
    if (!is_complete_ || num_edges_ > kMaxEdges) edges.clear();
    return edges;
  }

  // Gives edges that may not be listed the first round in which their orders have a reason.
  void find_rounds(std::vector<KnownEdge>& edges) {
    for (KnownEdge& e : edges) {
      if (budget_.expired_now()) return;
      if (e.kind == EdgeKind::Ww) e.round = find_round(e.from, e.to, e.key);
      if (e.kind == EdgeKind::Rw && e.overwritten != kInitialTxn)
        e.round = find_round(e.overwritten, e.to, e.key);
    }
  }
  std::uint32_t find_round(TxnId b, TxnId a, KeyId x) {
    if (paths_.is_listed_fact(b, a, x)) return 0;
    std::uint32_t low = 1;
    std::uint32_t high = known_.rounds + 1;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (find_order(b, a, middle) || find_overtaken(b, a, x, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // The cheapest cycle, or a cheap one if there is too much to search.
  std::vector<KnownEdge> find_cycle() {
    const Digraph arcs = Digraph::of(known_.graph.num_points(), [&](auto&& add) {
      known_.graph.for_each_arc([&](PointId p, PointId q) { add(p.index, q.index); });
    });
    const Components components = strongly_connected_components(arcs);
    std::vector<std::uint32_t> size(components.count, 0);
    for (const std::uint32_t c : components.of) ++size[c];
    std::vector<PointId> starts;
    for (std::uint32_t p = 0; p < components.of.size(); ++p) {
      if (size[components.of[p]] > 1) starts.push_back({p});
    }
    // Small components first: their searches are short, and limit those that follow.
    std::stable_sort(starts.begin(), starts.end(), [&](PointId p, PointId q) {
      return size[components.of[p.index]] < size[components.of[q.index]];
    });
    // psi: one rw edge may lead out of the component and back.
    const bool is_psi = level_ == StrongLevel::Psi;
    Path best;
    best.cost = std::numeric_limits<std::uint32_t>::max();
    for (const PointId p : starts) {
      if (!best.edges.empty() && (paths_.work() > kMaxPathWork || budget_.expired_now())) break;
      auto path = paths_.find({.from = p,
                               .goals = {&p, 1},
                               .one_rw = is_psi,
                               .max_cost = best.cost - 1,
                               .component = is_psi ? nullptr : &components.of});
      if (path) best = *std::move(path);
    }
    ISO_ASSERT(!best.edges.empty());
    if (level_ == StrongLevel::Ua && best.edges.size() == 2) prefer_rw(best.edges);
    return best.edges;
  }

  // ua: a known rw edge says more than an order that it has forced. Requires: a cycle of two.
  void prefer_rw(std::vector<KnownEdge>& cycle) const {
    for (KnownEdge& e : cycle) {
      const auto rw = find_rw(known_, e.from, e.to, known_.rounds + 1);
      if (!rw || PathFinder::cost(*rw) >= PathFinder::cost(e)) continue;
      e = *rw;
      return;
    }
  }

  // psi, ua: the rw edge that is led back over at the least cost, and the way back.
  std::vector<KnownEdge> find_return() {
    std::vector<KnownEdge> best;
    std::uint32_t best_cost = std::numeric_limits<std::uint32_t>::max();
    for (const KnownEdge& rw : known_.returned) {
      if (!best.empty() && (paths_.work() > kMaxPathWork || budget_.expired_now())) break;
      const std::uint32_t own = PathFinder::cost(rw);
      if (own >= best_cost) continue;
      std::optional<Path> back;
      if (level_ == StrongLevel::Ua) {
        const KnownEdge dependency =
            find_dependency(known_, rw.to, rw.from, known_.rounds + 1).value();
        back = Path{.edges = {dependency}, .cost = PathFinder::cost(dependency)};
      } else {
        const PointId goal = points_.start(rw.from);
        back = paths_.find(
            {.from = points_.commit(rw.to), .goals = {&goal, 1}, .max_cost = best_cost - own - 1});
      }
      if (!back || own + back->cost >= best_cost) continue;
      best_cost = own + back->cost;
      best = std::move(back->edges);
      best.insert(best.begin(), rw);
    }
    return best;
  }

  std::vector<Edge> tell(const std::vector<KnownEdge>& edges) {
    std::vector<Edge> told;
    for (const KnownEdge& e : edges) told.push_back(tell(e));
    return told;
  }

  Edge tell(const KnownEdge& e) {
    if (++num_edges_ > kMaxEdges) return {};
    switch (e.kind) {
      case EdgeKind::Wr:
        return {.from = e.from,
                .to = e.to,
                .kind = e.kind,
                .key = e.key,
                .read = find_read(h_, e.to, e.key, e.from)};
      case EdgeKind::Ww: return tell_order(e.from, e.to, e.key, e.round);
      case EdgeKind::Rw: {
        Edge edge{.from = e.from,
                  .to = e.to,
                  .kind = e.kind,
                  .key = e.key,
                  .read = find_read(h_, e.from, e.key, e.overwritten)};
        if (e.overwritten != kInitialTxn)
          edge.path.push_back(tell_order(e.overwritten, e.to, e.key, e.round));
        return edge;
      }
      case EdgeKind::So:
      case EdgeKind::Co:
      case EdgeKind::Vis:
      case EdgeKind::Ar:
      case EdgeKind::Rt: break;
    }
    return {.from = e.from, .to = e.to, .kind = e.kind};
  }

  // Why does the version of x that b writes come before the one that a writes? A reason from
  // before the round in which it became known.
  Edge tell_order(TxnId b, TxnId a, KeyId x, std::uint32_t round) {
    Edge edge{.from = b, .to = a, .kind = EdgeKind::Ww, .key = x};
    if (round == 0 || ++num_edges_ > kMaxEdges) return edge;  // round 0: a list says so
    if (depth_ == kMaxDepth || budget_.expired_now()) {
      is_complete_ = false;
      return edge;
    }
    ++depth_;
    tell_reason(edge, round);
    --depth_;
    return edge;
  }

  void tell_reason(Edge& edge, std::uint32_t round) {
    const auto [b, a, x] = std::tuple(edge.from, edge.to, edge.key);
    std::optional<Path> ordered = find_order(b, a, round);
    std::optional<Path> overtaken = find_overtaken(b, a, x, round);
    if (!ordered && !overtaken) {
      is_complete_ = false;
      return;
    }
    if (overtaken && (!ordered || overtaken->cost < ordered->cost)) {
      const TxnId reader = overtaken->edges.back().to;
      edge.read = find_read(h_, reader, x, a);
      edge.path = tell(overtaken->edges);
    } else {
      edge.path = tell(ordered->edges);
    }
  }

  // A path with which ww(a, b) would close a cycle.
  std::optional<Path> find_order(TxnId b, TxnId a, std::uint32_t round) {
    const PointId goal = points_.source(EdgeKind::Ww, a);
    std::optional<Path> path = paths_.find({.from = points_.target(EdgeKind::Ww, b),
                                            .goals = {&goal, 1},
                                            .before_round = round,
                                            .one_rw = level_ == StrongLevel::Psi});
    if (level_ != StrongLevel::Ua) return path;
    if (const auto rw = find_rw(known_, b, a, round)) {
      const std::uint32_t cost = PathFinder::cost(*rw);
      if (!path || cost < path->cost) path = Path{.edges = {*rw}, .cost = cost};
    }
    return path;
  }

  // A path with which rw(r, b) would close a cycle, for a reader r of a's x.
  std::optional<Path> find_overtaken(TxnId b, TxnId a, KeyId x, std::uint32_t round) {
    const auto readers = facts_.readers(facts_.version_of(a, x));
    if (level_ == StrongLevel::Ua) {
      std::optional<Path> best;
      for (const TxnId r : readers) {
        if (r == b) continue;
        const auto dependency = find_dependency(known_, b, r, round);
        if (!dependency) continue;
        const std::uint32_t cost = PathFinder::cost(*dependency);
        if (!best || cost < best->cost) best = Path{.edges = {*dependency}, .cost = cost};
      }
      return best;
    }
    std::vector<PointId> goals;
    for (const TxnId r : readers) {
      if (r != b) goals.push_back(points_.start(r));
    }
    return paths_.find({.from = points_.commit(b), .goals = goals, .before_round = round});
  }

  const Knowledge& known_;
  Budget& budget_;
  const Facts& facts_;
  const History& h_;
  const Points& points_;
  StrongLevel level_;
  PathFinder paths_;
  std::size_t num_edges_ = 0;
  std::size_t depth_ = 0;
  bool is_complete_ = true;
};

}  // namespace

Explanation explain_cycle(const Knowledge& known, Budget& budget) {
  return Explainer(known, budget).explain();
}

namespace {

// A smaller core is optional; the search for it takes no longer than this.
constexpr double kMaxSeconds = 20;

}  // namespace

std::vector<TxnId> shrink_to_core(const History& h, StrongLevel level, Budget& budget) {
  Budget part = budget.within(kMaxSeconds);
  std::vector<TxnId> core;
  for (const TxnId t : h.txns()) {
    if (t != kInitialTxn && h.is_present(t)) core.push_back(t);
  }
  const auto is_violated = [&](const std::vector<TxnId>& keep) {
    const History restricted = restrict_to(h, keep);
    return decide(restricted, level, part, {}).outcome == Outcome::Violated;
  };
  std::size_t run = std::max<std::size_t>(core.size() / 2, 1);
  for (bool shrunk = false;; shrunk = false) {
    for (std::size_t at = 0; at < core.size() && !part.expired_now();) {
      const auto first = core.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last = core.begin() + static_cast<std::ptrdiff_t>(std::min(at + run, core.size()));
      std::vector<TxnId> rest(core.begin(), first);
      rest.insert(rest.end(), last, core.end());
      if (is_violated(rest)) {
        core = std::move(rest);
        shrunk = true;
      } else {
        at += run;
      }
    }
    if (part.expired_now() || (run == 1 && !shrunk)) return core;
    run = std::max<std::size_t>(run / 2, 1);
  }
}

}  // namespace isoscope::strong
