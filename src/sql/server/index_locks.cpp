#include "sql/server/index_locks.h"

#include <algorithm>

namespace isoscope::sql::server {

IndexLocks::Answer IndexLocks::lock(const Record& record, const Request& request) {
  auto& queue = records_[record];
  const auto is_enough = [&](const Claim& claim) {
    return claim.is_granted && claim.txn == request.txn && (!claim.is_shared || request.is_shared);
  };
  if (std::ranges::any_of(queue, is_enough)) return {};
  auto own = std::ranges::find_if(
      queue, [&](const Claim& claim) { return claim.txn == request.txn && !claim.is_granted; });
  Answer answer;
  for (auto before = queue.begin(); before != own; ++before) {
    if (before->txn != request.txn && !(before->is_shared && request.is_shared))
      answer.blockers.push_back(before->txn);
  }
  if (own == queue.end())
    own = queue.insert(own, {request.txn, request.is_shared, request.keeps_gaps, false});
  answer.is_new = answer.blockers.empty();
  own->is_granted = answer.is_new;
  return answer;
}

void IndexLocks::release(const Record& record, const Request& request) {
  const auto at = records_.find(record);
  if (at == records_.end()) return;
  std::erase_if(at->second, [&](const Claim& claim) {
    return claim.txn == request.txn && claim.is_shared == request.is_shared;
  });
  if (at->second.empty()) records_.erase(at);
}

std::vector<TxnNo> IndexLocks::gap_blockers(const Record& before, TxnNo txn) const {
  std::vector<TxnNo> blockers;
  if (const auto at = gaps_.find(before); at != gaps_.end()) {
    for (const TxnNo holder : at->second) {
      if (holder != txn) blockers.push_back(holder);
    }
  }
  return blockers;
}

void IndexLocks::split(const Record& record, const Record& next, TxnNo txn) {
  if (const auto at = gaps_.find(next); at != gaps_.end()) {
    const std::set<TxnNo> holders = at->second;
    gaps_[record].insert(holders.begin(), holders.end());
  }
  lock(record, {.txn = txn});
}

void IndexLocks::merge(const Record& record, const Record& next) {
  if (const auto at = records_.find(record); at != records_.end()) {
    for (const Claim& claim : at->second) {
      if (claim.keeps_gaps || claim.is_shared) gaps_[next].insert(claim.txn);
    }
    records_.erase(at);
  }
  if (const auto at = gaps_.find(record); at != gaps_.end()) {
    const std::set<TxnNo> holders = std::move(at->second);
    gaps_.erase(at);
    gaps_[next].insert(holders.begin(), holders.end());
  }
}

void IndexLocks::end(TxnNo txn) {
  for (auto at = records_.begin(); at != records_.end();) {
    std::erase_if(at->second, [&](const Claim& claim) { return claim.txn == txn; });
    at = at->second.empty() ? records_.erase(at) : std::next(at);
  }
  for (auto at = gaps_.begin(); at != gaps_.end();) {
    at->second.erase(txn);
    at = at->second.empty() ? gaps_.erase(at) : std::next(at);
  }
}

void IndexLocks::add_to(Digest& digest) const {
  const auto add_record = [&](const Record& record) {
    digest.add(record.table.index);
    digest.add(record.key ? 1 : 0);
    if (record.key) digest.add_values(*record.key);
  };
  digest.add(records_.size());
  for (const auto& [record, queue] : records_) {
    add_record(record);
    digest.add(queue.size());
    for (const Claim& claim : queue) {
      digest.add(claim.txn.index);
      digest.add((claim.is_shared ? 1 : 0) + (claim.is_granted ? 2 : 0));
    }
  }
  digest.add(gaps_.size());
  for (const auto& [record, holders] : gaps_) {
    add_record(record);
    digest.add(holders.size());
    for (const TxnNo txn : holders) digest.add(txn.index);
  }
}

}  // namespace isoscope::sql::server
