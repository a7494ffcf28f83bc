#pragma once
// Chains that cover the transactions, such that (so | wr)+ orders each chain.
//
// What a transaction sees of a chain is a prefix, so one number says it, and a clock is one
// number a chain. Sessions are such chains. Where they are short and many, a session that starts
// by reading from the last transaction of another continues its lane. Lanes without
// writes are left out: no read misses a write of theirs.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "check/weak/forced.h"

namespace isoscope {

class Lanes {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // `order`: all transactions, such that so and wr lead onwards.
  Lanes(const WeakFacts& facts, std::span<const TxnId> order);

  std::size_t count() const { return begin_.size() - 1; }
  std::uint32_t lane(TxnId t) const { return lane_[t.index]; }  // kNone if it has none
  std::uint32_t position(TxnId t) const { return position_[t.index]; }
  std::span<const TxnId> txns(std::uint32_t lane) const {
    return {txns_.data() + begin_[lane], txns_.data() + begin_[lane + 1]};
  }

 private:
  void chain(const WeakFacts& facts, std::span<const TxnId> order);
  void leave_out_silent(const WeakFacts& facts);

  std::vector<std::uint32_t> lane_;      // by transaction
  std::vector<std::uint32_t> position_;  // by transaction
  std::vector<std::uint32_t> begin_;     // by lane, one more at the end
  std::vector<TxnId> txns_;              // by lane and position
};

}  // namespace isoscope
