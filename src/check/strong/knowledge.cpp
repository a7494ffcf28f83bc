#include "check/strong/knowledge.h"

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

std::size_t VersionOrder::size_for(const Facts& facts) {
  std::size_t slots = 0;
  for (const KeyId x : facts.history().keys())
    slots += facts.versions(x).size() * facts.groups(x).size();
  return slots;
}

VersionOrder::VersionOrder(const Facts& facts, bool keep_rounds)
    : facts_(facts), keep_rounds_(keep_rounds), begin_(facts.num_versions()) {
  std::size_t slots = 0;
  for (const KeyId x : facts.history().keys()) {
    const IdRange<GroupId> groups = facts.groups(x);
    for (const VersionId v : facts.versions(x)) {
      begin_[v.index] = slots - groups.front().index;
      slots += groups.size();
    }
  }
  counts_.assign(size_for(facts), 0);
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId v : facts.versions(x)) counts_[slot(v, facts.group(v))] = facts.rank(v);
  }
}

void VersionOrder::set_count_before(VersionId v, GroupId g, std::uint32_t count,
                                    std::uint32_t round) {
  counts_[slot(v, g)] = count;
  if (keep_rounds_) changes_[slot(v, g)].push_back({count, round});
}

std::optional<std::uint32_t> VersionOrder::known_since(VersionId before, VersionId after) const {
  const GroupId g = facts_.group(before);
  if (g == facts_.group(after)) return before < after ? std::optional(1U) : std::nullopt;
  const auto found = changes_.find(slot(after, g));
  if (found == changes_.end()) return {};
  for (const Change& change : found->second) {
    const std::uint32_t rank = facts_.rank(before);
    // A version before the one that was forced follows through session order, one step later.
    if (change.count > rank) return change.count == rank + 1 ? change.round : change.round + 1;
  }
  return {};
}

}  // namespace isoscope::strong
