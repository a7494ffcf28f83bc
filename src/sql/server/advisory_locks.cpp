#include "sql/server/advisory_locks.h"

#include <algorithm>

namespace isoscope::sql::server {

std::size_t AdvisoryLocks::enqueue(Entry& entry, const Request& request) {
  auto& queue = entry.queue;
  // Behind all others, or before the first that must wait for what this transaction holds.
  const auto waits_for_own = [&](const Claim& waiter) {
    return std::ranges::any_of(entry.held, [&](const Claim& held) {
      return held.txn == request.txn && !(held.is_shared && waiter.is_shared);
    });
  };
  auto at = std::ranges::find_if(queue, waits_for_own);
  if (request.passes_queue)
    at = std::ranges::find_if(queue, [&](const Claim& c) { return excludes(c, request); });
  const auto place = static_cast<std::size_t>(at - queue.begin());
  queue.insert(at, {request.txn, request.is_shared, request.command});
  return place;
}

AdvisoryLocks::Answer AdvisoryLocks::ask(const Request& request) {
  Entry& entry = entries_[request.key];
  const auto is_own = [&](const Claim& claim) { return claim.txn == request.txn; };
  const auto is_same = [&](const Claim& claim) {
    return is_own(claim) && claim.is_shared == request.is_shared;
  };
  if (std::ranges::any_of(entry.held, is_same)) return {.is_granted = true};
  Answer answer;
  for (const Claim& claim : entry.held) {
    if (excludes(claim, request)) answer.holders.push_back(claim.txn);
  }
  auto own = std::ranges::find_if(entry.queue, is_own);
  const bool is_new = own == entry.queue.end();
  if (is_new || request.passes_queue) {
    const bool is_behind = std::ranges::any_of(
        entry.queue, [&](const Claim& claim) { return excludes(claim, request); });
    // One that is only tried does not ask whether it could go before a waiter.
    if (request.is_tried && (is_behind || !answer.holders.empty())) {
      if (entry.held.empty() && entry.queue.empty()) entries_.erase(request.key);
      return answer;
    }
    if (!is_new) entry.queue.erase(own);
    own = entry.queue.begin() + static_cast<std::ptrdiff_t>(enqueue(entry, request));
  }
  for (auto before = entry.queue.begin(); before != own; ++before) {
    const bool holds = std::ranges::find(answer.holders, before->txn) != answer.holders.end();
    if (!holds && excludes(*before, request)) answer.ahead.push_back(before->txn);
  }
  if (!answer.holders.empty() || !answer.ahead.empty()) return answer;
  entry.held.push_back(*own);
  std::ranges::sort(entry.held, {}, &Claim::txn);
  entry.queue.erase(own);
  return {.is_granted = true};
}

void AdvisoryLocks::undo(TxnNo txn, CommandNo command) {
  const auto is_undone = [&](const Claim& claim) {
    return claim.txn == txn && claim.command >= command;
  };
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    std::erase_if(entry.held, is_undone);
    std::erase_if(entry.queue, is_undone);
    at = entry.held.empty() && entry.queue.empty() ? entries_.erase(at) : std::next(at);
  }
}

void AdvisoryLocks::add_to(Digest& digest) const {
  digest.add(entries_.size());
  for (const auto& [key, entry] : entries_) {
    digest.add(key.size());
    for (const std::int64_t number : key) digest.add(static_cast<std::uint64_t>(number));
    for (const auto* claims : {&entry.held, &entry.queue}) {
      digest.add(claims->size());
      for (const Claim& claim : *claims) {
        digest.add(claim.txn.index);
        digest.add(claim.is_shared ? 1 : 0);
        digest.add(claim.command.index);
      }
    }
  }
}

}  // namespace isoscope::sql::server
