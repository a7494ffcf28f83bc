#include "check/points/layout.h"

#include <algorithm>

namespace isoscope {

PointLayout::PointLayout(const History& h, const std::vector<const SnapRules*>& rules)
    : h_(h), rules_(rules), point_of_(h.num_events(), kNone) {
  for (TxnId t : h.txns()) {
    begin_.push_back(static_cast<std::uint32_t>(size()));
    if (h.is_present(t)) add_txn(t);
  }
  begin_.push_back(static_cast<std::uint32_t>(size()));
}

PointLayout::Claims PointLayout::claims_of(TxnId t) const {
  const RowTable& rows = h_.row_table();
  Claims claims;
  for (EventId e : h_.events(t)) {
    if (h_.is_write(e)) claims.emplace_back(statement(t, e), rows.row(h_.key(e)).index);
  }
  for (const RowLock& lock : h_.locks(t)) {
    if (lock.mode != LockMode::KeyShare) claims.emplace_back(lock.statement, lock.row.index);
  }
  std::sort(claims.begin(), claims.end());
  return claims;
}

bool PointLayout::is_plain(TxnId t, EventId read, const Claims& claims) const {
  if (rules(t).latest) return false;  // a snapshot right before the commit shows what is there
  return !std::binary_search(claims.begin(), claims.end(),
                             std::pair(statement(t, read), h_.row_table().row(h_.key(read)).index));
}

void PointLayout::add_txn(TxnId t) {
  const SnapRules& own = rules(t);
  const Claims claims = claims_of(t);
  const bool is_shared = own.one || own.plain_one;
  const auto before = static_cast<std::uint32_t>(size());
  std::uint32_t first = kNone;
  std::uint32_t first_plain = kNone;
  std::uint32_t last = 0;
  for (EventId e : h_.events(t)) {
    if (!h_.is_read(e)) continue;
    const std::uint32_t at = statement(t, e);
    const bool plain = is_plain(t, e, claims);
    if (plain && first_plain == kNone) first_plain = at;
    if (own.one || plain) {
      first = std::min(first, at);
      last = at;
    }
    if (!h_.is_external_read(e)) continue;
    point_of_[e.index] = commit(t);
    if (!plain) continue;
    const bool has_point = size() > before && (is_shared || snapshots_.back().last == at);
    if (!has_point) snapshots_.push_back({t, at, at, at});
    point_of_[e.index] = static_cast<std::uint32_t>(size() - 1);
  }
  if (is_shared && size() > before) snapshots_.back() = {t, first, last, first_plain};
}

std::uint32_t PointLayout::point_of_statement(TxnId t, std::uint32_t statement, bool plain) const {
  const SnapRules& own = rules(t);
  const std::uint32_t begin = first_snapshot(t);
  const std::uint32_t end = end_snapshot(t);
  if (begin == end) return commit(t);
  if (own.one) return begin;
  if (own.plain_one) return plain ? begin : commit(t);
  std::uint32_t next = begin;
  while (next < end && snapshot(next).last < statement) ++next;
  if (next == end) return commit(t);
  return own.monotone || snapshot(next).first == statement ? next : commit(t);
}

std::vector<std::uint32_t> PointLayout::snapshot_lengths(
    std::span<const std::uint32_t> line) const {
  std::vector<std::uint32_t> length(size());  // of points: commits before them
  std::uint32_t commits = 0;
  for (const std::uint32_t point : line) {
    length[point] = commits;
    if (is_commit(point) && h_.is_present(TxnId{point})) ++commits;
  }
  std::vector<std::uint32_t> snap(h_.num_events());
  for (TxnId t : h_.txns()) {
    if (!h_.is_present(t)) continue;
    const Claims claims = rules(t).plain_one ? claims_of(t) : Claims();
    const auto events = h_.events(t);
    for (auto e = events.begin(); e != events.end(); ++e) {
      if (!h_.is_read(*e)) continue;
      const std::uint32_t at = statement(t, *e);
      const auto is_plain_one = [&](EventId other) {
        return h_.is_read(other) && statement(t, other) == at && is_plain(t, other, claims);
      };
      const bool plain =
          rules(t).plain_one && std::any_of(events.begin(), events.end(), is_plain_one);
      snap[(*e).index] = length[point_of_statement(t, at, plain)];
    }
  }
  return snap;
}

}  // namespace isoscope
