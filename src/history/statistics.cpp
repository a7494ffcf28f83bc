#include "history/statistics.h"

#include <algorithm>
#include <numeric>

namespace isoscope {

Distribution distribution_of(std::vector<std::uint64_t> counts) {
  Distribution d;
  if (counts.empty()) return d;
  std::sort(counts.begin(), counts.end());
  const auto quantile = [&](double share) {
    return counts[static_cast<std::size_t>(share * static_cast<double>(counts.size() - 1))];
  };
  d.count = counts.size();
  d.sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  d.min = counts.front();
  d.median = quantile(0.5);
  d.p90 = quantile(0.9);
  d.p99 = quantile(0.99);
  d.max = counts.back();
  return d;
}

HistoryStatistics statistics(const History& h) {
  HistoryStatistics s;
  s.sessions = h.num_sessions();
  s.events = h.num_events();
  s.keys = h.num_keys();
  std::vector<std::uint64_t> txn_events;
  std::vector<std::uint64_t> key_reads(h.num_keys(), 0);
  for (TxnId t : h.txns()) {
    if (t == kInitialTxn) continue;
    switch (h.status(t)) {
      case TxnStatus::Committed: ++s.committed; break;
      case TxnStatus::Aborted: ++s.aborted; break;
      case TxnStatus::Unknown: ++s.unknown; break;
    }
    if (!h.is_present(t)) ++s.unknown_absent;
    txn_events.push_back(h.events(t).size());
    bool writes = false;
    for (EventId e : h.events(t)) {
      const KeyId x = h.key(e);
      if (h.is_write(e)) {
        writes = true;
        if (h.is_committed(t)) ++(h.is_final_write(e) ? s.final_writes : s.overwritten_writes);
        continue;
      }
      ++key_reads[x.index];
      if (!h.is_external_read(e)) {
        if (h.writer(e) == t) ++s.internal_reads;
        continue;
      }
      ++s.external_reads;
      if (h.writer(e) == kInitialTxn) ++s.initial_reads;
      const auto writers = h.writers(x);
      if (std::any_of(writers.begin(), writers.end(),
                      [&](TxnId u) { return u != kInitialTxn && u != t; }))
        ++s.reads_with_choice;
    }
    if (!writes) ++s.read_only;
  }
  std::vector<std::uint64_t> key_writers;
  for (KeyId x : h.keys()) {
    const auto writers = h.writers(x);
    const bool from_start = !writers.empty() && writers.front() == kInitialTxn;
    key_writers.push_back(writers.size() - (from_start ? 1 : 0));
    if (key_writers.back() > 1) ++s.keys_with_many_writers;
    if (h.is_list(x)) ++s.list_keys;
  }
  std::vector<std::uint64_t> session_txns;
  for (SessionId session : h.sessions()) session_txns.push_back(h.session_txns(session).size());
  for (const ReadFault& fault : h.faults()) ++s.faults[static_cast<std::size_t>(fault.kind)];
  s.txn_events = distribution_of(std::move(txn_events));
  s.session_txns = distribution_of(std::move(session_txns));
  s.key_writers = distribution_of(std::move(key_writers));
  s.key_reads = distribution_of(std::move(key_reads));
  return s;
}

}  // namespace isoscope
