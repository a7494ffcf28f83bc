#pragma once
// The forced edges that a checker has found so far: t2 commits before t1.
//
// Edges to the same t1 come in runs, so a run is stored as t1, marked, and then its t2s: 4 bytes
// an edge, 4 a run. Blocks of fixed size, because doubling an array would need three times its
// size for a moment.
#include <cstdint>
#include <memory>
#include <vector>

#include "history/ids.h"

namespace isoscope {

class ForcedEdges {
 public:
  void add(TxnId t2, TxnId t1) {
    if (t1 != target_) {
      target_ = t1;
      push(t1.index | kTarget);
    }
    push(t2.index);
    ++size_;
  }
  std::size_t size() const { return size_; }

  // Calls f(t2, t1) for every edge.
  template <class F>
  void for_each(F&& f) const {
    TxnId t1 = TxnId::none();
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const std::size_t used = block + 1 < blocks_.size() ? kBlock : used_;
      for (std::size_t i = 0; i < used; ++i) {
        const std::uint32_t word = blocks_[block][i];
        if ((word & kTarget) != 0) {
          t1 = TxnId{word & ~kTarget};
        } else {
          f(TxnId{word}, t1);
        }
      }
    }
  }

  // Requires of every transaction that it has a smaller index: the last bit marks targets.
  static constexpr std::uint32_t kMaxTxns = std::uint32_t{1} << 31U;

 private:
  static constexpr std::uint32_t kTarget = kMaxTxns;
  static constexpr std::size_t kBlock = std::size_t{1} << 16U;

  void push(std::uint32_t word) {
    if (used_ == kBlock) {
      blocks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(kBlock));
      used_ = 0;
    }
    blocks_.back()[used_++] = word;
  }

  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::size_t used_ = kBlock;  // of the last block
  std::size_t size_ = 0;
  TxnId target_ = TxnId::none();
};

}  // namespace isoscope
