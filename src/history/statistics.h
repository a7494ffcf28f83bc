#pragma once
// What a history is made of, in numbers.
#include <array>
#include <cstdint>
#include <vector>

#include "history/history.h"

namespace isoscope {

// Of a collection of counts: how many, their sum and some of their quantiles.
struct Distribution {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t min = 0;
  std::uint64_t median = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;

  double mean() const {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }
};
Distribution distribution_of(std::vector<std::uint64_t> counts);

struct HistoryStatistics {
  std::uint64_t sessions = 0;
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t unknown = 0;         // of unknown outcome …
  std::uint64_t unknown_absent = 0;  // … from which no transaction read
  std::uint64_t read_only = 0;
  std::uint64_t events = 0;
  std::uint64_t external_reads = 0;
  std::uint64_t internal_reads = 0;
  std::uint64_t initial_reads = 0;  // external, from T0
  std::uint64_t final_writes = 0;
  std::uint64_t overwritten_writes = 0;  // by their own transaction
  // External reads of keys that others than T0 and the reader write: only these could have
  // read something else.
  std::uint64_t reads_with_choice = 0;
  std::uint64_t keys = 0;
  std::uint64_t keys_with_many_writers = 0;  // more than one besides T0
  std::uint64_t list_keys = 0;
  std::array<std::uint64_t, 6> faults = {};  // by FaultKind
  Distribution txn_events;
  Distribution session_txns;
  Distribution key_writers;  // besides T0
  Distribution key_reads;
};

// One pass over the events. O(events + keys).
HistoryStatistics statistics(const History& h);

}  // namespace isoscope
