#pragma once
// A binary relation over 0 … n-1 as a bit matrix: for a few thousand elements, not more.
//
// Rows are runs of 64-bit words, so union, composition and closure work on 64 pairs at a time.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/budget.h"

namespace isoscope {

class Relation {
 public:
  Relation() = default;
  explicit Relation(std::size_t n) : n_(n), words_((n + 63) / 64), bits_(n * words_) {}

  std::size_t size() const { return n_; }  // of the carrier, not the number of pairs
  bool contains(std::size_t a, std::size_t b) const {
    return (bits_[a * words_ + b / 64] >> (b % 64) & 1U) != 0;
  }
  void insert(std::size_t a, std::size_t b) {
    bits_[a * words_ + b / 64] |= std::uint64_t{1} << (b % 64);
  }
  void erase(std::size_t a, std::size_t b) {
    bits_[a * words_ + b / 64] &= ~(std::uint64_t{1} << (b % 64));
  }
  std::size_t count() const;  // the number of pairs
  bool empty() const;

  Relation& operator|=(const Relation& other);
  Relation& operator&=(const Relation& other);
  Relation& operator-=(const Relation& other);
  friend Relation operator|(Relation a, const Relation& b) { return a |= b; }
  friend Relation operator&(Relation a, const Relation& b) { return a &= b; }
  friend Relation operator-(Relation a, const Relation& b) { return a -= b; }
  friend bool operator==(const Relation&, const Relation&) = default;

  bool is_subset_of(const Relation& other) const;
  bool is_irreflexive() const;
  bool is_transitive() const;

  // Calls f(b) for every (a, b), ascending.
  template <class F>
  void for_each_successor(std::size_t a, F&& f) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t word = bits_[a * words_ + w]; word != 0; word &= word - 1)
        f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
  // Adds the successors of `from` to those of `to`.
  void add_successors(std::size_t to, std::size_t from) { add_row(to, *this, from); }
  // Adds what `other` relates `row` to, to the successors of `to`.
  void add_row(std::size_t to, const Relation& other, std::size_t row);

 private:
  std::size_t n_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

// With a budget, these two return a part of the result once it expires.
Relation compose(const Relation& a, const Relation& b, Budget* budget = nullptr);
Relation transitive_closure(Relation r, Budget* budget = nullptr);  // Warshall: O(n^3 / 64)
Relation inverse(const Relation& r);
Relation identity(std::size_t n);
bool is_acyclic(const Relation& r);

}  // namespace isoscope
