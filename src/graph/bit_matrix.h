#pragma once
// Sets and rectangular relations as bits, for carriers of different sorts.
//
// The relations of the level language lead from transactions or reads to transactions or reads,
// and most of those that belong to a single key are almost empty. So a BitMatrix has its own
// number of rows and of columns, and stores a row only once something is in it.
//
// Cost  Set operations work on 64 elements at a time; an empty row costs four bytes.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/budget.h"

namespace isoscope {

using BitRow = std::span<const std::uint64_t>;

template <class F>
void for_each_bit(BitRow row, F&& f) {
  for (std::size_t w = 0; w < row.size(); ++w) {
    for (std::uint64_t word = row[w]; word != 0; word &= word - 1)
      f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
  }
}

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t n) : words_((n + 63) / 64) {}
  static BitSet full(std::size_t n);

  bool contains(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1U) != 0; }
  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void erase(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  void clear() { words_.assign(words_.size(), 0); }
  // Leaves i if it was there, and nothing else.
  void keep_only(std::size_t i);

  void unite(BitRow other);
  void intersect(BitRow other);
  void subtract(BitRow other);

  std::size_t count() const;
  bool empty() const;
  BitRow row() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t columns);
  static BitMatrix identity(std::size_t n);

  std::size_t rows() const { return row_slot_.size(); }
  std::size_t columns() const { return columns_; }
  bool contains(std::size_t a, std::size_t b) const {
    return (row(a)[b / 64] >> (b % 64) & 1U) != 0;
  }
  void insert(std::size_t a, std::size_t b) {
    stored_row(a)[b / 64] |= std::uint64_t{1} << (b % 64);
  }
  void erase(std::size_t a, std::size_t b);

  BitRow row(std::size_t a) const {
    const std::uint32_t slot = row_slot_[a];
    return slot == kEmpty ? BitRow(no_bits_) : BitRow(words_).subspan(slot * width_, width_);
  }
  void unite_row(std::size_t a, BitRow other);
  void intersect_row(std::size_t a, BitRow other);
  void subtract_row(std::size_t a, BitRow other);

  bool empty() const;
  BitMatrix transposed() const;
  BitSet nonempty_rows() const;

  friend bool operator==(const BitMatrix& a, const BitMatrix& b);

 private:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  std::span<std::uint64_t> stored_row(std::size_t a);

  std::size_t columns_ = 0;
  std::size_t width_ = 0;                // words a row
  std::vector<std::uint32_t> row_slot_;  // position among the stored rows, or kEmpty
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> no_bits_;  // what an empty row looks like
};

BitMatrix unite(BitMatrix a, const BitMatrix& b);
BitMatrix intersect(BitMatrix a, const BitMatrix& b);
BitMatrix subtract(BitMatrix a, const BitMatrix& b);
// O(n^3 / 64), the second by Warshall's algorithm. With a budget, they return a part of the result
// once it expires.
BitMatrix compose(const BitMatrix& a, const BitMatrix& b, Budget* budget = nullptr);
BitMatrix transitive_closure(BitMatrix r, Budget* budget = nullptr);
bool is_acyclic(const BitMatrix& r);
bool is_transitive(const BitMatrix& r);

}  // namespace isoscope
