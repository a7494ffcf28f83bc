#include "spec/conditions.h"

#include <fmt/format.h>

#include <limits>

namespace isoscope {

namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

Failure::Binding binding(std::string name, TxnId t) {
  return {std::move(name), Sort::Txn, t.index};
}

Failure pair_failure(std::string rule, TxnId a, TxnId b) {
  return {std::move(rule), "", {binding("t1", a), binding("t2", b)}};
}

}  // namespace

Conditions::Conditions(const History& h, const Assignment& levels)
    : h_(h), framework_(levels.base->framework), position_(h.num_txns()) {
  const bool over_co = framework_ != Framework::VisAr;
  if (!over_co) so_ = Relation(h.num_txns());
  if (framework_ == Framework::CoSnap) statements_.emplace(h);
  for (TxnId t3 : h.txns()) {
    if (!h.is_present(t3)) continue;
    ++present_;
    for (EventId e : h.events(t3)) {
      if (h.is_external_read(e)) reads_.push_back({e, h.key(e), h.writer(e), t3});
    }
    for (TxnId t : h.txns()) {
      if (!h.is_present(t) || !h.so(t, t3)) continue;
      if (!levels.of(t3).uses_session_order) continue;
      if (over_co) {
        precedences_.push_back({t, t3, "so ⊆ co"});
      } else {
        so_.insert(t.index, t3.index);
      }
    }
  }
  for (const VersionEdge& edge : h.version_edges())
    precedences_.push_back({edge.before, edge.after,
                            over_co ? "known version order ⊆ co" : "known version order ⊆ ar"});
  if (statements_) {
    for (const auto& [before, after] : statements_->known_order())
      precedences_.push_back({before, after, "known order of commits ⊆ co"});
  }
  if (!over_co || levels.base->is_wr_free) return;
  for (const auto& [read, x, t1, t3] : reads_) {
    precedences_.push_back({t1, t3, "wr ⊆ co"});
    for (TxnId t : h.also_shown(read)) precedences_.push_back({t, t3, "wr ⊆ co"});
  }
}

Relation Conditions::least_vis() const { return so_ | wr_relation(h_); }

std::optional<Failure> Conditions::check_order(const Witness& witness) {
  if (!h_.faults().empty())
    return Failure{
        "no read is inexcusable", "", {{"r", Sort::Read, h_.faults().front().read.index}}};
  if (witness.framework != framework_)
    return Failure{fmt::format("the witness is over {}", orders_of(framework_)), "", {}};
  return check_positions(witness.order);
}

std::optional<Failure> Conditions::check_views(const Witness& witness) const {
  switch (framework_) {
    case Framework::Co: return std::nullopt;
    case Framework::VisAr:
      if (auto failure = check_pairs(*witness.vis)) return failure;
      return check_ext(*witness.vis);
    case Framework::CoSnap:
      if (auto failure = check_snapshots(witness.snap)) return failure;
      return check_read_states(witness.snap);
  }
  return std::nullopt;
}

std::optional<Failure> Conditions::check_positions(const std::vector<TxnId>& order) {
  const std::string_view name = framework_ == Framework::VisAr ? "ar" : "co";
  const auto not_once = [&](TxnId t) {
    return Failure{
        fmt::format("{} orders each present transaction once", name), "", {binding("t", t)}};
  };
  std::fill(position_.begin(), position_.end(), kNowhere);
  std::uint32_t next = 0;
  for (TxnId t : order) {
    if (t.index >= position_.size())
      return Failure{fmt::format("{} orders transactions of this history", name), "", {}};
    if (!h_.is_present(t) || position_[t.index] != kNowhere) return not_once(t);
    position_[t.index] = next++;
  }
  if (order.size() != present_) {
    for (TxnId t : h_.txns()) {
      if (h_.is_present(t) && position_[t.index] == kNowhere) return not_once(t);
    }
  }
  if (order.front() != kInitialTxn)
    return Failure{fmt::format("T0 comes first in {}", name), "", {binding("t", order.front())}};
  for (const auto& [before, after, why] : precedences_) {
    if (!in_order(before, after)) return pair_failure(std::string(why), before, after);
  }
  return std::nullopt;
}

