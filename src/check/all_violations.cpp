#include "check/all_violations.h"

#include <algorithm>
#include <string>

#include "history/restrict.h"

namespace isoscope {

namespace {

// A history without some of its reads, and the way back to the whole.
class Thinned {
 public:
  explicit Thinned(const History& whole) : whole_(whole), part_(restrict_to(whole, txns())) {}

  const History& part() const { return part_; }

  void leave_out(EventId read) {
    gone_.insert(std::upper_bound(gone_.begin(), gone_.end(), read), read);
    kept_.clear();
    for (EventId e : whole_.all_events()) {
      if (!std::binary_search(gone_.begin(), gone_.end(), e)) kept_.push_back(e);
    }
    part_ = restrict_to(whole_, txns(), kept_);
  }

  // The violation of the part, said of the whole. Transactions have the same ids in both.
  Violation of_whole(Violation v) const {
    for (Edge& e : v.cycle) translate(e);
    if (v.fault) {
      v.fault->read = event(v.fault->read);
      if (!v.fault->other.is_none()) v.fault->other = event(v.fault->other);
    }
    return v;
  }

 private:
  std::vector<TxnId> txns() const {
    std::vector<TxnId> all;
    for (TxnId t : whole_.txns()) all.push_back(t);
    return all;
  }
  EventId event(EventId e) const { return kept_.empty() ? e : kept_[e.index]; }

  void translate(Edge& edge) const {
    if (!edge.key.is_none()) edge.key = key(edge);
    if (!edge.read.is_none()) edge.read = event(edge.read);
    for (Edge& step : edge.path) translate(step);
  }
  // Keys are numbered by first appearance, which may have been a read that is gone. Some event of
  // the edge's ends is on the key.
  KeyId key(const Edge& edge) const {
    for (TxnId t : {edge.from, edge.to}) {
      for (EventId e : part_.events(t)) {
        if (part_.key(e) == edge.key) return whole_.key(event(e));
      }
    }
    return KeyId::none();
  }

  const History& whole_;
  std::vector<EventId> gone_;
  std::vector<EventId> kept_;  // empty: all
  History part_;
};

// The read without which the violation would not stand: one that sees too little, or else any.
EventId hinge(const History& h, const Violation& v) {
  if (v.fault) return v.fault->read;
  EventId any = EventId::none();
  for (const Edge& e : v.cycle) {
    if (e.read.is_none()) continue;
    if (e.kind == EdgeKind::Rw || e.kind == EdgeKind::Co) return e.read;
    any = e.read;
  }
  if (!any.is_none()) return any;
  for (TxnId t : v.core) {
    for (EventId e : h.events(t)) {
      if (h.is_external_read(e)) return e;
    }
  }
  return EventId::none();
}

void count(AllViolations& all, Violation violation) {
  for (AnomalyGroup& group : all.groups) {
    if (group.anomaly != violation.anomaly) continue;
    ++group.count;
    return;
  }
  all.groups.push_back({violation.anomaly, 1, std::move(violation)});
}

}  // namespace

std::size_t AllViolations::total() const {
  std::size_t sum = 0;
  for (const AnomalyGroup& group : groups) sum += group.count;
  return sum;
}

AllViolations all_violations(const History& h, const Level& level, const LevelSet& levels,
                             const Violation& first, std::size_t most, Budget& budget,
                             const Progress& progress, const ViolationSink& found) {
  AllViolations all;
  Thinned thinned(h);
  Violation current = first;
  for (;;) {
    const EventId read = hinge(h, current);
    if (found) found(current);
    all.each.push_back(current);
    count(all, std::move(current));
    if (progress) progress(std::to_string(all.total()) + " violations so far", -1);
    if (read.is_none() || all.total() >= most || budget.expired_now()) {
      all.complete = false;
      break;
    }
    thinned.leave_out(read);
    auto assignment = assign_levels(thinned.part(), level, levels);
    if (!assignment) break;
    const Verdict verdict =
        Checker(thinned.part(), {.confirm = false}).check(*assignment, budget).verdict;
    if (verdict.outcome == Outcome::Unknown) all.complete = false;
    if (verdict.outcome != Outcome::Violated) break;
    current = thinned.of_whole(*verdict.violation);
  }
  std::stable_sort(all.groups.begin(), all.groups.end(),
                   [](const AnomalyGroup& a, const AnomalyGroup& b) { return a.count > b.count; });
  return all;
}

}  // namespace isoscope
