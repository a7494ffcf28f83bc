#include "record/commit_order.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace isoscope::record {
namespace {

enum class Relation : std::uint8_t { Before, After, Unknown, Contradictory };

Relation by_rows(const Commit& a, const Commit& b) {
  Relation found = Relation::Unknown;
  const auto& fewer = a.rows.size() <= b.rows.size() ? a.rows : b.rows;
  for (const auto& [row, places] : fewer) {
    const auto of_a = a.rows.find(row);
    const auto of_b = b.rows.find(row);
    if (of_a == a.rows.end() || of_b == b.rows.end()) continue;
    Relation here = Relation::Contradictory;
    if (of_a->second.second < of_b->second.first) here = Relation::Before;
    if (of_b->second.second < of_a->second.first) here = Relation::After;
    if (found != Relation::Unknown && found != here) return Relation::Contradictory;
    found = here;
  }
  return found;
}

class Orderer {
 public:
  Orderer(const std::vector<Commit>& commits, std::vector<SnapshotTime> snapshots)
      : commits_(commits), snapshots_(std::move(snapshots)) {
    std::ranges::sort(snapshots_, {}, &SnapshotTime::from);
    for (const SnapshotTime& s : snapshots_) longest_ = std::max(longest_, s.to - s.from);
    by_end_.resize(commits.size());
    std::iota(by_end_.begin(), by_end_.end(), std::size_t{0});
    std::ranges::stable_sort(by_end_, {}, [&](std::size_t i) { return commits_[i].end; });
  }

  CommitOrder run() {
    after_.resize(commits_.size());
    waits_for_.resize(commits_.size());
    Microseconds latest = 0;  // of the requests among those that ended so far
    std::vector<Microseconds> latest_sent;
    for (const std::size_t i : by_end_) {
      latest = std::max(latest, commits_[i].sent);
      latest_sent.push_back(latest);
    }
    for (std::size_t j = 0; j < by_end_.size(); ++j) relate(j, latest_sent);
    sort();
    return std::move(result_);
  }

 private:
  const Commit& at(std::size_t place) const { return commits_[by_end_[place]]; }

  // A snapshot that lies outside of both commits shows both or none.
  Relation by_snapshots(const Commit& a, const Commit& b) const {
    const Microseconds from = std::min(a.sent, b.sent);
    const Microseconds to = std::max(a.end, b.end);
    auto next = std::ranges::lower_bound(snapshots_, from - longest_, {}, &SnapshotTime::from);
    Relation found = Relation::Unknown;
    for (; next != snapshots_.end() && next->from <= to; ++next) {
      if (next->to < from) continue;
      const bool sees_a = next->snapshot.sees(a.xid);
      if (sees_a == next->snapshot.sees(b.xid)) continue;
      const Relation here = sees_a ? Relation::Before : Relation::After;
      if (found != Relation::Unknown && found != here) return Relation::Contradictory;
      found = here;
    }
    return found;
  }

  Relation relation(const Commit& a, const Commit& b) const {
    const Relation rows = by_rows(a, b);
    const Relation seen = by_snapshots(a, b);
    if (rows == Relation::Unknown || rows == seen) return seen;
    return seen == Relation::Unknown ? rows : Relation::Contradictory;
  }

  void put(std::size_t earlier, std::size_t later) {
    after_[earlier].push_back(later);
    ++waits_for_[later];
  }

  // The commit at place `j`, with those that ended before it did.
  void relate(std::size_t j, const std::vector<Microseconds>& latest_sent) {
    const Microseconds sent = at(j).sent;
    std::size_t i = j;
    while (i > 0 && at(i - 1).end >= sent) {
      --i;
      switch (relation(at(i), at(j))) {
        case Relation::Before: put(i, j); break;
        case Relation::After: put(j, i); break;
        case Relation::Unknown: result_.unordered.emplace_back(by_end_[i], by_end_[j]); break;
        case Relation::Contradictory: result_.is_contradictory = true; break;
      }
    }
    // Those before that had ended when it was asked for: the last of them are enough, since they
    // come after the others.
    for (const Microseconds latest = i == 0 ? 0 : latest_sent[i - 1];
         i > 0 && at(i - 1).end >= latest; --i)
      put(i - 1, j);
  }

  void sort() {
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < by_end_.size(); ++i) {
      if (waits_for_[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      const std::size_t next = ready.top();
      ready.pop();
      result_.order.push_back(by_end_[next]);
      for (const std::size_t later : after_[next]) {
        if (--waits_for_[later] == 0) ready.push(later);
      }
    }
    result_.is_contradictory |= result_.order.size() != by_end_.size();
  }

  const std::vector<Commit>& commits_;
  std::vector<SnapshotTime> snapshots_;
  Microseconds longest_ = 0;
  std::vector<std::size_t> by_end_;  // by place: the position of a commit
  std::vector<std::vector<std::size_t>> after_;
  std::vector<std::size_t> waits_for_;
  CommitOrder result_;
};

}  // namespace

CommitOrder commit_order(const std::vector<Commit>& commits, std::vector<SnapshotTime> snapshots) {
  return Orderer(commits, std::move(snapshots)).run();
}

}  // namespace isoscope::record
