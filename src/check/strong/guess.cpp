#include "check/strong/guess.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace isoscope::strong {
namespace {

class Run {
 public:
  explicit Run(const Residue& residue)
      : residue_(residue),
        graph_(residue.known().graph),
        facts_(graph_.facts()),
        points_(graph_.points()),
        open_(graph_.num_points(), 0),
        time_(graph_.num_points(), 0),
        is_contested_(facts_.num_txns(), 0),
        unread_(facts_.num_versions(), 0),
        latest_(facts_.history().num_keys(), VersionId::none()),
        writing_(facts_.history().num_keys(), 0) {
    for (const Choice& c : residue.choices())
      is_contested_[c.a.index] = is_contested_[c.b.index] = 1;
    for (std::uint32_t v = 0; v < facts_.num_versions(); ++v)
      unread_[v] = static_cast<std::uint32_t>(facts_.readers(VersionId{v}).size());
    graph_.for_each_arc([&](PointId, PointId q) { ++open_[q.index]; });
  }

  Guess run() {
    for (const PointId p : graph_.order()) {
      if (open_[p.index] == 0) ready_.push_back(p);
    }
    // Whoever waits is asked again whenever something has happened.
    std::deque<PointId> waiting;
    while (!ready_.empty() || !waiting.empty()) {
      bool moved = false;
      while (!ready_.empty()) {
        const PointId p = ready_.front();
        ready_.pop_front();
        if (must_wait(p)) {
          waiting.push_back(p);
        } else {
          pass(p);
          moved = true;
        }
      }
      if (waiting.empty()) break;
      if (moved) {
        ready_.swap(waiting);
      } else {
        pass(waiting.front());
        waiting.pop_front();
        ready_.swap(waiting);
      }
    }
    return conclude();
  }

 private:
  // Calls f(v) for every version that t writes.
  template <class F>
  void for_each_version(TxnId t, F&& f) const {
    const History& h = facts_.history();
    for (const EventId e : h.events(t)) {
      if (!h.is_final_write(e)) continue;
      const VersionId v = facts_.version_of(t, h.key(e));
      if (!v.is_none()) f(h.key(e), v);
    }
  }

  bool must_wait(PointId p) const {
    const TxnId t = points_.txn(p);
    if (is_contested_[t.index] == 0) return false;
    bool wait = false;
    for_each_version(t, [&](KeyId x, VersionId) {
      if (points_.is_commit(p) && !latest_[x.index].is_none())
        wait |= unread_[latest_[x.index].index] > (reads_from_latest(t, x) ? 1U : 0U);
      if (!points_.is_commit(p) && graph_.level() == StrongLevel::Si) wait |= writing_[x.index] > 0;
    });
    return wait;
  }
  // Unsplit, t itself is a reader to come.
  bool reads_from_latest(TxnId t, KeyId x) const {
    if (points_.is_split()) return false;
    const History& h = facts_.history();
    for (const EventId e : h.events(t)) {
      if (h.is_external_read(e) && h.key(e) == x && h.writer(e) == facts_.writer(latest_[x.index]))
        return true;
    }
    return false;
  }

  void pass(PointId p) {
    const TxnId t = points_.txn(p);
    const History& h = facts_.history();
    time_[p.index] = ++now_;
    const bool contested = is_contested_[t.index] != 0;
    if (p == points_.start(t)) {
      for (const EventId e : h.events(t)) {
        if (!h.is_external_read(e)) continue;
        const VersionId v = facts_.version_of(h.writer(e), h.key(e));
        if (!v.is_none() && unread_[v.index] > 0) --unread_[v.index];
      }
      if (contested && points_.is_split())
        for_each_version(t, [&](KeyId x, VersionId) { ++writing_[x.index]; });
    }
    if (points_.is_commit(p)) {
      for_each_version(t, [&](KeyId x, VersionId v) {
        latest_[x.index] = v;
        if (contested && points_.is_split()) --writing_[x.index];
      });
    }
    graph_.for_each_successor(p, [&](PointId q) {
      if (--open_[q.index] == 0) ready_.push_back(q);
    });
  }

  Guess conclude() const {
    const auto choices = residue_.choices();
    const auto committed = [&](TxnId t) { return time_[points_.commit(t).index]; };
    Guess guess;
    guess.answers.resize(choices.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_time;
    for (std::uint32_t i = 0; i < choices.size(); ++i) {
      const auto [a, b] = choices[i];
      guess.answers[i] = committed(a) < committed(b);
      by_time.emplace_back(std::max(committed(a), committed(b)), i);
    }
    std::sort(by_time.begin(), by_time.end());
    for (const auto& [time, choice] : by_time) guess.sequence.push_back(choice);
    return guess;
  }

  const Residue& residue_;
  const KnownGraph& graph_;
  const Facts& facts_;
  const Points& points_;
  std::vector<std::uint32_t> open_;  // predecessors to come, by point
  std::vector<std::uint32_t> time_;
  std::vector<char> is_contested_;      // by transaction: has an open choice
  std::vector<std::uint32_t> unread_;   // readers to come, by version
  std::vector<VersionId> latest_;       // by key
  std::vector<std::uint32_t> writing_;  // by key: contested writers between start and commit
  std::deque<PointId> ready_;
  std::uint32_t now_ = 0;
};

}  // namespace

Guess make_guess(const Residue& residue) { return Run(residue).run(); }

}  // namespace isoscope::strong
