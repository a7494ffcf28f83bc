#include "check/points/constraints.h"

#include <algorithm>
#include <iterator>

namespace isoscope {

Constraints::Constraints(const PointLayout& layout, const RowOrder& rows, std::size_t max_pairs,
                         Budget& budget)
    : layout_(layout),
      rows_(rows),
      h_(layout.history()),
      max_pairs_(max_pairs),
      budget_(budget),
      position_(h_.num_txns()) {
  for (TxnId t : h_.txns()) {
    if (h_.is_present(t) && t != kInitialTxn) add_txn(t);
  }
  for (SessionId s : h_.sessions()) {
    TxnId before = TxnId::none();
    TxnId serial_before = TxnId::none();
    for (TxnId t : h_.session_txns(s)) {
      if (!h_.is_present(t)) continue;
      if (!before.is_none()) {
        edges_.push_back({.from = layout_.commit(before),
                          .to = layout_.commit(t),
                          .reason = PointReason::Session});
        const auto add = [&](std::uint32_t p) {
          edges_.push_back(
              {.from = layout_.commit(before), .to = p, .reason = PointReason::Session});
        };
        if (layout_.rules(t).session) for_all_snapshots(t, add);
      }
      before = t;
      if (!is_serial(t)) continue;
      if (!serial_before.is_none())
        dependencies_.push_back(
            {.from = serial_before.index, .to = t.index, .reason = PointReason::Session});
      serial_before = t;
    }
  }
  add_reads();
  for (const VersionEdge& edge : h_.version_edges()) {
    if (edge.before == kInitialTxn) continue;
    edges_.push_back({.from = layout_.commit(edge.before),
                      .to = layout_.commit(edge.after),
                      .key = edge.key,
                      .reason = PointReason::Order});
  }
  for (KeyId x : h_.keys()) {
    if (stop()) return;
    add_key(x);
  }
  for (std::size_t row = 0; row < rows_.num_rows(); ++row) {
    if (stop()) return;
    add_row(row);
  }
  stop();
}

void Constraints::add_txn(TxnId t) {
  for (std::uint32_t p = layout_.first_snapshot(t); p < layout_.end_snapshot(t); ++p) {
    const bool is_last = p + 1 == layout_.end_snapshot(t);
    const bool chained = !is_last && layout_.rules(t).monotone;
    if (chained) {
      edges_.push_back({.from = p, .to = p + 1, .reason = PointReason::Later});
    } else {
      edges_.push_back({.from = p, .to = layout_.commit(t), .reason = PointReason::Own});
    }
  }
}

void Constraints::add_reads() {
  for (KeyId x : h_.keys()) {
    for (EventId r : rows_.reads(x)) {
      const TxnId t = h_.txn(r);
      const auto add = [&](TxnId writer) {
        if (writer == kInitialTxn) return;
        edges_.push_back({.from = layout_.commit(writer),
                          .to = layout_.point_of(r),
                          .read = r,
                          .key = x,
                          .reason = PointReason::Shown});
        if (is_serial(t) && is_serial(writer))
          dependencies_.push_back({.from = writer.index,
                                   .to = t.index,
                                   .read = r,
                                   .key = x,
                                   .reason = PointReason::Shown});
      };
      add(h_.writer(r));
      for (TxnId writer : h_.also_shown(r)) {
        if (writer != t) add(writer);
      }
      add_seen(x, r);
    }
  }
}

void Constraints::add_seen(KeyId x, EventId r) {
  if (h_.writer(r) == kInitialTxn) return;
  const TxnId t = h_.txn(r);
  const std::uint32_t statement = layout_.statement(t, r);
  const SnapRules& rules = layout_.rules(t);
  const auto add = [&](std::uint32_t p) {
    edges_.push_back({.from = layout_.commit(h_.writer(r)),
                      .to = p,
                      .read = r,
                      .key = x,
                      .reason = PointReason::Seen});
  };
  // Of a plain read, growing snapshots say it already.
  if (rules.seen && !(rules.monotone && !layout_.is_current(r)))
    for_snapshots_after(t, statement, add);
  if (rules.first_seen) for_first_plain_after(t, statement, add);
}

template <class Add>
void Constraints::for_all_snapshots(TxnId t, Add&& add) const {
  for (std::uint32_t p = layout_.first_snapshot(t); p < layout_.end_snapshot(t); ++p) {
    add(p);
    if (layout_.grows(t)) return;
  }
}

template <class Add>
void Constraints::for_snapshots_after(TxnId t, std::uint32_t statement, Add&& add) const {
  const bool is_shared = layout_.rules(t).one || layout_.rules(t).plain_one;
  for (std::uint32_t p = layout_.first_snapshot(t); p < layout_.end_snapshot(t); ++p) {
    const PointLayout::Snapshot& snapshot = layout_.snapshot(p);
    if ((is_shared ? snapshot.last : snapshot.first) <= statement) continue;
    add(p);
    if (layout_.grows(t)) return;
  }
}

template <class Add>
void Constraints::for_first_plain_after(TxnId t, std::uint32_t statement, Add&& add) const {
  const std::uint32_t p = layout_.first_snapshot(t);
  if (p < layout_.end_snapshot(t) && layout_.snapshot(p).first_plain > statement) add(p);
}

Constraints::Sink Constraints::side(TxnId a, TxnId b) {
  const bool swapped = b < a;
  const auto key = swapped ? std::pair(b, a) : std::pair(a, b);
  const auto [place, fresh] = pair_.try_emplace(key, open_.size());
  if (fresh) open_.push_back({key.first, key.second, {}, {}, {}, {}});
  OpenPair& pair = open_[place->second];
  if (swapped) return {&pair.if_after, &pair.dependencies_if_after};
  return {&pair.if_before, &pair.dependencies_if_before};
}

void Constraints::add_key(KeyId x) {
  if (const auto order = rows_.writers(x)) {
    add_known_versions(x, *order);
  } else {
    add_open_versions(x);
  }
}

// a writes x before b does. Requires: `reads_of_a` are the reads of x that show a.
void Constraints::order_writers(KeyId x, TxnId a, TxnId b, std::span<const EventId> reads_of_a,
                                Sink sink) {
  const bool serial = is_serial(b);
  if (a != kInitialTxn) {
    sink.edges->push_back({.from = layout_.commit(a),
                           .to = layout_.commit(b),
                           .key = x,
                           .reason = PointReason::Order});
    if (layout_.rules(b).conflict) {
      for_all_snapshots(b, [&](std::uint32_t p) {
        sink.edges->push_back(
            {.from = layout_.commit(a), .to = p, .key = x, .reason = PointReason::Updated});
      });
    }
    if (serial && is_serial(a))
      sink.dependencies->push_back(
          {.from = a.index, .to = b.index, .key = x, .reason = PointReason::Order});
  }
  for (EventId r : reads_of_a) {
    const TxnId t = h_.txn(r);
    if (t == b) continue;
    sink.edges->push_back({.from = layout_.point_of(r),
                           .to = layout_.commit(b),
                           .read = r,
                           .key = x,
                           .reason = PointReason::Missed});
    if (serial && is_serial(t))
      sink.dependencies->push_back(
          {.from = t.index, .to = b.index, .read = r, .key = x, .reason = PointReason::Missed});
  }
}

void Constraints::add_known_versions(KeyId x, const std::vector<TxnId>& order) {
  std::vector<std::vector<EventId>> shown(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position_[order[i].index] = static_cast<std::uint32_t>(i);
  for (EventId r : rows_.reads(x)) shown[position_[h_.writer(r).index]].push_back(r);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    order_writers(x, order[i], order[i + 1], shown[i], known());
    // Who overwrote what it read comes before the next but one, which is all there is to say of
    // its own read; a read of it that shows an older version has said so already.
  }
}

void Constraints::add_open_versions(KeyId x) {
  if (const auto rivals = rows_.rivals(x)) {
    for (const auto& [read, other] :
         {std::pair(rivals->first, rivals->second), std::pair(rivals->second, rivals->first)})
      edges_.push_back({.from = layout_.commit(h_.txn(read)),
                        .to = layout_.commit(h_.txn(other)),
                        .read = read,
                        .key = x,
                        .reason = PointReason::Missed});
  }
  std::map<TxnId, std::vector<EventId>> shown;
  for (EventId r : rows_.reads(x)) shown[h_.writer(r)].push_back(r);
  const auto writers = h_.writers(x);
  for (TxnId a : writers) {
    for (TxnId b : writers) {
      if (a == b || b == kInitialTxn || stop()) continue;
      if (a == kInitialTxn) {
        order_writers(x, a, b, shown[a], known());
      } else if (h_.commit_number(a) && h_.commit_number(b)) {
        if (*h_.commit_number(a) < *h_.commit_number(b)) order_writers(x, a, b, shown[a], known());
      } else {
        order_writers(x, a, b, shown[a], side(a, b));
      }
    }
  }
}

// Does anything follow from a claiming the row before b, besides the order of their commits?
bool Constraints::matters(const RowClaim& a, const RowClaim& b) const {
  const SnapRules& rules = layout_.rules(b.txn);
  if ((rules.waits || rules.first_waits) && b.waits_for(a) != RowClaim::kNever) return true;
  return rules.first_updater && a.writes && b.locks();
}

void Constraints::order_claims(KeyId key, const RowClaim& a, const RowClaim& b, Sink sink) const {
  const std::uint32_t from = layout_.commit(a.txn);
  sink.edges->push_back(
      {.from = from,
       .to = layout_.commit(b.txn),
       .key = key,
       .reason = a.writes && b.writes ? PointReason::Order : PointReason::Locked});
  const SnapRules& rules = layout_.rules(b.txn);
  const std::uint32_t waited = b.waits_for(a);
  const auto add = [&](PointReason reason) {
    return [=](std::uint32_t p) {
      sink.edges->push_back({.from = from, .to = p, .key = key, .reason = reason});
    };
  };
  if (rules.waits && waited != RowClaim::kNever)
    for_snapshots_after(b.txn, waited, add(PointReason::Waited));
  if (rules.first_waits && waited != RowClaim::kNever)
    for_first_plain_after(b.txn, waited, add(PointReason::Waited));
  if (rules.first_updater && a.writes && b.locks())
    for_all_snapshots(b.txn, add(PointReason::Updated));
}

void Constraints::add_row(std::size_t row) {
  const auto claims = rows_.claims(row);
  if (claims.size() < 2) return;
  const auto ranks = rows_.ranks(row);
  std::vector<std::size_t> ranked;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (ranks[i]) ranked.push_back(i);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::size_t i, std::size_t j) { return *ranks[i] < *ranks[j]; });
  ClaimGroups groups;  // of equal rank
  for (std::size_t k = 0; k < ranked.size(); ++k) {
    if (k == 0 || *ranks[ranked[k]] != *ranks[ranked[k - 1]]) groups.emplace_back();
    groups.back().push_back(&claims[ranked[k]]);
  }
  add_row_sequence(row, groups);
  if (h_.has_commit_numbers()) add_numbered(row);
  for (const auto& group : groups) {
    for (const RowClaim* a : group) {
      for (const RowClaim* b : group) {
        if (stop()) return;
        add_open_claims(row, *a, *b);
      }
    }
  }
  if (ranked.size() == claims.size()) return;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    for (std::size_t j = 0; j < claims.size(); ++j) {
      if (ranks[i] && ranks[j]) continue;
      if (stop()) return;
      add_open_claims(row, claims[i], claims[j]);
    }
  }
}

