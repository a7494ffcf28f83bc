#pragma once
// What each transaction writes: the keys of its final writes, sorted, in one array.
//
// A version is a final write, named by its position here. Four keys fit a fraction of a cache
// line, where the events of the transaction take three.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "history/history.h"

namespace isoscope {

class WriteTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  explicit WriteTable(const History& h);

  std::size_t num_versions() const { return keys_.size(); }
  // The keys that t writes, ascending; of T0 none.
  std::span<const KeyId> keys(TxnId t) const {
    return {keys_.data() + begin_[t.index], keys_.data() + begin_[t.index + 1]};
  }
  KeyId key(std::uint32_t version) const { return keys_[version]; }

  // t's version of x, or kNone.
  std::uint32_t version(TxnId t, KeyId x) const {
    const auto all = keys(t);
    std::size_t i = 0;
    if (all.size() <= kFew) {
      while (i < all.size() && all[i] < x) ++i;
    } else {
      i = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), x) - all.begin());
    }
    if (i == all.size() || all[i] != x) return kNone;
    return begin_[t.index] + static_cast<std::uint32_t>(i);
  }
  bool writes(TxnId t, KeyId x) const { return version(t, x) != kNone; }

 private:
  static constexpr std::size_t kFew = 16;  // so many are searched one by one

  std::vector<std::uint32_t> begin_;  // by transaction, one more at the end
  std::vector<KeyId> keys_;
};

}  // namespace isoscope
