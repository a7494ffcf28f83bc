#pragma once
// What a simulated store remembers: by key, and of an open transaction.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace isoscope::simulation {

// A hash table by key: open addressing with linear probing, so that an access costs one cache miss
// and a key never written costs nothing.
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

struct KeyValue {
  std::uint32_t key = 0;
  std::int64_t value = 0;
};

// What an open transaction has written: the last value of each key, in order of first writing.
// Short transactions are searched one by one; only long ones pay for an index.
class WriteSet {
 public:
  // Null if the transaction has not written the key.
  const std::int64_t* find(std::uint32_t key) const {
    const KeyValue* write = find_write(key);
    return write == nullptr ? nullptr : &write->value;
  }
  void set(std::uint32_t key, std::int64_t value) {
    if (const KeyValue* write = find_write(key)) {
      writes_[static_cast<std::size_t>(write - writes_.data())].value = value;
      return;
    }
    writes_.push_back({key, value});
    if (writes_.size() > kSearched) add_to_index();
  }
  std::span<const KeyValue> writes() const { return writes_; }
  bool empty() const { return writes_.empty(); }
  void clear() {
    writes_.clear();
    positions_.clear();
  }

 private:
  static constexpr std::size_t kSearched = 16;

  const KeyValue* find_write(std::uint32_t key) const {
    if (writes_.size() > kSearched) {
      const std::uint32_t* position = positions_.find(key);
      return position == nullptr ? nullptr : &writes_[*position];
    }
    for (const KeyValue& write : writes_) {
      if (write.key == key) return &write;
    }
    return nullptr;
  }
  void add_to_index() {
    for (std::size_t i = positions_.size(); i < writes_.size(); ++i) {
      positions_.at(writes_[i].key) = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<KeyValue> writes_;
  KeyMap<std::uint32_t> positions_;  // in writes_; empty while these are few
};

}  // namespace isoscope::simulation
