#pragma once
// Intersecting what a writer wrote with what a reader read. Used by rc and ra.
//
// Each pass walks through what the writer wrote, while it is at it with the reader. A writer that
// wrote much more than the reader read is put off: HeavyPairs gathers such pairs and comes back
// to them writer by writer, with the writer's keys marked, to walk through the reader's reads.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "check/weak/write_table.h"
#include "history/history.h"

namespace isoscope {

// Transaction t3 reads x from t1, in program order; internal reads are none of the axioms'.
struct ExternalRead {
  KeyId x;
  TxnId t1;
};

inline void collect_external_reads(const History& h, TxnId t3, std::vector<ExternalRead>& reads) {
  reads.clear();
  for (EventId e : h.events(t3)) {
    if (h.is_external_read(e)) reads.push_back({h.key(e), h.writer(e)});
  }
}

// A transaction with so few reads compares them pair by pair.
inline constexpr std::size_t kFewReads = 16;

// Does an earlier read show the same writer as the read at `place`?
inline bool is_seen_before(const std::vector<ExternalRead>& reads, std::size_t place) {
  return std::any_of(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(place),
                     [&](const ExternalRead& read) { return read.t1 == reads[place].t1; });
}

class HeavyPairs {
 public:
  // Would it cost too much to walk through what a writer of `written` keys wrote?
  static bool is_heavy(std::size_t written, std::size_t read) {
    return written > std::max<std::size_t>(read, 64);
  }
  void put_off(TxnId t2, TxnId t3) { pairs_.emplace_back(t2, t3); }

  // Calls f(t2, t3, wrote) for every pair, where wrote(x) says whether t2 writes x.
  template <class F>
  void for_each(const History& h, const WriteTable& writes, F&& f) {
    if (pairs_.empty()) return;
    std::sort(pairs_.begin(), pairs_.end());
    std::vector<TxnId> last_writer(h.num_keys(), TxnId::none());
    TxnId marked = TxnId::none();
    for (const auto& [t2, t3] : pairs_) {
      if (t2 != marked) {
        for (KeyId x : writes.keys(t2)) last_writer[x.index] = t2;
        marked = t2;
      }
      f(t2, t3, [&](KeyId x) { return last_writer[x.index] == marked; });
    }
  }

 private:
  std::vector<std::pair<TxnId, TxnId>> pairs_;
};

}  // namespace isoscope
