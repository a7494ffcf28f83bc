#pragma once
// Finds the write of a value to a key: the one hash table that building a history needs.
//
// Open addressing with linear probing, 16 bytes a slot, so that a look-up costs one cache miss;
// `prefetch` lets a caller who knows its next look-ups overlap those misses.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "history/ids.h"
#include "history/value.h"

namespace isoscope {

class VersionTable {
 public:
  // Makes room for this many writes, which is also the most that insert() may add.
  explicit VersionTable(std::size_t writes) {
    std::size_t slots = 16;
    while (slots < writes + writes / 2) slots *= 2;
    slots_.resize(slots);
  }

  static std::uint64_t hash(KeyId x, Value value) {
    std::uint64_t h =
        (static_cast<std::uint64_t>(x.index) << 2U | static_cast<unsigned>(value.kind)) *
        0x9e3779b97f4a7c15U;
    h ^= static_cast<std::uint64_t>(value.bits) * 0xd6e8feb86659fd93U;
    h ^= h >> 32U;
    h *= 0xd6e8feb86659fd93U;
    return h ^ (h >> 29U);
  }

  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }

  // The slot's event for (x, value): a fresh one holds none().
  // The reference stays valid: the table never grows.
  class Entry {
   public:
    EventId event() const { return is_fresh() ? EventId::none() : EventId{word_ >> 2U}; }
    bool is_fresh() const { return word_ == kFree; }

   private:
    friend class VersionTable;
    static constexpr std::uint32_t kFree = 0xffffffffU;
    std::int64_t bits_ = 0;
    std::uint32_t key_ = 0;
    std::uint32_t word_ = kFree;  // event << 2 | kind of value
  };

  Entry& find_slot(std::uint64_t hash, KeyId x, Value value) {
    std::size_t i = hash & (slots_.size() - 1);
    while (!slots_[i].is_fresh() && !holds(slots_[i], x, value)) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }
  void fill(Entry& slot, KeyId x, Value value, EventId event) {
    slot.bits_ = value.bits;
    slot.key_ = x.index;
    slot.word_ = event.index << 2U | static_cast<unsigned>(value.kind);
  }
  // The write of the value to x, or none().
  EventId find(std::uint64_t hash, KeyId x, Value value) {
    return find_slot(hash, x, value).event();
  }

 private:
  static bool holds(const Entry& slot, KeyId x, Value value) {
    return slot.bits_ == value.bits && slot.key_ == x.index &&
           (slot.word_ & 3U) == static_cast<unsigned>(value.kind);
  }

  std::vector<Entry> slots_;
};

}  // namespace isoscope
