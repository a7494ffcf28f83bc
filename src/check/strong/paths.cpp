#include "check/strong/paths.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace isoscope::strong {

PathFinder::PathFinder(const Knowledge& known)
    : graph_(known.graph),
      begin_(known.graph.num_points() + 1, 0),
      arrivals_(std::size_t{4} * known.graph.num_points()),
      goal_(known.graph.num_points(), 0) {
  const Points& points = graph_.points();
  const auto edges = graph_.edges();
  for (const KnownEdge& e : edges) ++begin_[points.source(e.kind, e.from).index + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  out_.resize(edges.size());
  std::vector<std::uint32_t> free(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t i = 0; i < edges.size(); ++i)
    out_[free[points.source(edges[i].kind, edges[i].from).index]++] = i;
}

std::uint32_t PathFinder::cost(const KnownEdge& edge) {
  constexpr std::uint32_t kStep = 10;
  constexpr std::uint32_t kRound = 6;  // an edge of round 1 costs less than two facts
  return kStep + (edge.kind == EdgeKind::Rw ? 1U : 0U) + kRound * std::min(edge.round, 20U);
}

bool PathFinder::is_listed_fact(TxnId b, TxnId a, KeyId x) const {
  const PointId p = graph_.points().source(EdgeKind::Ww, b);
  return std::any_of(
      out_.begin() + begin_[p.index], out_.begin() + begin_[p.index + 1], [&](std::uint32_t i) {
        const KnownEdge& e = graph_.edges()[i];
        return e.kind == EdgeKind::Ww && e.round == 0 && e.from == b && e.to == a && e.key == x;
      });
}

std::optional<Path> PathFinder::find(const Query& query) {
  const Points& points = graph_.points();
  const auto edges = graph_.edges();
  ++searches_;
  for (const PointId p : query.goals) goal_[p.index] = searches_;
  using Distance = std::pair<std::uint32_t, State>;
  std::priority_queue<Distance, std::vector<Distance>, std::greater<>> queue;
  const auto arrive = [&](State from, PointId to, bool rw, bool so, std::uint32_t total,
                          std::uint32_t edge) {
    if (total > query.max_cost) return;
    if (query.component != nullptr &&
        (*query.component)[to.index] != (*query.component)[query.from.index])
      return;
    Arrival& there = arrivals_[state(to, rw, so)];
    if (there.search == searches_ && there.cost <= total) return;
    there = {searches_, total, from, edge};
    queue.push({total, state(to, rw, so)});
  };
  const auto expand = [&](State s, State from, std::uint32_t total) {
    const PointId p{s / 4};
    const bool rw = (s & 2U) != 0;
    const bool so = (s & 1U) != 0;
    const TxnId t = points.txn(p);
    if (!points.is_commit(p)) arrive(from, points.commit(t), rw, so, total, kInside);
    if (points.is_commit(p) && !graph_.facts().next(t).is_none()) {
      const std::uint32_t step = so ? 0 : cost({});
      arrive(from, points.start(graph_.facts().next(t)), rw, true, total + step, kSo);
    }
    for (std::uint32_t i = begin_[p.index]; i < begin_[p.index + 1]; ++i) {
      const KnownEdge& e = edges[out_[i]];
      if (e.round >= query.before_round) continue;
      const bool is_extra = !graph_.is_on_paths(e.kind);
      if (is_extra && (rw || !query.one_rw)) continue;
      arrive(from, points.target(e.kind, e.to), rw || is_extra, false, total + cost(e), out_[i]);
    }
  };
  // The start is left without an arrival, so that a cycle may come back to it.
  expand(state(query.from, false, false), kStart, 0);
  while (!queue.empty()) {
    const auto [total, s] = queue.top();
    queue.pop();
    if (arrivals_[s].cost != total) continue;
    ++work_;
    if (goal_[s / 4] == searches_) return trace(s);
    expand(s, s, total);
  }
  return {};
}

Path PathFinder::trace(State last) const {
  const Points& points = graph_.points();
  Path path{.edges = {}, .cost = arrivals_[last].cost};
  bool in_session = false;  // was the step that was added last session order?
  for (State s = last; s != kStart; s = arrivals_[s].from) {
    const std::uint32_t edge = arrivals_[s].edge;
    if (edge == kInside) continue;
    if (edge != kSo) {
      path.edges.push_back(graph_.edges()[edge]);
    } else if (in_session) {
      path.edges.back().from = graph_.facts().previous(points.txn(PointId{s / 4}));
    } else {
      const TxnId to = points.txn(PointId{s / 4});
      path.edges.push_back({.from = graph_.facts().previous(to), .to = to, .kind = EdgeKind::So});
    }
    in_session = edge == kSo;
  }
  std::reverse(path.edges.begin(), path.edges.end());
  return path;
}

KnownSteps::KnownSteps(const Knowledge& known)
    : facts_(known.graph.facts()), level_(known.graph.level()), order_(known.order) {
  // Saturation stops as soon as it finds a cycle, and may not have come to the later versions yet.
  for (const KeyId x : facts_.history().keys()) {
    for (const VersionId v : facts_.versions(x)) {
      if (facts_.rank(v) == 0) continue;
      for (const GroupId g : facts_.groups(x)) {
        const std::uint32_t before = order_.count_before(VersionId{v.index - 1}, g);
        if (g != facts_.group(v) && before > order_.count_before(v, g))
          order_.set_count_before(v, g, before, known.rounds + 1);
      }
    }
  }
}

std::optional<Entry> KnownSteps::step(EdgeKind kind, Entry from) const {
  switch (level_) {
    case StrongLevel::Ser: return Entry::Earlier;
    case StrongLevel::Ua:
      return kind == EdgeKind::Rw ? std::nullopt : std::optional(Entry::Earlier);
    case StrongLevel::Psi:
      if (kind != EdgeKind::Rw) return from;
      break;
    case StrongLevel::Si:
      if (kind != EdgeKind::Rw) return Entry::Earlier;
      break;
    case StrongLevel::Pc:
      if (kind != EdgeKind::Rw) return kind == EdgeKind::Ww ? Entry::Later : Entry::Earlier;
      break;
  }
  return from == Entry::Earlier ? std::optional(Entry::Later) : std::nullopt;
}

std::uint32_t KnownSteps::first_after(VersionId v, GroupId g) const {
  if (v.is_none()) return 0;
  if (g == facts_.group(v)) return facts_.rank(v) + 1;
  const IdRange<VersionId> others = facts_.versions(g);
  std::uint32_t low = 0;
  auto high = static_cast<std::uint32_t>(others.size());
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (order_.is_before(v, VersionId{others.front().index + middle})) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::optional<KnownEdge> KnownSteps::find(Spot from, Spot to) const {
  const History& h = facts_.history();
  const TxnId t = from.txn;
  const TxnId u = to.txn;
  if (t == u) return {};
  KnownEdge edge{.from = t, .to = u};
  if (may_enter(EdgeKind::So, from, to) && h.session(t) == h.session(u) &&
      facts_.position(t) < facts_.position(u))
    return edge;
  if (may_enter(EdgeKind::Wr, from, to)) {
    edge.kind = EdgeKind::Wr;
    for (const Access& read : facts_.read(u)) {
      edge.key = read.key;
      if (!read.version.is_none() && facts_.writer(read.version) == t) return edge;
    }
  }
  const auto is_overwritten_by_u = [&](const Access& access) {
    const VersionId w = facts_.version_of(u, access.key);
    return !w.is_none() && facts_.rank(w) >= first_after(access.version, facts_.group(w));
  };
  if (may_enter(EdgeKind::Rw, from, to)) {
    edge.kind = EdgeKind::Rw;
    for (const Access& read : facts_.read(t)) {
      if (!is_overwritten_by_u(read)) continue;
      edge.key = read.key;
      edge.overwritten = read.version.is_none() ? kInitialTxn : facts_.writer(read.version);
      return edge;
    }
  }
  if (may_enter(EdgeKind::Ww, from, to)) {
    edge.kind = EdgeKind::Ww;
    edge.overwritten = kInitialTxn;
    for (const Access& write : facts_.written(t)) {
      edge.key = write.key;
      if (is_overwritten_by_u(write)) return edge;
    }
  }
  return {};
}

}  // namespace isoscope::strong
