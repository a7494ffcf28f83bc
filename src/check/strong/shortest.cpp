#include "check/strong/shortest.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "check/strong/paths.h"
#include "graph/digraph.h"

namespace isoscope::strong {
namespace {

// The listed edges as arcs between points. A cycle of any known edges stays in a component.
Digraph arcs_of(const KnownGraph& graph) {
  const Facts& facts = graph.facts();
  const Points& points = graph.points();
  return Digraph::of(graph.num_points(), [&](auto&& add) {
    for (const TxnId t : facts.txns()) {
      if (points.is_split()) add(points.start(t).index, points.commit(t).index);
      if (!facts.next(t).is_none()) add(points.commit(t).index, points.start(facts.next(t)).index);
    }
    for (const KnownEdge& e : graph.edges())
      add(points.source(e.kind, e.from).index, points.target(e.kind, e.to).index);
  });
}

// Lays all points in a row that every chain and nearly every arc follows: whoever has no open
// predecessor comes next; when all have some, the first of a chain that has the fewest.
class Row {
 public:
  Row(const KnownGraph& graph, const Digraph& arcs)
      : facts_(graph.facts()),
        points_(graph.points()),
        arcs_(arcs),
        open_(graph.num_points(), 0),
        place_(graph.num_points(), kNowhere),
        head_(facts_.num_chains(), 0) {
    for (Digraph::Node p = 0; p < arcs.size(); ++p) {
      for (const Digraph::Node q : arcs.successors(p)) ++open_[q];
    }
    for (const TxnId t : facts_.txns()) {
      for (const PointId p : {points_.start(t), points_.commit(t)}) {
        if (open_[p.index] == 0) lay(p);
      }
    }
    while (const auto next = fewest_open()) lay(*next);
  }

  // Does the edge lead back?
  bool is_back(EdgeKind kind, TxnId from, TxnId to) const {
    return place_[points_.target(kind, to).index] < place_[points_.source(kind, from).index];
  }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  void lay(PointId first) {
    std::vector<PointId> ready = {first};
    while (!ready.empty()) {
      const PointId p = ready.back();
      ready.pop_back();
      if (place_[p.index] != kNowhere) continue;
      place_[p.index] = count_++;
      for (const Digraph::Node q : arcs_.successors(p.index)) {
        if (--open_[q] == 0 && place_[q] == kNowhere) ready.push_back({q});
      }
    }
  }

  std::optional<PointId> fewest_open() {
    std::optional<PointId> best;
    for (std::uint32_t c = 0; c < head_.size(); ++c) {
      const auto txns = facts_.txns(ChainId{c});
      const auto point = [&](std::size_t i) {
        if (!points_.is_split()) return points_.start(txns[i]);
        return i % 2 == 0 ? points_.start(txns[i / 2]) : points_.commit(txns[i / 2]);
      };
      const std::size_t size = points_.count(static_cast<std::uint32_t>(txns.size()));
      while (head_[c] < size && place_[point(head_[c]).index] != kNowhere) ++head_[c];
      if (head_[c] == size) continue;
      const PointId p = point(head_[c]);
      if (!best || open_[p.index] < open_[best->index]) best = p;
    }
    return best;
  }

  const Facts& facts_;
  const Points& points_;
  const Digraph& arcs_;
  std::vector<std::uint32_t> open_;   // predecessors to come, by point
  std::vector<std::uint32_t> place_;  // by point
  std::vector<std::size_t> head_;     // by chain: the first point to come
  std::uint32_t count_ = 0;
};

class CycleSearch {
 public:
  CycleSearch(const Knowledge& known, std::size_t length, std::uint64_t max_work)
      : graph_(known.graph),
        facts_(graph_.facts()),
        points_(graph_.points()),
        steps_(known),
        arcs_(arcs_of(graph_)),
        components_(strongly_connected_components(arcs_)),
        length_(length),
        max_work_(max_work),
        arrivals_(std::size_t{2} * facts_.num_txns()),
        so_covered_(std::size_t{2} * facts_.num_txns(), 0),
        covers_(std::size_t{2} * facts_.num_groups()) {}