// Two claims of which it is not known who commits first.
void Constraints::add_open_claims(std::size_t row, const RowClaim& a, const RowClaim& b) {
  if (&a != &b && (matters(a, b) || matters(b, a)))
    order_claims(rows_.key(row), a, b, side(a.txn, b.txn));
}

// Numbers are facts, whatever else the claims were ordered by.
void Constraints::add_numbered(std::size_t row) {
  std::vector<const RowClaim*> numbered;
  for (const RowClaim& claim : rows_.claims(row)) {
    if (h_.is_committed(claim.txn) && h_.commit_number(claim.txn)) numbered.push_back(&claim);
  }
  std::sort(numbered.begin(), numbered.end(), [&](const RowClaim* a, const RowClaim* b) {
    return *h_.commit_number(a->txn) < *h_.commit_number(b->txn);
  });
  if (numbered.size() == rows_.claims(row).size()) return;  // ranks() went by them
  ClaimGroups groups;
  for (const RowClaim* claim : numbered) groups.push_back({claim});
  add_row_sequence(row, groups);
}

// The claims of a group come in no known order, and before all claims of later groups. What is
// known of the last group with an exclusive claim, of the last with a writer and of those who
// shared since then holds of all before them: commits are transitive.
void Constraints::add_row_sequence(std::size_t row, const ClaimGroups& groups) {
  const KeyId key = rows_.key(row);
  using Claims = std::vector<const RowClaim*>;
  Claims exclusive;
  Claims writers;
  Claims deleting;
  Claims sharing;
  Claims key_sharing;
  const auto order_all = [&](const Claims& before, const RowClaim& next) {
    for (const RowClaim* other : before) order_claims(key, *other, next, known());
  };
  const auto is_exclusive = [](const RowClaim* claim) {
    return claim->exclusive != RowClaim::kNever || claim->writes;
  };
  for (const Claims& group : groups) {
    for (const RowClaim* next : group) {
      const bool excludes_shared = is_exclusive(next) || next->shared != RowClaim::kNever;
      if (excludes_shared) order_all(exclusive, *next);
      if (excludes_shared && writers != exclusive) order_all(writers, *next);
      if (is_exclusive(next)) order_all(sharing, *next);
      if (next->deletes != RowClaim::kNever) order_all(key_sharing, *next);
      if (next->key_share != RowClaim::kNever) order_all(deleting, *next);
    }
    const auto replace = [&](Claims& last, auto&& has) {
      Claims found;
      std::copy_if(group.begin(), group.end(), std::back_inserter(found), has);
      if (!found.empty()) last = std::move(found);
    };
    if (std::any_of(group.begin(), group.end(), is_exclusive)) sharing.clear();
    const auto deletes = [](const RowClaim* c) { return c->deletes != RowClaim::kNever; };
    if (std::any_of(group.begin(), group.end(), deletes)) key_sharing.clear();
    replace(exclusive, [](const RowClaim* c) { return c->exclusive != RowClaim::kNever; });
    replace(writers, [](const RowClaim* c) { return c->writes; });
    replace(deleting, deletes);
    for (const RowClaim* claim : group) {
      if (claim->shared != RowClaim::kNever && !is_exclusive(claim)) sharing.push_back(claim);
      if (claim->key_share != RowClaim::kNever) key_sharing.push_back(claim);
    }
  }
}

}  // namespace isoscope
