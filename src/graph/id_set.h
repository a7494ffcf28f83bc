#pragma once
// A set of ids below a small bound, as a few machine words: for hot loops, which copy such sets
// and have thousands of them. Larger and rectangular relations are in bit_matrix.h.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "support/id.h"

namespace isoscope {

template <class IdType, unsigned kWords>
class IdSet {
 public:
  using Element = IdType;
  static constexpr std::uint32_t kCapacity = kWords * 64;
  // A set of the same size of other ids.
  template <class Other>
  using Of = IdSet<Other, kWords>;

  static IdSet of(IdType id) {
    IdSet set;
    set.insert(id);
    return set;
  }
  // Ids 0 … count-1.
  static IdSet first(std::uint32_t count) {
    IdSet set;
    for (unsigned i = 0; i < kWords; ++i) {
      if (count >= (i + 1) * 64) {
        set.words_[i] = ~std::uint64_t{0};
      } else if (count > i * 64) {
        set.words_[i] = (std::uint64_t{1} << (count - i * 64)) - 1;
      }
    }
    return set;
  }
  // From `first` up to, not including, `last`.
  static IdSet between(IdType first, IdType last) {
    return IdSet::first(last.index) - IdSet::first(first.index);
  }

  void insert(IdType id) { words_[id.index / 64] |= bit(id); }
  void erase(IdType id) { words_[id.index / 64] &= ~bit(id); }
  bool contains(IdType id) const { return (words_[id.index / 64] & bit(id)) != 0; }
  bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words_) any |= word;
    return any == 0;
  }
  std::uint32_t size() const {
    int count = 0;
    for (const std::uint64_t word : words_) count += std::popcount(word);
    return static_cast<std::uint32_t>(count);
  }
  // The smallest member. Requires: not empty.
  IdType front() const {
    unsigned i = 0;
    while (words_[i] == 0) ++i;
    return {i * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[i]))};
  }

  IdSet& operator|=(const IdSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  IdSet& operator&=(const IdSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  IdSet& operator-=(const IdSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend IdSet operator|(IdSet a, const IdSet& b) { return a |= b; }
  friend IdSet operator&(IdSet a, const IdSet& b) { return a &= b; }
  friend IdSet operator-(IdSet a, const IdSet& b) { return a -= b; }
  friend bool operator==(const IdSet&, const IdSet&) = default;

  bool is_subset_of(const IdSet& other) const { return (*this - other).empty(); }
  bool intersects(const IdSet& other) const { return !(*this & other).empty(); }

  std::size_t hash() const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : words_) mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
    return mixed ^ (mixed >> 32);
  }

  // Calls f(id) for every member, ascending.
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i < kWords; ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        f(IdType{i * 64 + static_cast<std::uint32_t>(std::countr_zero(rest))});
    }
  }

 private:
  static std::uint64_t bit(IdType id) { return std::uint64_t{1} << (id.index % 64); }

  std::array<std::uint64_t, kWords> words_ = {};
};

}  // namespace isoscope