  ShorterCycle run(Budget& budget) {
    for (const TxnId t : starts()) {
      for (const Entry entry : {Entry::Earlier, Entry::Later}) {
        if (entry == Entry::Later && !points_.is_split()) continue;
        if (length_ <= 2) break;
        if (work_ > max_work_ || budget.expired_now()) return best_;
        search({t, entry});
      }
    }
    best_.is_shortest = work_ <= max_work_;
    return best_;
  }

 private:
  struct Arrival {
    std::uint32_t search = 0;  // the last that came here
    std::uint32_t depth = 0;
    Spot from;
    KnownEdge edge;
  };
  // The first version of a group that the last search came to.
  struct Cover {
    std::uint32_t search = 0;
    std::uint32_t first = 0;
  };

  // Every cycle has a transaction from which an edge leads back.
  std::vector<TxnId> starts() const {
    const Row row(graph_, arcs_);
    std::vector<char> is_start(facts_.num_txns(), 0);
    const auto look_at = [&](EdgeKind kind, TxnId from, KeyId x, VersionId v) {
      for (const GroupId g : facts_.groups(x)) {
        const IdRange<VersionId> others = facts_.versions(g);
        std::uint32_t first = steps_.first_after(v, g);
        if (first < others.size() && writer(g, first) == from) ++first;
        // Chains follow the row: if this one does not lead back, nor do those that follow.
        if (first < others.size() && row.is_back(kind, from, writer(g, first)))
          is_start[from.index] = 1;
      }
    };
    const std::vector<char> cyclic = cyclic_components();
    for (const TxnId t : facts_.txns()) {
      if (cyclic[components_.of[points_.start(t).index]] == 0 &&
          cyclic[components_.of[points_.commit(t).index]] == 0)
        continue;
      for (const auto& [x, v] : facts_.written(t)) {
        look_at(EdgeKind::Ww, t, x, v);
        for (const TxnId r : facts_.readers(v)) {
          if (row.is_back(EdgeKind::Wr, t, r)) is_start[t.index] = 1;
        }
      }
      if (graph_.level() == StrongLevel::Ua) continue;
      for (const auto& [x, v] : facts_.read(t)) look_at(EdgeKind::Rw, t, x, v);
    }
    std::vector<TxnId> result;
    for (const TxnId t : facts_.txns()) {
      if (is_start[t.index] != 0) result.push_back(t);
    }
    return result;
  }

  // By component: does it have more than one point?
  std::vector<char> cyclic_components() const {
    std::vector<std::uint32_t> sizes(components_.count, 0);
    for (const std::uint32_t c : components_.of) ++sizes[c];
    std::vector<char> cyclic;
    for (const std::uint32_t size : sizes) cyclic.push_back(size > 1 ? 1 : 0);
    return cyclic;
  }

  TxnId writer(GroupId g, std::uint32_t rank) const {
    return facts_.writer(VersionId{facts_.versions(g).front().index + rank});
  }
  static std::size_t slot(std::uint32_t index, Entry entry) {
    return std::size_t{2} * index + (entry == Entry::Later ? 1U : 0U);
  }
  PointId point(Spot s) const {
    return s.entry == Entry::Later ? points_.commit(s.txn) : points_.start(s.txn);
  }

  void search(Spot start) {
    ++searches_;
    component_ = components_.of[point(start).index];
    queue_.clear();
    arrivals_[slot(start.txn.index, start.entry)] = {searches_, 0, start, {}};
    queue_.push_back(start);
    while (!queue_.empty() && work_ <= max_work_) {
      const Spot s = queue_.front();
      queue_.pop_front();
      const std::uint32_t depth = arrivals_[slot(s.txn.index, s.entry)].depth;
      if (depth + 1 >= length_) return;
      ++work_;
      if (const auto closing = steps_.find(s, start)) {
        best_.edges = trace(start, s);
        best_.edges.push_back(*closing);
        length_ = best_.edges.size();
        return;
      }
      if (depth + 2 < length_) expand(s, depth + 1);
    }
  }

