#include "spec/sorts.h"

#include <fmt/format.h>

#include "spec/print.h"
#include "spec/words.h"
#include "support/assert.h"

namespace isoscope {

namespace {

SortPairs swapped(SortPairs pairs) {
  SortPairs result;
  for (SortPair pair : kAllSortPairs) {
    if (pairs.contains(pair)) result.insert({pair.to, pair.from});
  }
  return result;
}

SortPairs composed(SortPairs left, SortPairs right) {
  SortPairs result;
  for (SortPair a : kAllSortPairs) {
    for (SortPair b : kAllSortPairs) {
      if (left.contains(a) && right.contains(b) && a.to == b.from) result.insert({a.from, b.to});
    }
  }
  return result;
}

SortPairs sorts_of_leaf(RelationOp op) {
  SortPairs pairs({Sort::Txn, Sort::Txn});
  if (op == RelationOp::Po || op == RelationOp::Same) pairs = SortPairs({Sort::Read, Sort::Read});
  if (op == RelationOp::Of) pairs = SortPairs({Sort::Read, Sort::Txn});
  if (op == RelationOp::Snap || op == RelationOp::Waited)
    pairs = SortPairs({Sort::Txn, Sort::Read});
  if (op == RelationOp::Wr) pairs.insert({Sort::Txn, Sort::Read});
  return pairs;
}

// The identity on all transactions or reads, in words that every reader of the tree knows: the
// closure of nothing.
RelationPtr identity(Sort sort, Place place) {
  const auto shared = [](RelationExpr r) {
    return std::make_shared<const RelationExpr>(std::move(r));
  };
  RelationExpr leaf;
  leaf.op = sort == Sort::Txn ? RelationOp::So : RelationOp::Po;
  leaf.from = leaf.to = sort;
  leaf.place = place;
  RelationExpr nothing = leaf;
  nothing.op = RelationOp::Difference;
  nothing.left = nothing.right = shared(leaf);
  RelationExpr star = leaf;
  star.op = RelationOp::Star;
  star.left = shared(std::move(nothing));
  return shared(std::move(star));
}

Error misfit(const RelationExpr& r, SortPairs left, SortPairs right) {
  return Error{
      .where = r.place,
      .what = fmt::format("the sides of '{}' do not fit: '{}' relates {}, '{}' relates {}",
                          text_of(kRelationSigns, r.op), print(*r.left), describe(left),
                          print(*r.right), describe(right)),
      .hint =
          "po relates reads, as does same, wr leads to transactions or reads, snap and waited to "
          "reads, of from a read to its transaction; all others relate transactions"};
}

}  // namespace

SortPair SortPairs::first() const {
  for (SortPair pair : kAllSortPairs) {
    if (contains(pair)) return pair;
  }
  ISO_ASSERT(false);
}

SortPairs SortPairs::homogeneous() const {
  SortPairs both({Sort::Txn, Sort::Txn});
  both.insert({Sort::Read, Sort::Read});
  return *this & both;
}

std::string describe(SortPairs pairs) {
  std::string out;
  for (SortPair pair : kAllSortPairs) {
    if (!pairs.contains(pair)) continue;
    out +=
        fmt::format("{}{} to {}", out.empty() ? "" : " or ", name_of(pair.from), name_of(pair.to));
  }
  return out;
}

Result<SortPairs> possible_sorts(const RelationExpr& r) {
  if (r.left == nullptr) return sorts_of_leaf(r.op);
  auto left = possible_sorts(*r.left);
  if (!left) return left;
  if (r.right == nullptr) {
    if (r.op == RelationOp::Inverse) return swapped(*left);
    const SortPairs closed = left->homogeneous();
    if (closed.empty())
      return Error{.where = r.place,
                   .what = fmt::format("'{}' relates {}, so it has no closure", print(*r.left),
                                       describe(*left)),
                   .hint = "a closure needs the same sort on both sides"};
    return closed;
  }
  auto right = possible_sorts(*r.right);
  if (!right) return right;
  const SortPairs both = r.op == RelationOp::Compose ? composed(*left, *right) : *left & *right;
  if (both.empty()) return misfit(r, *left, *right);
  return both;
}

RelationPtr with_sorts(const RelationExpr& r, SortPair pair) {
  RelationExpr sorted = r;
  sorted.from = pair.from;
  sorted.to = pair.to;
  if (r.op == RelationOp::Maybe) {
    sorted.op = RelationOp::Union;
    sorted.left = with_sorts(*r.left, pair);
    sorted.right = identity(pair.from, r.place);
  } else if (r.left != nullptr && r.right == nullptr) {
    const bool inverse = r.op == RelationOp::Inverse;
    sorted.left = with_sorts(*r.left, inverse ? SortPair{pair.to, pair.from} : pair);
  } else if (r.op == RelationOp::Compose) {
    const SortPairs left = *possible_sorts(*r.left);
    const SortPairs right = *possible_sorts(*r.right);
    const bool through_txn =
        left.contains({pair.from, Sort::Txn}) && right.contains({Sort::Txn, pair.to});
    const Sort middle = through_txn ? Sort::Txn : Sort::Read;
    sorted.left = with_sorts(*r.left, {pair.from, middle});
    sorted.right = with_sorts(*r.right, {middle, pair.to});
  } else if (r.left != nullptr) {
    sorted.left = with_sorts(*r.left, pair);
    sorted.right = with_sorts(*r.right, pair);
  }
  return std::make_shared<const RelationExpr>(std::move(sorted));
}

}  // namespace isoscope
