#pragma once
// What an open transaction has written: the last value of each key, in order of first writing.
// Short transactions are searched one by one; only long ones pay for an index.
#include <cstdint>
#include <span>
#include <vector>

#include "generate/key_map.h"

namespace isoscope::simulation {

struct KeyValue {
  std::uint32_t key = 0;
  std::int64_t value = 0;
};

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
