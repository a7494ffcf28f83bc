#include "record/pairing.h"

#include <algorithm>
#include <limits>

namespace isoscope::record {

void GateCounts::add_message(const GateMessage& message) {
  Count& count = counts_[message.gate];
  ++count.messages;
  // Only a log that was cut asks whether two are equal.
  if (!is_cut_) return;
  const auto is_same = [](const GateMessage& a, const GateMessage& b) {
    return a.snapshot == b.snapshot && a.xid == b.xid && a.isolation == b.isolation;
  };
  count.has_equal |= count.last && is_same(*count.last, message);
  count.last = message;
}

void GateCounts::add_execution(std::uint64_t gate, bool has_failed) {
  Count& count = counts_[gate];
  ++count.executions;
  count.failed += has_failed ? 1 : 0;
}

// Who has forgotten as many of both still knows by how much they differ. A statement that failed
// counts until the end: whether it left a message is known only then.
void GateCounts::end_part() {
  for (auto next = counts_.begin(); next != counts_.end();) {
    const auto& [gate, count] = *next;
    if (count.messages != count.executions || count.failed > 0) {
      ++next;
      continue;
    }
    if (forgotten_.size() <= gate) forgotten_.resize(std::max<std::size_t>(gate + 1, 64));
    forgotten_[gate] = true;
    next = counts_.erase(next);
  }
}

GateRule GateCounts::rule_of(std::uint64_t gate, const Count& count) const {
  const bool is_new = gate >= forgotten_.size() || !forgotten_[gate];
  if (is_new && count.executions == 1 && count.messages > 1) return GateRule::First;
  if (count.executions == 0) return GateRule::None;
  // The last messages of a log that was cut are of transactions that had not ended. Two equal ones
  // may be of one statement, so that it is not known which are the last.
  if (is_cut_ && count.failed == 0 && count.messages > count.executions && !count.has_equal)
    return GateRule::InOrder;
  if (count.messages == count.executions) return GateRule::InOrder;
  if (count.messages == count.executions - count.failed) return GateRule::WithoutFailed;
  return GateRule::None;
}

GateRules GateCounts::rules() const {
  GateRules rules;
  for (const auto& [gate, count] : counts_) {
    const GateRule rule = rule_of(gate, count);
    if (rule != GateRule::InOrder) rules.emplace(gate, rule);
  }
  return rules;
}

GateRule Pairing::rule_of(std::uint64_t gate) const {
  const auto found = rules_.find(gate);
  return found == rules_.end() ? GateRule::InOrder : found->second;
}

void Pairing::add(const std::vector<GateMessage>& messages) {
  for (const GateMessage& message : messages) {
    if (rule_of(message.gate) == GateRule::None || done_.contains(message.gate)) continue;
    queues_[message.gate].messages.push_back(message);
  }
}

std::optional<GateMessage> Pairing::take(std::uint64_t gate, bool has_failed) {
  const GateRule rule = rule_of(gate);
  const auto found = queues_.find(gate);
  if (found == queues_.end() || rule == GateRule::None) return std::nullopt;
  if (rule == GateRule::WithoutFailed && has_failed) return std::nullopt;
  Queue& queue = found->second;
  std::optional<GateMessage> message = std::move(queue.messages[queue.next++]);
  if (rule == GateRule::First) done_.insert(gate);
  if (rule == GateRule::First || queue.next == queue.messages.size()) queues_.erase(found);
  return message;
}

std::uint64_t Pairing::oldest() const {
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [gate, queue] : queues_) {
    for (std::size_t i = queue.next; i < queue.messages.size(); ++i)
      oldest = std::min(oldest, queue.messages[i].snapshot.xmin);
  }
  return oldest;
}

}  // namespace isoscope::record
