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

#include "support/by_id.h"

namespace isoscope {

template <class Set>
class ForcedOrder {
 public:
  using Element = typename Set::Element;
  // Works on rows that the caller keeps: row t is the set of predecessors of t.
  explicit ForcedOrder(std::span<Set> before) : before_(before) {}
  explicit ForcedOrder(ById<Element, Set>& before) : before_(before.entries()) {}

  // t comes after `past`, which is closed under so and wr, and before none.
  void append(Element t, const Set& past) {
    Set all = past;
    past.for_each([&](Element p) { all |= before_[p.index]; });
    before_[t.index] = all;
  }

  // Each of `from` comes before `to`. False if the opposite is known, then the order is spoilt.
  bool add(const Set& from, Element to) {
    const Set fresh = from - before_[to.index];
    if (fresh.empty()) return true;
    Set all = fresh;
    fresh.for_each([&](Element a) { all |= before_[a.index]; });
    if (all.contains(to)) return false;
    before_[to.index] |= all;
    for (Set& row : before_) {
      if (row.contains(to)) row |= all;
    }
    return true;
  }

 private:
  std::span<Set> before_;
};

}  // namespace isoscope
