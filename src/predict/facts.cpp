#include "predict/facts.h"

#include <algorithm>

namespace isoscope::predict {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace

ObservedFacts::ObservedFacts(const History& h, bool by_event, Budget& budget)
    : h_(h),
      session_of_(h.num_txns(), kNone),
      position_(h.num_txns(), kNone),
      hb_(h.num_txns()),
      by_txn_(h.num_txns()),
      choice_of_event_(h.num_events(), ChoiceId::none()) {
  collect_sessions();
  collect_hb(budget);
  collect_choices(by_event, budget);
}

void ObservedFacts::collect_sessions() {
  for (const SessionId s : h_.sessions()) {
    std::vector<TxnId> txns;
    for (const TxnId t : h_.session_txns(s)) {
      if (h_.is_committed(t)) txns.push_back(t);
    }
    if (txns.empty()) continue;
    for (std::uint32_t i = 0; i < txns.size(); ++i) {
      session_of_[txns[i].index] = static_cast<std::uint32_t>(sessions_.size());
      position_[txns[i].index] = i;
    }
    sessions_.push_back(std::move(txns));
  }
}

void ObservedFacts::collect_hb(Budget& budget) {
  for (const auto& txns : sessions_) {
    for (std::size_t i = 1; i < txns.size(); ++i) hb_.insert(txns[i - 1].index, txns[i].index);
  }
  for (const ReadFrom& read : h_.reads_from()) {
    if (read.t1 != kInitialTxn && h_.is_committed(read.t3))
      hb_.insert(read.t1.index, read.t3.index);
  }
  hb_ = transitive_closure(std::move(hb_), &budget);
}

std::vector<TxnId> ObservedFacts::writers(KeyId x) const {
  std::vector<TxnId> found;
  for (const TxnId w : h_.writers(x)) {
    if (w != kInitialTxn) found.push_back(w);
  }
  return found;
}

void ObservedFacts::collect_choices(bool by_event, Budget& budget) {
  for (const auto& txns : sessions_) {
    for (const TxnId t : txns) {
      for (const EventId e : h_.events(t)) {
        if (!h_.is_read(e) || !h_.is_external_read(e)) continue;
        if (budget.expired()) return;
        ++num_reads_;
        const KeyId x = h_.key(e);
        auto& own = by_txn_[t];
        const auto same = std::find_if(own.begin(), own.end(), [&](ChoiceId c) {
          return choices_[c].key == x && choices_[c].observed == h_.writer(e);
        });
        if (!by_event && same != own.end()) {
          choices_[*same].reads.push_back(e);
          choice_of_event_[e] = *same;
          continue;
        }
        Choice choice{.txn = t, .key = x, .reads = {e}, .observed = h_.writer(e), .writers = {}};
        for (const TxnId w : h_.writers(x)) {
          // Whoever comes later in the session has not written yet.
          if (w == t || (w != kInitialTxn && h_.so(t, w))) continue;
          choice.writers.push_back(w);
        }
        if (choice.writers.size() == 1 && choice.writers.front() == kInitialTxn) continue;
        choice_of_event_[e] = choices_.next_id();
        own.push_back(choices_.next_id());
        choices_.push_back(std::move(choice));
      }
    }
  }
}

std::optional<ChoiceId> ObservedFacts::choice_of(EventId read) const {
  const ChoiceId choice = choice_of_event_[read];
  return choice.is_none() ? std::nullopt : std::optional(choice);
}

}  // namespace isoscope::predict
