#include "check/weak/reasons.h"

#include <algorithm>
#include <map>
#include <optional>

namespace isoscope {

namespace {

// A read of some t1, as a possible reason for an edge that leads to t1.
struct Candidate {
  EventId read;
  TxnId t3;
};

class Reasons {
 public:
  Reasons(const WeakFacts& facts, const std::vector<TxnId>& targets)
      : facts_(facts), h_(facts.h), is_target_(h_.num_txns(), false) {
    for (TxnId t1 : targets) is_target_[t1.index] = true;
  }

  Edge edge(TxnId from, TxnId to) {
    if (auto fact = so_or_wr(from, to)) return *fact;
    for (const VersionEdge& version : h_.version_edges()) {
      if (version.before == from && version.after == to)
        return {.from = from, .to = to, .kind = EdgeKind::Ww, .key = version.key};
    }
    return forced(from, to);
  }

 private:
  std::optional<Edge> so_or_wr(TxnId from, TxnId to) const {
    if (h_.so(from, to)) return Edge{.from = from, .to = to, .kind = EdgeKind::So};
    for (EventId e : h_.events(to)) {
      if (h_.is_external_read(e) && h_.writer(e) == from) return wr(e, to);
    }
    return {};
  }

  Edge wr(EventId read, TxnId reader) const {
    return {.from = h_.writer(read),
            .to = reader,
            .kind = EdgeKind::Wr,
            .key = h_.key(read),
            .read = read};
  }

  Edge forced(TxnId t2, TxnId t1) {
    std::vector<Candidate> causal;
    for (const Candidate& candidate : readers_of(t1)) {
      const auto [read, t3] = candidate;
      if (t3 == t2 || !facts_.writes.writes(t2, h_.key(read))) continue;
      const WeakLevel level = facts_.levels.of(t3);
      if (level == WeakLevel::Rc) {
        if (auto seen = earlier_read(t2, read, t3)) return co(t2, t1, read, {*seen});
      } else if (level != WeakLevel::True) {
        if (auto seen = so_or_wr(t2, t3)) return co(t2, t1, read, {*seen});
        if (level == WeakLevel::Cc) causal.push_back(candidate);
      }
    }
    return by_causality(t2, t1, causal);
  }

  Edge co(TxnId t2, TxnId t1, EventId read, std::vector<Edge> path) const {
    return {.from = t2,
            .to = t1,
            .kind = EdgeKind::Co,
            .key = h_.key(read),
            .read = read,
            .path = std::move(path)};
  }

  std::optional<Edge> earlier_read(TxnId t2, EventId read, TxnId t3) const {
    for (EventId e : h_.events(t3)) {
      if (e < read && h_.is_external_read(e) && h_.writer(e) == t2) return wr(e, t3);
    }
    return {};
  }

  // All reads of targets are gathered at the first question.
  const std::vector<Candidate>& readers_of(TxnId t1) {
    if (readers_.empty()) {
      for (TxnId t3 : h_.txns()) {
        if (!h_.is_present(t3)) continue;
        for (EventId e : h_.events(t3)) {
          if (h_.is_external_read(e) && is_target_[h_.writer(e).index])
            readers_[h_.writer(e)].push_back({e, t3});
        }
      }
    }
    return readers_[t1];
  }

  // Searches backwards from all candidates at once, so that the first path found is a shortest.
  Edge by_causality(TxnId t2, TxnId t1, const std::vector<Candidate>& candidates) {
    steps_.assign(h_.num_txns(), {});
    walked_.assign(h_.num_txns(), false);
    std::vector<TxnId> queue;
    const auto reach = [&](TxnId t, TxnId next, EventId read) {
      if (t == kInitialTxn || !steps_[t.index].next.is_none()) return;
      steps_[t.index] = {next, read};
      queue.push_back(t);
    };
    for (const auto& [read, t3] : candidates) reach(t3, t3, read);
    for (std::size_t head = 0; head < queue.size() && steps_[t2.index].next.is_none(); ++head) {
      const TxnId t = queue[head];
      for (EventId e : h_.events(t)) {
        if (h_.is_external_read(e)) reach(h_.writer(e), t, e);
      }
      // Where a session has been walked, it has been walked to its beginning.
      for (TxnId u = facts_.previous[t.index]; u != kInitialTxn && !walked_[u.index];
           u = facts_.previous[u.index]) {
        walked_[u.index] = true;
        reach(u, t, EventId::none());
      }
    }
    ISO_ASSERT(!steps_[t2.index].next.is_none());
    std::vector<Edge> path;
    TxnId t = t2;
    for (; steps_[t.index].next != t; t = steps_[t.index].next) {
      const auto [next, read] = steps_[t.index];
      path.push_back(read.is_none() ? Edge{.from = t, .to = next, .kind = EdgeKind::So}
                                    : wr(read, next));
    }
    return co(t2, t1, steps_[t.index].read, std::move(path));
  }

  struct Step {
    TxnId next = TxnId::none();      // towards a candidate; itself at one
    EventId read = EventId::none();  // by which `next` reads from it; none() by session order
  };

  const WeakFacts& facts_;
  const History& h_;
  std::vector<bool> is_target_;
  std::map<TxnId, std::vector<Candidate>> readers_;  // by target
  std::vector<Step> steps_;
  std::vector<bool> walked_;
};

}  // namespace

std::vector<Edge> explain_edges(const WeakFacts& facts, const std::vector<TxnId>& cycle) {
  Reasons reasons(facts, cycle);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < cycle.size(); ++i)
    edges.push_back(reasons.edge(cycle[i], cycle[(i + 1) % cycle.size()]));
  return edges;
}

}  // namespace isoscope
