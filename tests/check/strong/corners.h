#pragma once
// Random histories in which much is left to choose.
#include <vector>

#include "support/random_history.h"

namespace isoscope {

// Blind writers and readers that see any of them, most in sessions of their own: little is forced
// by paths, so that answers have to be found, and sometimes there are none.
inline SmallHistory random_corners(Rng& rng, int keys, int writers, int readers) {
  const auto below = [&](int n) {
    return static_cast<int>(rng.below(static_cast<std::uint64_t>(n)));
  };
  // How many write a second key, and how many readers write a key, too.
  const double second = 0.5 * below(3);
  const double also = 0.4 * below(3);
  SmallHistory small;
  for (int t = 0; t < writers; ++t) {
    SmallTxn txn{.session = t};
    txn.ops.push_back({.is_write = true, .key = t % keys});
    if (rng.chance(second))
      txn.ops.push_back({.is_write = true, .key = (t % keys + 1 + below(keys - 1)) % keys});
    small.txns.push_back(txn);
  }
  for (int t = writers; t < writers + readers; ++t) {
    SmallTxn txn{.session = rng.chance(0.1) ? below(t) : t};
    const int first = below(keys);
    for (const int key : {first, (first + 1 + below(keys - 1)) % keys}) {
      std::vector<int> candidates;
      for (int u = 0; u < writers; ++u) {
        if (writes_key(small.txns[static_cast<std::size_t>(u)], key)) candidates.push_back(u);
      }
      txn.ops.push_back(
          {.is_write = false, .key = key, .writer = candidates[rng.below(candidates.size())]});
    }
    if (rng.chance(also)) txn.ops.push_back({.is_write = true, .key = below(keys)});
    small.txns.push_back(txn);
  }
  return small;
}

}  // namespace isoscope
