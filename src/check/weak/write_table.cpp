#include "check/weak/write_table.h"

namespace isoscope {

WriteTable::WriteTable(const History& h) {
  begin_.reserve(h.num_txns() + 1);
  std::size_t versions = 0;
  for (EventId e : h.all_events()) versions += h.is_final_write(e) ? 1 : 0;
  keys_.reserve(versions);
  for (TxnId t : h.txns()) {
    begin_.push_back(static_cast<std::uint32_t>(keys_.size()));
    if (!h.is_committed(t)) continue;
    for (EventId e : h.events(t)) {
      if (h.is_final_write(e)) keys_.push_back(h.key(e));
    }
    std::sort(keys_.begin() + begin_.back(), keys_.end());
  }
  begin_.push_back(static_cast<std::uint32_t>(keys_.size()));
}

}  // namespace isoscope
