#include "spec/statements.h"

#include <algorithm>

namespace isoscope {

StatementFacts::StatementFacts(const History& h) : h_(h), of_row_(h.num_rows()) {
  // A write of nil deletes the row where its key is the row itself; of a column it is an update.
  const auto deletes = [&](EventId e) { return h.value(e).is_nil() && h.is_row(h.key(e)); };
  for (TxnId t : h.txns()) {
    begin_.push_back(static_cast<std::uint32_t>(claims_.size()));
    if (!h.is_present(t)) continue;
    for (EventId e : h.events(t)) {
      if (!h.is_write(e)) continue;
      claims_.push_back({t, h.statement(e), h.row(h.key(e)),
                         deletes(e) ? Mode::Delete : Mode::Exclusive, h.is_insert(e)});
    }
    for (const RowLock& lock : h.locks(t)) {
      const Mode mode = lock.mode == LockMode::KeyShare ? Mode::KeyShare
                        : lock.mode == LockMode::Share  ? Mode::Share
                                                        : Mode::Exclusive;
      claims_.push_back({t, lock.statement, lock.row, mode, false});
    }
  }
  begin_.push_back(static_cast<std::uint32_t>(claims_.size()));
  for (const Claim& claim : claims_) {
    if (!claim.by_insert) of_row_[claim.row.index].push_back(claim);
  }
}

std::span<const StatementFacts::Claim> StatementFacts::claims(TxnId t) const {
  return std::span(claims_).subspan(begin_[t.index], begin_[t.index + 1] - begin_[t.index]);
}

bool StatementFacts::excludes(const Claim& a, const Claim& b) {
  if (a.mode == Mode::KeyShare || b.mode == Mode::KeyShare)
    return a.mode == Mode::Delete || b.mode == Mode::Delete;
  return a.mode != Mode::Share || b.mode != Mode::Share;
}

bool StatementFacts::is_current(EventId read) const {
  const RowId row = h_.row(h_.key(read));
  const std::uint32_t statement = h_.statement(read);
  const auto all = claims(h_.txn(read));
  return std::any_of(all.begin(), all.end(), [&](const Claim& claim) {
    return claim.row == row && claim.statement == statement && claim.mode != Mode::KeyShare;
  });
}

bool StatementFacts::locks(TxnId t, KeyId x) const {
  const RowId row = h_.row(x);
  const auto all = claims(t);
  return std::any_of(all.begin(), all.end(), [&](const Claim& claim) {
    return claim.row == row && claim.mode != Mode::KeyShare && !claim.by_insert;
  });
}

bool StatementFacts::writes_row(TxnId t, KeyId x) const {
  if (!h_.is_committed(t)) return false;
  const RowId row = h_.row(x);
  if (t == kInitialTxn) {
    const auto keys = h_.keys();
    return std::any_of(keys.begin(), keys.end(),
                       [&](KeyId y) { return h_.row(y) == row && h_.writes(t, y); });
  }
  const auto events = h_.events(t);
  return std::any_of(events.begin(), events.end(),
                     [&](EventId e) { return h_.is_write(e) && h_.row(h_.key(e)) == row; });
}

void StatementFacts::for_each_waited(EventId read, const std::function<void(TxnId)>& report) const {
  const TxnId reader = h_.txn(read);
  const std::uint32_t statement = h_.statement(read);
  for (const Claim& own : claims(reader)) {
    if (own.by_insert || own.statement >= statement) continue;
    for (const Claim& other : of_row_[own.row.index]) {
      if (other.txn != reader && excludes(own, other)) report(other.txn);
    }
  }
}

std::vector<std::pair<TxnId, TxnId>> StatementFacts::known_order() const {
  std::vector<std::pair<TxnId, TxnId>> known;
  if (!h_.has_commit_numbers()) return known;
  struct Numbered {
    std::int64_t number;
    TxnId txn;
    bool is_exclusive;
  };
  const auto by_number = [](const Numbered& a, const Numbered& b) {
    return std::pair(a.number, !a.is_exclusive) < std::pair(b.number, !b.is_exclusive);
  };
  // Those that exclude each other and all others, and those that exclude only the former.
  const auto add_row = [&](std::vector<Numbered>& row) {
    // Of one transaction the exclusive claim comes first and counts.
    std::sort(row.begin(), row.end(), by_number);
    row.erase(std::unique(row.begin(), row.end(),
                          [](const Numbered& a, const Numbered& b) { return a.txn == b.txn; }),
              row.end());
    TxnId last = TxnId::none();  // that was exclusive
    std::vector<TxnId> sharing;  // since then
    for (const Numbered& next : row) {
      if (!last.is_none()) known.emplace_back(last, next.txn);
      if (!next.is_exclusive) {
        sharing.push_back(next.txn);
        continue;
      }
      for (TxnId t : sharing) known.emplace_back(t, next.txn);
      sharing.clear();
      last = next.txn;
    }
  };
  std::vector<std::vector<Numbered>> rows(h_.num_rows());
  std::vector<std::vector<Numbered>> deleted(h_.num_rows());  // and those who share the key
  for (const Claim& claim : claims_) {
    const auto number = h_.commit_number(claim.txn);
    if (!number || !h_.is_committed(claim.txn)) continue;
    const bool key_share = claim.mode == Mode::KeyShare;
    if (!key_share)
      rows[claim.row.index].push_back({*number, claim.txn, claim.mode != Mode::Share});
    if (key_share || claim.mode == Mode::Delete)
      deleted[claim.row.index].push_back({*number, claim.txn, !key_share});
  }
  for (std::vector<Numbered>& row : rows) add_row(row);
  for (std::vector<Numbered>& row : deleted) add_row(row);
  return known;
}

}  // namespace isoscope
