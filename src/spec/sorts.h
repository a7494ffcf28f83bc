#pragma once
// Which sorts a relation relates. Most relate transactions; po and same relate reads; wr leads from
// a transaction to a transaction or to a read, whichever its surroundings ask for; snap and waited
// lead to a read, of leads back to its transaction.
//
// A relation is first given the set of its possible sorts, from the leaves up; then, from the
// place where it is used, down, one of them. Where both would do, transactions win.
#include <cstdint>
#include <optional>
#include <string>

#include "spec/ast.h"
#include "support/result.h"

namespace isoscope {

struct SortPair {
  Sort from = Sort::Txn;
  Sort to = Sort::Txn;
  friend bool operator==(const SortPair&, const SortPair&) = default;
};

// A set of the four pairs over txn and read.
class SortPairs {
 public:
  constexpr SortPairs() = default;
  constexpr explicit SortPairs(SortPair pair) : bits_(bit(pair)) {}

  constexpr bool contains(SortPair pair) const {
    return pair.from != Sort::Key && pair.to != Sort::Key && (bits_ & bit(pair)) != 0;
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void insert(SortPair pair) { bits_ |= bit(pair); }
  friend constexpr SortPairs operator&(SortPairs a, SortPairs b) {
    a.bits_ &= b.bits_;
    return a;
  }
  // The preferred member: transactions before reads. Requires: not empty.
  SortPair first() const;
  // Those that relate a sort to itself.
  SortPairs homogeneous() const;

 private:
  static constexpr std::uint8_t bit(SortPair pair) {
    return static_cast<std::uint8_t>(
        1U << ((pair.from == Sort::Read ? 2U : 0U) + (pair.to == Sort::Read ? 1U : 0U)));
  }
  std::uint8_t bits_ = 0;
};

inline constexpr SortPair kAllSortPairs[] = {{Sort::Txn, Sort::Txn},
                                             {Sort::Txn, Sort::Read},
                                             {Sort::Read, Sort::Txn},
                                             {Sort::Read, Sort::Read}};

// The sorts that `relation` can have; never empty. The error names the first operator whose
// operands do not fit.
Result<SortPairs> possible_sorts(const RelationExpr& relation);

// A copy of `relation` in which every node has its sorts, and `r?` is the union with identity.
// Requires: `pair` is possible.
RelationPtr with_sorts(const RelationExpr& relation, SortPair pair);

// "txn to txn", or "txn to txn or read".
std::string describe(SortPairs pairs);

}  // namespace isoscope
