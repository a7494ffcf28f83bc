#include "check/points/row_order.h"

#include <algorithm>
#include <map>

namespace isoscope {

std::uint32_t RowClaim::waits_for(const RowClaim& other) const {
  std::uint32_t first = kNever;
  if (other.locks()) first = std::min(first, exclusive);
  if (other.exclusive != kNever) first = std::min(first, shared);
  if (other.deletes != kNever) first = std::min(first, key_share);
  if (other.key_share != kNever) first = std::min(first, deletes);
  return first;
}

RowOrder::RowOrder(const PointLayout& layout) : layout_(layout), h_(layout.history()) {
  collect_claims();
  collect_reads();
  if (h_.version_edges().empty()) return;
  // Edges of a list lead from each version to the next; appends that no read shows come last, in
  // no order of their own.
  std::map<KeyId, std::map<TxnId, std::vector<TxnId>>> next;
  for (const VersionEdge& edge : h_.version_edges())
    next[edge.key][edge.before].push_back(edge.after);
  list_orders_.resize(h_.num_keys());
  for (const auto& [x, steps] : next) {
    std::vector<TxnId> order = {kInitialTxn};
    for (auto step = steps.find(kInitialTxn); step != steps.end() && step->second.size() == 1;
         step = steps.find(order.back()))
      order.push_back(step->second.front());
    if (order.size() == h_.writers(x).size()) list_orders_[x.index] = std::move(order);
  }
}

void RowOrder::collect_claims() {
  const RowTable& table = h_.row_table();
  rows_.resize(h_.num_rows());
  some_key_.assign(h_.num_rows(), KeyId::none());
  only_key_ = some_key_;
  for (KeyId x : h_.keys()) {
    const std::uint32_t row = table.row(x).index;
    only_key_[row] = some_key_[row].is_none() ? x : KeyId::none();
    some_key_[row] = x;
  }
  const auto claim = [&](TxnId t, RowId row) -> RowClaim& {
    auto& claims = rows_[row.index];
    if (claims.empty() || claims.back().txn != t) claims.push_back({.txn = t});
    return claims.back();
  };
  const auto lower = [](std::uint32_t& first, std::uint32_t statement) {
    first = std::min(first, statement);
  };
  for (TxnId t : h_.txns()) {
    if (!h_.is_present(t)) continue;
    for (EventId e : h_.events(t)) {
      if (!h_.is_write(e)) continue;
      const KeyId x = h_.key(e);
      RowClaim& own = claim(t, table.row(x));
      own.writes = own.writes || h_.is_committed(t);
      if (h_.is_insert(e)) continue;
      const std::uint32_t at = layout_.statement(t, e);
      lower(own.exclusive, at);
      if (h_.value(e).is_nil() && table.is_row(x)) lower(own.deletes, at);
    }
    for (const RowLock& lock : h_.locks(t)) {
      RowClaim& own = claim(t, lock.row);
      switch (lock.mode) {
        case LockMode::KeyShare: lower(own.key_share, lock.statement); break;
        case LockMode::Share: lower(own.shared, lock.statement); break;
        case LockMode::Exclusive: lower(own.exclusive, lock.statement); break;
      }
    }
  }
}

void RowOrder::collect_reads() {
  reads_begin_.assign(h_.num_keys() + 1, 0);
  const auto counts = [&](EventId e) {
    return h_.is_external_read(e) && layout_.point_of(e) != PointLayout::kNone;
  };
  for (EventId e : h_.all_events()) {
    if (counts(e)) ++reads_begin_[h_.key(e).index + 1];
  }
  for (std::size_t x = 0; x < h_.num_keys(); ++x) reads_begin_[x + 1] += reads_begin_[x];
  reads_.resize(reads_begin_.back());
  std::vector<std::uint32_t> next(reads_begin_.begin(), reads_begin_.end());
  for (EventId e : h_.all_events()) {
    if (counts(e)) reads_[next[h_.key(e).index]++] = e;
  }
}

// By the numbers of commits if all have one; else along the versions of the row's only key, those
// who only lock it after the version that they read; else by the numbers as far as they go.
std::vector<std::optional<std::int64_t>> RowOrder::ranks(std::size_t row) const {
  const auto all = claims(row);
  std::vector<std::optional<std::int64_t>> numbers;
  for (const RowClaim& claim : all)
    numbers.push_back(h_.is_committed(claim.txn) ? h_.commit_number(claim.txn) : std::nullopt);
  const auto is_known = [](const std::optional<std::int64_t>& rank) { return rank.has_value(); };
  if (std::all_of(numbers.begin(), numbers.end(), is_known)) return numbers;
  const KeyId x = only_key_[row];
  const auto order = x.is_none() ? std::nullopt : writers(x);
  if (!order) return numbers;
  std::map<TxnId, std::int64_t> position;
  for (TxnId t : *order) position.emplace(t, static_cast<std::int64_t>(position.size()));
  std::vector<std::optional<std::int64_t>> places;
  for (const RowClaim& claim : all) {
    const auto own = position.find(claim.txn);
    const EventId read = own == position.end() ? successor_read(claim.txn, x) : EventId::none();
    if (own != position.end()) {
      places.emplace_back(2 * own->second);
    } else if (!read.is_none()) {
      places.emplace_back(2 * position.at(h_.writer(read)) + 1);
    } else {
      places.emplace_back(std::nullopt);
    }
  }
  return places;
}

std::optional<std::vector<TxnId>> RowOrder::writers(KeyId x) const {
  if (auto known = by_numbers(x)) return known;
  if (auto known = by_edges(x)) return known;
  return by_chain(x);
}

std::optional<std::vector<TxnId>> RowOrder::by_numbers(KeyId x) const {
  const auto all = h_.writers(x);
  std::vector<TxnId> order(all.begin(), all.end());
  const std::size_t first = !order.empty() && order.front() == kInitialTxn ? 1 : 0;
  if (order.size() <= first + 1) return order;
  const auto is_numbered = [&](TxnId t) { return t == kInitialTxn || h_.commit_number(t); };
  if (!std::all_of(order.begin(), order.end(), is_numbered)) return std::nullopt;
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
            [&](TxnId a, TxnId b) { return *h_.commit_number(a) < *h_.commit_number(b); });
  return order;
}

