#pragma once
// The commit order as far as it is forced: which transactions come before which, closed under
// transitivity.
//
// Rows are sets of predecessors. A row of rows is small enough (72 bytes for nine transactions)
// that an engine keeps a copy to return to instead of undoing edges.
//
// Cost  O(n) words an edge, n transactions.
#include <cstdint>
#include <span>

namespace isoscope {

template <class Set>
class ForcedOrder {
 public:
  // Works on rows that somebody else keeps: row t is the set of predecessors of t.
  explicit ForcedOrder(std::span<Set> before) : before_(before) {}

  // t comes after `past`, which is closed under so and wr, and before nobody.
  void append(std::uint32_t t, const Set& past) {
    Set all = past;
    past.for_each([&](std::uint32_t p) { all |= before_[p]; });
    before_[t] = all;
  }

  // Each of `from` comes before `to`. False if the opposite is known, then the order is spoilt.
  bool add(const Set& from, std::uint32_t to) {
    const Set fresh = from - before_[to];
    if (fresh.empty()) return true;
    Set all = fresh;
    fresh.for_each([&](std::uint32_t a) { all |= before_[a]; });
    if (all.contains(to)) return false;
    before_[to] |= all;
    for (Set& row : before_) {
      if (row.contains(to)) row |= all;
    }
    return true;
  }

 private:
  std::span<Set> before_;
};

}  // namespace isoscope