std::optional<Failure> Conditions::check_pairs(const Relation& vis) const {
  if (vis.size() != h_.num_txns())
    return Failure{"vis relates transactions of this history", "", {}};
  std::optional<Failure> failure;
  for (TxnId a : h_.txns()) {
    vis.for_each_successor(a.index, [&](std::size_t to) {
      const TxnId b{static_cast<std::uint32_t>(to)};
      const bool both = h_.is_present(a) && h_.is_present(b);
      if (!failure && !(both && in_order(a, b))) failure = pair_failure("vis ⊆ ar", a, b);
    });
    if (failure) return failure;
  }
  if (so_.is_subset_of(vis)) return std::nullopt;
  const Relation missing = so_ - vis;
  for (TxnId a : h_.txns()) {
    missing.for_each_successor(a.index, [&](std::size_t to) {
      if (!failure) failure = pair_failure("so ⊆ vis", a, TxnId{static_cast<std::uint32_t>(to)});
    });
  }
  return failure;
}

// t1 is visible to t3, and no other visible writer of x comes after it.
std::optional<Failure> Conditions::check_ext(const Relation& vis) const {
  for (const auto& [read, x, t1, t3] : reads_) {
    const Failure::Binding r{"r", Sort::Read, read.index};
    if (!vis.contains(t1.index, t3.index))
      return Failure{"EXT: the writer is visible", "", {r, binding("t1", t1), binding("t3", t3)}};
    for (TxnId t : h_.also_shown(read)) {
      if (!vis.contains(t.index, t3.index))
        return Failure{
            "EXT: what a list shows is visible", "", {r, binding("t1", t), binding("t3", t3)}};
    }
    for (TxnId t2 : h_.writers(x)) {
      if (vis.contains(t2.index, t3.index) && in_order(t1, t2))
        return Failure{"EXT: the writer is the last one visible",
                       "",
                       {r, binding("t1", t1), binding("t2", t2), binding("t3", t3)}};
    }
  }
  return std::nullopt;
}

// Each snapshot is a beginning of co with T0 that ends before the reader's transaction, and a
// statement has one.
std::optional<Failure> Conditions::check_snapshots(const std::vector<std::uint32_t>& snap) const {
  if (snap.size() != h_.num_events()) return Failure{"each read has a snapshot", "", {}};
  for (TxnId t : h_.txns()) {
    if (!h_.is_present(t)) continue;
    for (EventId r : h_.events(t)) {
      if (!h_.is_read(r)) continue;
      const Failure::Binding read{"r", Sort::Read, r.index};
      if (snap[r.index] == 0) return Failure{"T0 is in each snapshot", "", {read}};
      if (snap[r.index] > position_[t.index])
        return Failure{"snapshots end before their transaction", "", {read}};
      for (EventId s : h_.events(t)) {
        if (h_.is_read(s) && h_.statement(r) == h_.statement(s) && snap[r.index] != snap[s.index])
          return Failure{
              "reads of a statement share their snapshot", "", {read, {"s", Sort::Read, s.index}}};
      }
    }
  }
  return std::nullopt;
}

// A plain read shows the co-last writer in its snapshot, a current one the co-last writer before
// its own transaction.
std::optional<Failure> Conditions::check_read_states(const std::vector<std::uint32_t>& snap) const {
  for (const auto& [read, x, t1, t3] : reads_) {
    const bool is_current = statements_->is_current(read);
    const std::uint32_t end = is_current ? position_[t3.index] : snap[read.index];
    const Failure::Binding r{"r", Sort::Read, read.index};
    const auto is_shown = [&](TxnId t) { return position_[t.index] < end; };
    if (!is_shown(t1))
      return Failure{is_current ? "a current read shows a writer before its transaction"
                                : "the writer is in the snapshot",
                     "",
                     {r, binding("t1", t1)}};
    for (TxnId t : h_.also_shown(read)) {
      if (!is_shown(t))
        return Failure{"what a list shows is in the snapshot", "", {r, binding("t1", t)}};
    }
    for (TxnId t2 : h_.writers(x)) {
      if (is_shown(t2) && in_order(t1, t2))
        return Failure{is_current ? "a current read shows the last writer before its transaction"
                                  : "the writer is the last one in the snapshot",
                       "",
                       {r, binding("t1", t1), binding("t2", t2)}};
    }
  }
  return std::nullopt;
}

}  // namespace isoscope
