#include "graph/relation.h"

namespace isoscope {

std::size_t Relation::count() const {
  std::size_t pairs = 0;
  for (std::uint64_t word : bits_) pairs += static_cast<std::size_t>(std::popcount(word));
  return pairs;
}

bool Relation::empty() const {
  for (std::uint64_t word : bits_) {
    if (word != 0) return false;
  }
  return true;
}

Relation& Relation::operator|=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  return *this;
}

Relation& Relation::operator&=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= other.bits_[i];
  return *this;
}

Relation& Relation::operator-=(const Relation& other) {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= ~other.bits_[i];
  return *this;
}

bool Relation::is_subset_of(const Relation& other) const {
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    if ((bits_[i] & ~other.bits_[i]) != 0) return false;
  }
  return true;
}

bool Relation::is_irreflexive() const {
  for (std::size_t a = 0; a < n_; ++a) {
    if (contains(a, a)) return false;
  }
  return true;
}

bool Relation::is_transitive() const { return compose(*this, *this).is_subset_of(*this); }

void Relation::add_row(std::size_t to, const Relation& other, std::size_t row) {
  for (std::size_t w = 0; w < words_; ++w) bits_[to * words_ + w] |= other.bits_[row * words_ + w];
}

Relation compose(const Relation& a, const Relation& b, Budget* budget) {
  Relation result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (budget != nullptr && budget->expired_now()) break;
    a.for_each_successor(i, [&](std::size_t j) { result.add_row(i, b, j); });
  }
  return result;
}

Relation inverse(const Relation& r) {
  Relation result(r.size());
  for (std::size_t a = 0; a < r.size(); ++a)
    r.for_each_successor(a, [&](std::size_t b) { result.insert(b, a); });
  return result;
}

Relation identity(std::size_t n) {
  Relation result(n);
  for (std::size_t a = 0; a < n; ++a) result.insert(a, a);
  return result;
}

Relation transitive_closure(Relation r, Budget* budget) {
  for (std::size_t k = 0; k < r.size(); ++k) {
    if (budget != nullptr && budget->expired_now()) break;
    for (std::size_t a = 0; a < r.size(); ++a) {
      if (r.contains(a, k)) r.add_successors(a, k);
    }
  }
  return r;
}

bool is_acyclic(const Relation& r) { return transitive_closure(r).is_irreflexive(); }

}  // namespace isoscope
