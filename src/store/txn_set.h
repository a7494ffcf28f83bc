#pragma once
// A set of transactions of a bounded program, as a few machine words.
//
// T0 is in no set: it comes before everything, and whoever cares asks for it by name.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace isoscope {

template <unsigned kWords>
class TxnSet {
 public:
  static constexpr std::uint32_t kCapacity = kWords * 64;

  static TxnSet of(std::uint32_t t) {
    TxnSet set;
    set.insert(t);
    return set;
  }
  // 0 … count-1.
  static TxnSet first(std::uint32_t count) {
    TxnSet set;
    for (unsigned i = 0; i < kWords; ++i) {
      if (count >= (i + 1) * 64) {
        set.words_[i] = ~std::uint64_t{0};
      } else if (count > i * 64) {
        set.words_[i] = (std::uint64_t{1} << (count - i * 64)) - 1;
      }
    }
    return set;
  }

  void insert(std::uint32_t t) { words_[t / 64] |= std::uint64_t{1} << (t % 64); }
  void erase(std::uint32_t t) { words_[t / 64] &= ~(std::uint64_t{1} << (t % 64)); }
  bool contains(std::uint32_t t) const { return ((words_[t / 64] >> (t % 64)) & 1U) != 0; }
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
  std::uint32_t front() const {
    unsigned i = 0;
    while (words_[i] == 0) ++i;
    return i * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[i]));
  }

  TxnSet& operator|=(const TxnSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  TxnSet& operator&=(const TxnSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  TxnSet& operator-=(const TxnSet& other) {
    for (unsigned i = 0; i < kWords; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend TxnSet operator|(TxnSet a, const TxnSet& b) { return a |= b; }
  friend TxnSet operator&(TxnSet a, const TxnSet& b) { return a &= b; }
  friend TxnSet operator-(TxnSet a, const TxnSet& b) { return a -= b; }
  friend bool operator==(const TxnSet&, const TxnSet&) = default;

  bool is_subset_of(const TxnSet& other) const { return (*this - other).empty(); }
  bool intersects(const TxnSet& other) const { return !(*this & other).empty(); }

  std::size_t hash() const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : words_) mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
    return mixed ^ (mixed >> 32);
  }

  // Calls f(t) for every member, ascending.
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i < kWords; ++i) {
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        f(i * 64 + static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }

 private:
  std::array<std::uint64_t, kWords> words_ = {};
};

}  // namespace isoscope
