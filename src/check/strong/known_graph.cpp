#include "check/strong/known_graph.h"

namespace isoscope::strong {

KnownGraph::KnownGraph(const Facts& facts, StrongLevel level)
    : facts_(facts), level_(level), points_(level) {
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId v : facts.versions(x)) {
      for (const TxnId reader : facts.readers(v))
        add({.from = facts.writer(v), .to = reader, .key = x, .kind = EdgeKind::Wr});
    }
  }
  if (!facts.history().has_lists()) return;
  for (const TxnId t : facts.txns()) add_shown(t);
}

// A list shows more than the version that is read. Version orders tell the same, by paths, of the
// lists of committed transactions; ua knows no paths.
void KnownGraph::add_shown(TxnId reader) {
  const History& h = facts_.history();
  if (level_ != StrongLevel::Ua && h.is_committed(reader)) return;
  for (const EventId e : h.events(reader)) {
    TxnId last = TxnId::none();
    for (const TxnId t : h.also_shown(e)) {
      if (t != last) add({.from = t, .to = reader, .key = h.key(e), .kind = EdgeKind::Wr});
      last = t;
    }
  }
}

bool KnownGraph::sort() {
  num_sorted_ = edges_.size();
  begin_.assign(num_points() + 1, 0);
  for (const KnownEdge& e : edges_) {
    if (is_on_paths(e.kind)) ++begin_[points_.source(e.kind, e.from).index + 1];
  }
  for (std::size_t i = 0; i < num_points(); ++i) begin_[i + 1] += begin_[i];
  successors_.resize(begin_.back());
  std::vector<std::uint32_t> free(begin_.begin(), begin_.end() - 1);
  for (const KnownEdge& e : edges_) {
    if (!is_on_paths(e.kind)) continue;
    successors_[free[points_.source(e.kind, e.from).index]++] = points_.target(e.kind, e.to);
  }

  std::vector<std::uint32_t> open(num_points(), 0);  // predecessors not in order_ yet
  std::size_t total = 0;
  const auto for_each_point = [&](auto&& f) {
    for (const TxnId t : facts_.txns()) {
      f(points_.start(t));
      if (points_.is_split()) f(points_.commit(t));
    }
  };
  for_each_point([&](PointId p) {
    ++total;
    for_each_successor(p, [&](PointId q) { ++open[q.index]; });
  });
  order_.clear();
  order_.reserve(total);
  for_each_point([&](PointId p) {
    if (open[p.index] == 0) order_.push_back(p);
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for_each_successor(order_[i], [&](PointId q) {
      if (--open[q.index] == 0) order_.push_back(q);
    });
  }
  return order_.size() == total;
}

}  // namespace isoscope::strong