std::optional<std::vector<TxnId>> RowOrder::by_edges(KeyId x) const {
  if (list_orders_.empty() || list_orders_[x.index].empty()) return std::nullopt;
  return list_orders_[x.index];
}

bool RowOrder::is_adjacent(EventId read) const {
  const TxnId t = h_.txn(read);
  if (layout_.is_current(read)) return true;
  const SnapRules& rules = layout_.rules(t);
  if (rules.conflict && h_.writes(t, h_.key(read))) return true;
  // Whoever wrote the row before is in the snapshot, if t locks the row (an INSERT does not).
  if (!rules.first_updater) return false;
  const auto& claims = rows_[h_.row_table().row(h_.key(read)).index];
  const auto own = std::lower_bound(claims.begin(), claims.end(), t,
                                    [](const RowClaim& c, TxnId u) { return c.txn < u; });
  return own != claims.end() && own->txn == t && own->locks();
}

EventId RowOrder::successor_read(TxnId t, KeyId x) const {
  for (EventId e : h_.events(t)) {
    if (h_.is_external_read(e) && h_.key(e) == x && is_adjacent(e)) return e;
  }
  return EventId::none();
}

// Follows who came right after whom, from the first writer on.
std::optional<std::vector<TxnId>> RowOrder::by_chain(KeyId x) const {
  const auto all = h_.writers(x);
  std::map<TxnId, TxnId> next;
  std::vector<TxnId> roots;  // T0 first
  for (TxnId t : all) {
    const EventId read = t == kInitialTxn ? EventId::none() : successor_read(t, x);
    if (read.is_none()) {
      roots.push_back(t);
    } else if (!next.emplace(h_.writer(read), t).second) {
      return std::nullopt;
    }
  }
  // A single blind writer comes right after T0, if no other does.
  if (roots.size() == 2 && roots.front() == kInitialTxn &&
      next.emplace(kInitialTxn, roots.back()).second)
    roots.pop_back();
  if (roots.size() != 1) return std::nullopt;
  std::vector<TxnId> order = {roots.front()};
  for (auto step = next.find(roots.front()); step != next.end(); step = next.find(order.back()))
    order.push_back(step->second);
  if (order.size() != all.size()) return std::nullopt;
  return order;
}

std::optional<RowOrder::Rivals> RowOrder::rivals(KeyId x) const {
  std::map<TxnId, EventId> next;
  for (TxnId t : h_.writers(x)) {
    const EventId read = t == kInitialTxn ? EventId::none() : successor_read(t, x);
    if (read.is_none()) continue;
    const auto [known, fresh] = next.emplace(h_.writer(read), read);
    if (!fresh) return Rivals{known->second, read};
  }
  return std::nullopt;
}

}  // namespace isoscope
