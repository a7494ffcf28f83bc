#pragma once
// A hash table by key for what a simulated store remembers: open addressing with linear probing,
// so that an access costs one cache miss and a key never written costs nothing.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace isoscope::simulation {

template <class T>
class KeyMap {
 public:
  // Null for a key never set. Valid until the next at().
  const T* find(std::uint32_t key) const {
    if (size_ == 0) return nullptr;
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == kFree ? nullptr : &slot.item;
  }
  T* find(std::uint32_t key) { return const_cast<T*>(std::as_const(*this).find(key)); }

  // Finds or makes. Valid until the next call.
  T& at(std::uint32_t key) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    if (slot.key == kFree) {
      slot.key = key;
      ++size_;
    }
    return slot.item;
  }

  std::size_t size() const { return size_; }
  void clear() {
    if (size_ > 0) *this = {};
  }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();  // no key
  struct Slot {
    std::uint32_t key = kFree;
    T item = {};
  };

  // Where the key is or would be. Requires: a free slot exists.
  std::size_t slot_of(std::uint32_t key) const {
    const std::size_t mask = slots_.size() - 1;
    // Multiplying spreads neighbours; the high half of the product is the well-mixed one.
    std::size_t i = static_cast<std::size_t>((key * std::uint64_t{0x9e3779b97f4a7c15}) >> 32U);
    for (i &= mask; slots_[i].key != key && slots_[i].key != kFree;) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.key != kFree) slots_[slot_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace isoscope::simulation
