#include "check/weak/lanes.h"

namespace isoscope {

Lanes::Lanes(const WeakFacts& facts, std::span<const TxnId> order)
    : lane_(facts.h.num_txns(), kNone), position_(facts.h.num_txns(), 0) {
  chain(facts, order);
  leave_out_silent(facts);
  txns_.resize(begin_.back());
  for (TxnId t : facts.h.txns()) {
    if (lane(t) != kNone) txns_[begin_[lane(t)] + position(t)] = t;
  }
}

void Lanes::chain(const WeakFacts& facts, std::span<const TxnId> order) {
  const History& h = facts.h;
  std::vector<bool> can_go_on(h.num_txns(), true);  // the last of its lane, and of its session
  for (TxnId t : h.txns()) {
    if (h.is_present(t) && t != kInitialTxn) can_go_on[facts.previous[t.index].index] = false;
  }
  can_go_on[kInitialTxn.index] = false;
  std::vector<std::uint32_t> length;
  for (TxnId t : order) {
    if (t == kInitialTxn || !h.is_present(t)) continue;
    TxnId before = facts.previous[t.index];
    if (before == kInitialTxn) {
      for (EventId e : h.events(t)) {
        if (!h.is_external_read(e) || !can_go_on[h.writer(e).index]) continue;
        before = h.writer(e);
        can_go_on[before.index] = false;
        break;
      }
    }
    if (before == kInitialTxn) {
      lane_[t.index] = static_cast<std::uint32_t>(length.size());
      length.push_back(0);
    } else {
      lane_[t.index] = lane_[before.index];
    }
    position_[t.index] = length[lane_[t.index]]++;
  }
  begin_.assign(length.size() + 1, 0);
  for (std::size_t l = 0; l < length.size(); ++l) begin_[l + 1] = length[l];
}

void Lanes::leave_out_silent(const WeakFacts& facts) {
  std::vector<std::uint32_t> number(begin_.size() - 1, kNone);
  for (TxnId t : facts.h.txns()) {
    if (lane(t) != kNone && !facts.writes.keys(t).empty()) number[lane(t)] = 0;
  }
  std::uint32_t kept = 0;
  for (std::size_t l = 0; l < number.size(); ++l) {
    if (number[l] == kNone) continue;
    number[l] = kept++;
    begin_[kept] = begin_[kept - 1] + begin_[l + 1];  // begin_[l + 1] is still a length
  }
  begin_.resize(kept + 1);
  for (std::uint32_t& l : lane_) {
    if (l != kNone) l = number[l];
  }
}

}  // namespace isoscope