  void expand(Spot s, std::uint32_t depth) {
    const TxnId t = s.txn;
    if (const auto entry = steps_.step(EdgeKind::So, s.entry)) {
      for (TxnId u = facts_.next(t); !u.is_none(); u = facts_.next(u)) {
        std::uint32_t& covered = so_covered_[slot(u.index, *entry)];
        if (covered == searches_) break;
        covered = searches_;
        arrive(s, {u, *entry}, depth, {.from = t, .to = u});
      }
    }
    if (const auto entry = steps_.step(EdgeKind::Wr, s.entry)) {
      for (const auto& [x, v] : facts_.written(t)) {
        for (const TxnId r : facts_.readers(v))
          arrive(s, {r, *entry}, depth, {.from = t, .to = r, .key = x, .kind = EdgeKind::Wr});
      }
    }
    if (const auto entry = steps_.step(EdgeKind::Rw, s.entry)) {
      for (const auto& [x, v] : facts_.read(t)) {
        const TxnId read_from = v.is_none() ? kInitialTxn : facts_.writer(v);
        expand_order(
            s, *entry, depth, v,
            {.from = t, .to = t, .key = x, .overwritten = read_from, .kind = EdgeKind::Rw});
      }
    }
    if (const auto entry = steps_.step(EdgeKind::Ww, s.entry)) {
      for (const auto& [x, v] : facts_.written(t))
        expand_order(s, *entry, depth, v, {.from = t, .to = t, .key = x, .kind = EdgeKind::Ww});
    }
  }

  // To the writers of all versions that come after v, by edges like `edge`.
  void expand_order(Spot s, Entry entry, std::uint32_t depth, VersionId v, KnownEdge edge) {
    for (const GroupId g : facts_.groups(edge.key)) {
      ++work_;
      auto end = static_cast<std::uint32_t>(facts_.versions(g).size());
      // What was reached at the earlier place need not be reached at the later one.
      for (const Entry done : {Entry::Earlier, entry}) {
        const Cover& cover = covers_[slot(g.index, done)];
        if (cover.search == searches_) end = std::min(end, cover.first);
      }
      const std::uint32_t first = steps_.first_after(v, g);
      if (first >= end) continue;
      covers_[slot(g.index, entry)] = {searches_, first};
      for (std::uint32_t rank = first; rank < end; ++rank) {
        edge.to = writer(g, rank);
        arrive(s, {edge.to, entry}, depth, edge);
      }
    }
  }

  void arrive(Spot from, Spot to, std::uint32_t depth, const KnownEdge& edge) {
    ++work_;
    if (components_.of[point(to).index] != component_) return;
    for (const Entry done : {Entry::Earlier, to.entry}) {
      if (arrivals_[slot(to.txn.index, done)].search == searches_) return;
    }
    arrivals_[slot(to.txn.index, to.entry)] = {searches_, depth, from, edge};
    queue_.push_back(to);
  }

  std::vector<KnownEdge> trace(Spot start, Spot last) const {
    std::vector<KnownEdge> edges;
    for (Spot s = last; s.txn != start.txn;) {
      const Arrival& arrival = arrivals_[slot(s.txn.index, s.entry)];
      edges.push_back(arrival.edge);
      s = arrival.from;
    }
    std::reverse(edges.begin(), edges.end());
    return edges;
  }

  const KnownGraph& graph_;
  const Facts& facts_;
  const Points& points_;
  KnownSteps steps_;
  Digraph arcs_;
  Components components_;
  std::size_t length_;  // of the shortest cycle so far
  std::uint64_t max_work_;
  ShorterCycle best_;
  // Of the current search.
  std::uint32_t searches_ = 0;
  std::uint32_t component_ = 0;
  std::uint64_t work_ = 0;                 // of all searches
  std::vector<Arrival> arrivals_;          // by transaction and entry
  std::vector<std::uint32_t> so_covered_;  // by transaction and entry: reached by session order
  std::vector<Cover> covers_;              // by group and entry
  std::deque<Spot> queue_;
};

}  // namespace

ShorterCycle find_shorter_cycle(const Knowledge& known, std::size_t length, Budget& budget,
                                std::uint64_t max_work) {
  // Nothing precedes itself by a single edge.
  if (length <= 2) return {.edges = {}, .is_shortest = true};
  return CycleSearch(known, length, max_work).run(budget);
}

}  // namespace isoscope::strong
