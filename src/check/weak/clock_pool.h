#pragma once
// Clocks of equal width, handed out and taken back: as many as are needed at the same time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace isoscope {

// By lane: how many of its transactions are seen. Signed, because the oldest processors that we
// run on compare many signed numbers at once, but not unsigned ones.
using ClockEntry = std::int32_t;

class ClockPool {
 public:
  using Slot = std::uint32_t;

  explicit ClockPool(std::size_t width) : width_(width) {}

  Slot take() {
    if (free_.empty()) {
      chunks_.push_back(std::make_unique_for_overwrite<ClockEntry[]>(kChunk * width_));
      const auto end = static_cast<Slot>(chunks_.size() * kChunk);
      for (Slot slot = end; slot > end - kChunk; --slot) free_.push_back(slot - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  Slot take(const ClockEntry* value) {
    const Slot slot = take();
    std::copy_n(value, width_, at(slot));
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }

  ClockEntry* at(Slot slot) { return chunks_[slot / kChunk].get() + slot % kChunk * width_; }
  std::size_t capacity() const { return chunks_.size() * kChunk; }

  // Makes `into` see what `other` sees as well.
  void join(ClockEntry* __restrict into, const ClockEntry* __restrict other) const {
    for (std::size_t i = 0; i < width_; ++i) into[i] = std::max(into[i], other[i]);
  }

 private:
  static constexpr std::size_t kChunk = 256;

  std::size_t width_;
  std::vector<std::unique_ptr<ClockEntry[]>> chunks_;
  std::vector<Slot> free_;
};

}  // namespace isoscope
