#include "check/weak/reasons.h"

#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "support/assert.h"

namespace isoscope {

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// A read of some t1, as a possible reason for an edge that leads to t1.
struct Candidate {
  EventId read;
  TxnId t3;
};

class Reasons {
 public:
  Reasons(const WeakFacts& facts, const std::vector<std::vector<TxnId>>& cycles)
      : facts_(facts), h_(facts.h), steps_(h_.num_txns()) {
    std::vector<bool> is_target(h_.num_txns(), false);
    for (const auto& cycle : cycles) {
      for (TxnId t1 : cycle) is_target[t1.index] = true;
    }
    for (const VersionEdge& edge : h_.version_edges()) {
      if (is_target[edge.after.index])
        versions_.emplace(std::pair{edge.before, edge.after}, edge.key);
    }
    for (TxnId t3 : h_.txns()) {
      if (!h_.is_present(t3)) continue;
      for (EventId e : h_.events(t3)) {
        if (h_.is_external_read(e) && is_target[h_.writer(e).index])
          readers_[h_.writer(e)].push_back({e, t3});
      }
    }
  }

  // Nothing if the reason would take more than `limit` steps.
  std::optional<Edge> edge(TxnId from, TxnId to, std::size_t limit) {
    if (auto fact = so_or_wr(from, to)) return fact;
    if (const auto found = versions_.find({from, to}); found != versions_.end())
      return Edge{.from = from, .to = to, .kind = EdgeKind::Ww, .key = found->second};
    return forced(from, to, limit);
  }

 private:
  std::optional<Edge> so_or_wr(TxnId from, TxnId to) const {
    if (h_.so(from, to)) return Edge{.from = from, .to = to, .kind = EdgeKind::So};
    for (EventId e : h_.events(to)) {
      if (h_.is_external_read(e) && h_.shows(e, from)) return wr(from, e, to);
    }
    return {};
  }

  Edge wr(TxnId from, EventId read, TxnId reader) const {
    return {.from = from, .to = reader, .kind = EdgeKind::Wr, .key = h_.key(read), .read = read};
  }

  // First looks for a reader who sees t2 in one step, then at cc for longer ways.
  std::optional<Edge> forced(TxnId t2, TxnId t1, std::size_t limit) {
    if (limit == 0) return {};
    std::vector<Candidate> causal;
    for (const Candidate& candidate : readers_[t1]) {
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
    return by_causality(t2, t1, causal, limit);
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
      if (e < read && h_.is_external_read(e) && h_.shows(e, t2)) return wr(t2, e, t3);
    }
    return {};
  }

  // Searches backwards from all candidates at once, so that the first way found is a shortest.
  std::optional<Edge> by_causality(TxnId t2, TxnId t1, const std::vector<Candidate>& candidates,
                                   std::size_t limit) {
    ++search_;
    queue_.clear();
    for (const auto& [read, t3] : candidates) reach(t3, t3, read, 0);
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const TxnId t = queue_[head];
      const std::uint32_t length = steps_[t.index].length + 1;
      if (t == t2) return co(t2, t1, source_of(t2), way_from(t2));
      if (length > limit) break;
      for (EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        reach(h_.writer(e), t, e, length);
        for (TxnId shown : h_.also_shown(e)) reach(shown, t, e, length);
      }
      // Where a session has been walked, it has been walked to its beginning.
      for (TxnId u = facts_.previous[t.index];
           u != kInitialTxn && steps_[u.index].walked_in != search_; u = facts_.previous[u.index]) {
        steps_[u.index].walked_in = search_;
        reach(u, t, EventId::none(), length);
      }
    }
    ISO_ASSERT(limit < kNoLimit);
    return {};
  }

  void reach(TxnId t, TxnId next, EventId read, std::uint32_t length) {
    Step& step = steps_[t.index];
    if (t == kInitialTxn || step.found_in == search_) return;
    step.found_in = search_;
    step.next = next;
    step.read = read;
    step.length = length;
    queue_.push_back(t);
  }

  std::vector<Edge> way_from(TxnId t) const {
    std::vector<Edge> path;
    for (; steps_[t.index].length > 0; t = steps_[t.index].next) {
      const Step& step = steps_[t.index];
      path.push_back(step.read.is_none() ? Edge{.from = t, .to = step.next, .kind = EdgeKind::So}
                                         : wr(t, step.read, step.next));
    }
    return path;
  }

  // The read of the candidate where the way from t ends.
  EventId source_of(TxnId t) const {
    while (steps_[t.index].length > 0) t = steps_[t.index].next;
    return steps_[t.index].read;
  }

  // Of the latest search that found the transaction, or walked its session from there backwards.
  struct Step {
    std::uint32_t found_in = 0;
    std::uint32_t walked_in = 0;
    TxnId next = TxnId::none();      // one step nearer to a candidate
    EventId read = EventId::none();  // by which `next` reads from it; none() by session order
    std::uint32_t length = 0;        // the steps to a candidate; there, `read` is the candidate's
  };

  const WeakFacts& facts_;
  const History& h_;
  std::map<std::pair<TxnId, TxnId>, KeyId> versions_;  // known order that leads to a target
  std::map<TxnId, std::vector<Candidate>> readers_;    // of a target
  std::vector<Step> steps_;                            // by transaction
  std::vector<TxnId> queue_;
  std::uint32_t search_ = 0;
};

// Nothing if the reasons would take more than `limit` steps.
std::optional<std::vector<Edge>> explain(Reasons& reasons, const std::vector<TxnId>& cycle,
                                         std::size_t limit) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    auto edge = reasons.edge(cycle[i], cycle[(i + 1) % cycle.size()], limit);
    if (!edge) return {};
    if (limit != kNoLimit) limit -= edge->path.size();
    edges.push_back(*std::move(edge));
  }
  return edges;
}

std::size_t steps_in(const std::vector<Edge>& edges) {
  std::size_t steps = 0;
  for (const Edge& edge : edges) steps += edge.path.size();
  return steps;
}

}  // namespace

std::vector<Edge> explain_one_of(const WeakFacts& facts,
                                 const std::vector<std::vector<TxnId>>& cycles) {
  ISO_ASSERT(!cycles.empty());
  Reasons reasons(facts, cycles);
  std::vector<Edge> best = *explain(reasons, cycles[0], kNoLimit);
  for (std::size_t i = 1; i < cycles.size() && steps_in(best) > 1; ++i) {
    if (auto better = explain(reasons, cycles[i], steps_in(best) - 1)) best = *std::move(better);
  }
  return best;
}

}  // namespace isoscope
