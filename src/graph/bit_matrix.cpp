#include "graph/bit_matrix.h"

#include <algorithm>

namespace isoscope {

BitSet BitSet::full(std::size_t n) {
  BitSet set(n);
  for (std::size_t i = 0; i < n; ++i) set.insert(i);
  return set;
}

void BitSet::keep_only(std::size_t i) {
  const bool had = contains(i);
  clear();
  if (had) insert(i);
}

void BitSet::unite(BitRow other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other[w];
}

void BitSet::intersect(BitRow other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other[w];
}

void BitSet::subtract(BitRow other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other[w];
}

std::size_t BitSet::count() const {
  std::size_t sum = 0;
  for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
  return sum;
}

bool BitSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

BitMatrix::BitMatrix(std::size_t rows, std::size_t columns)
    : columns_(columns), width_((columns + 63) / 64), row_slot_(rows, kEmpty), no_bits_(width_) {}

BitMatrix BitMatrix::identity(std::size_t n) {
  BitMatrix r(n, n);
  for (std::size_t i = 0; i < n; ++i) r.insert(i, i);
  return r;
}

std::span<std::uint64_t> BitMatrix::stored_row(std::size_t a) {
  if (row_slot_[a] == kEmpty) {
    row_slot_[a] = width_ == 0 ? 0 : static_cast<std::uint32_t>(words_.size() / width_);
    words_.resize(words_.size() + width_);
  }
  return std::span(words_).subspan(row_slot_[a] * width_, width_);
}

void BitMatrix::erase(std::size_t a, std::size_t b) {
  if (row_slot_[a] != kEmpty) stored_row(a)[b / 64] &= ~(std::uint64_t{1} << (b % 64));
}

void BitMatrix::unite_row(std::size_t a, BitRow other) {
  if (std::all_of(other.begin(), other.end(), [](std::uint64_t word) { return word == 0; })) return;
  // Making room may move the words that `other` looks at, if it is a row of this matrix.
  const bool own = other.data() >= words_.data() && other.data() < words_.data() + words_.size();
  const std::size_t offset = own ? static_cast<std::size_t>(other.data() - words_.data()) : 0;
  const std::span<std::uint64_t> to = stored_row(a);
  if (own) other = BitRow(words_).subspan(offset, width_);
  for (std::size_t w = 0; w < width_; ++w) to[w] |= other[w];
}

void BitMatrix::intersect_row(std::size_t a, BitRow other) {
  if (row_slot_[a] == kEmpty) return;
  const std::span<std::uint64_t> to = stored_row(a);
  for (std::size_t w = 0; w < width_; ++w) to[w] &= other[w];
}

void BitMatrix::subtract_row(std::size_t a, BitRow other) {
  if (row_slot_[a] == kEmpty) return;
  const std::span<std::uint64_t> to = stored_row(a);
  for (std::size_t w = 0; w < width_; ++w) to[w] &= ~other[w];
}

bool BitMatrix::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

BitMatrix BitMatrix::transposed() const {
  BitMatrix t(columns_, rows());
  for (std::size_t a = 0; a < rows(); ++a) {
    for_each_bit(row(a), [&](std::size_t b) { t.insert(b, a); });
  }
  return t;
}

BitSet BitMatrix::nonempty_rows() const {
  BitSet set(rows());
  for (std::size_t a = 0; a < rows(); ++a) {
    const BitRow bits = row(a);
    if (std::any_of(bits.begin(), bits.end(), [](std::uint64_t word) { return word != 0; }))
      set.insert(a);
  }
  return set;
}

bool operator==(const BitMatrix& a, const BitMatrix& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    if (!std::ranges::equal(a.row(i), b.row(i))) return false;
  }
  return true;
}

BitMatrix unite(BitMatrix a, const BitMatrix& b) {
  for (std::size_t i = 0; i < a.rows(); ++i) a.unite_row(i, b.row(i));
  return a;
}

BitMatrix intersect(BitMatrix a, const BitMatrix& b) {
  for (std::size_t i = 0; i < a.rows(); ++i) a.intersect_row(i, b.row(i));
  return a;
}

BitMatrix subtract(BitMatrix a, const BitMatrix& b) {
  for (std::size_t i = 0; i < a.rows(); ++i) a.subtract_row(i, b.row(i));
  return a;
}

BitMatrix compose(const BitMatrix& a, const BitMatrix& b, Budget* budget) {
  BitMatrix c(a.rows(), b.columns());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    if (budget != nullptr && budget->expired_now()) break;
    for_each_bit(a.row(i), [&](std::size_t k) { c.unite_row(i, b.row(k)); });
  }
  return c;
}

BitMatrix transitive_closure(BitMatrix r, Budget* budget) {
  for (std::size_t k = 0; k < r.rows(); ++k) {
    if (budget != nullptr && budget->expired_now()) break;
    for (std::size_t i = 0; i < r.rows(); ++i) {
      if (i != k && r.contains(i, k)) r.unite_row(i, r.row(k));
    }
  }
  return r;
}

bool is_acyclic(const BitMatrix& r) {
  // Elements without a predecessor are taken away until none is left, or a cycle is.
  std::vector<std::size_t> predecessors(r.rows());
  for (std::size_t a = 0; a < r.rows(); ++a)
    for_each_bit(r.row(a), [&](std::size_t b) { ++predecessors[b]; });
  std::vector<std::size_t> ready;
  for (std::size_t a = 0; a < r.rows(); ++a) {
    if (predecessors[a] == 0) ready.push_back(a);
  }
  std::size_t taken = 0;
  while (!ready.empty()) {
    const std::size_t a = ready.back();
    ready.pop_back();
    ++taken;
    for_each_bit(r.row(a), [&](std::size_t b) {
      if (--predecessors[b] == 0) ready.push_back(b);
    });
  }
  return taken == r.rows();
}

bool is_transitive(const BitMatrix& r) {
  for (std::size_t a = 0; a < r.rows(); ++a) {
    BitSet beyond(r.columns());
    for_each_bit(r.row(a), [&](std::size_t b) { beyond.unite(r.row(b)); });
    beyond.subtract(r.row(a));
    if (!beyond.empty()) return false;
  }
  return true;
}

}  // namespace isoscope
