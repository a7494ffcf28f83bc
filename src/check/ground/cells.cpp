#include "check/ground/cells.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/assert.h"

namespace isoscope {

Signal Cells::cell(RelationId id, std::size_t a, std::size_t b) {
  const Bound& bound = bounds_.of(id);
  if (!bound.may().contains(a, b)) return kFalse;
  if (bound.must().contains(a, b)) return kTrue;
  const GroundRelation r = table_[id];
  switch (r.op) {
    case RelationOp::Co:
    case RelationOp::Ww:
      return encoding_.before(a, b);
    case RelationOp::Vis:
      return encoding_.vis(a, b);
    case RelationOp::Snap:
      return encoding_.snap(a, b);
    case RelationOp::Inverse:
      return cell(r.left, b, a);
    case RelationOp::Star:
      return cell(r.left, a, b);  // a pair of equals is certain
    case RelationOp::Plus:
      return closure(id)[a * bound.may().columns() + b];
    default:
      break;
  }
  const std::uint64_t pair = static_cast<std::uint64_t>(a) << 32U | b;
  auto& made = made_[id];
  if (const auto known = made.find(pair); known != made.end()) return known->second;
  const Signal signal = make(r, a, b);
  made_[id].emplace(pair, signal);
  return signal;
}

Signal Cells::make(const GroundRelation& r, std::size_t a, std::size_t b) {
  switch (r.op) {
    case RelationOp::Union:
      return circuit_.disj({cell(r.left, a, b), cell(r.right, a, b)});
    case RelationOp::Intersection:
      return circuit_.conj({cell(r.left, a, b), cell(r.right, a, b)});
    case RelationOp::Difference:
      return circuit_.conj({cell(r.left, a, b), !cell(r.right, a, b)});
    case RelationOp::Compose:
      return compose(r, a, b);
    case RelationOp::Rw:
      return rw(r, a, b);
    default:
      break;  // facts have no open pairs, the others are made in cell()
  }
  ISO_ASSERT(false);
}

Signal Cells::rw(const GroundRelation& r, std::size_t a, std::size_t b) {
  const Universe& universe = encoding_.universe();
  std::vector<Signal> some;
  const auto add_key = [&](std::size_t x) {
    if (!universe.writes(b, x)) return;
    for (const std::uint32_t i : universe.reads_of(x)) {
      const Universe::Read& read = universe.reads()[i];
      if (read.reader == a) some.push_back(encoding_.before(read.writer, b));
    }
  };
  if (r.key != GroundRelation::kNone) {
    add_key(r.key);
  } else {
    for_each_bit(universe.keys_read(a), add_key);
  }
  return circuit_.disj(some);
}

Signal Cells::compose(const GroundRelation& r, std::size_t a, std::size_t b) {
  const Bound& left = bounds_.of(r.left);
  const Bound& right = bounds_.of(r.right);
  BitSet middle(left.may().columns());
  middle.unite(left.may().row(a));
  middle.intersect(right.may_inverse().row(b));
  const bool order_first = table_.is_order(r.left);
  if (order_first || table_.is_order(r.right)) {
    BitSet certain = middle;
    certain.intersect(order_first ? right.must_inverse().row(b) : left.must().row(a));
    const Bound& order = encoding_.bounds().order;
    BitSet needless(left.may().columns());
    for_each_bit(certain.row(), [&](std::size_t m) {
      needless.unite(order_first ? order.must_inverse().row(m) : order.must().row(m));
    });
    middle.subtract(needless.row());
  }
  std::vector<Signal> some;
  for_each_bit(middle.row(), [&](std::size_t m) {
    const Signal first = cell(r.left, a, m);
    if (!first.is_false()) some.push_back(circuit_.conj({first, cell(r.right, m, b)}));
  });
  return circuit_.disj(some);
}

const Cells::Matrix& Cells::closure(RelationId plus) {
  const auto known = closures_.find(plus);
  if (known != closures_.end()) return known->second;
  const RelationId r = table_[plus].left;
  const Bound& closed = bounds_.of(plus);
  const Bound& base = bounds_.of(r);
  const std::size_t n = closed.may().rows();
  Matrix m(n * n, kFalse);
  for (std::size_t a = 0; a < n && !meter_.stopped(); ++a) {
    for_each_bit(closed.must().row(a), [&](std::size_t b) { m[a * n + b] = kTrue; });
    for_each_bit(base.may().row(a), [&](std::size_t b) {
      if (!m[a * n + b].is_true()) m[a * n + b] = cell(r, a, b);
    });
  }
  if (is_the_order(r, base, m)) return closures_.emplace(plus, std::move(m)).first->second;
  // Elements with few neighbours first: they connect few others.
  std::vector<std::size_t> pivots(n);
  std::iota(pivots.begin(), pivots.end(), 0);
  std::vector<std::size_t> links(n);
  for (std::size_t a = 0; a < n; ++a) {
    for_each_bit(base.may().row(a), [&](std::size_t b) {
      ++links[a];
      ++links[b];
    });
  }
  std::stable_sort(pivots.begin(), pivots.end(),
                   [&](std::size_t a, std::size_t b) { return links[a] < links[b]; });
  for (const std::size_t pivot : pivots) eliminate(m, closed.may(), pivot);
  return closures_.emplace(plus, std::move(m)).first->second;
}

// Is r, in other words, the order, as in (so | wr | co)+? Then it is closed as it stands.
bool Cells::is_the_order(RelationId r, const Bound& base, const Matrix& m) {
  const Bound& order = encoding_.bounds().order;
  if (table_[r].from != Sort::Txn || !(base.may() == order.may()) || !(base.must() == order.must()))
    return false;
  const std::size_t n = base.may().rows();
  bool same = true;
  for (std::size_t a = 0; a < n; ++a) {
    for_each_bit(base.may().row(a),
                 [&](std::size_t b) { same = same && m[a * n + b] == encoding_.before(a, b); });
  }
  return same;
}

void Cells::eliminate(Matrix& m, const BitMatrix& may, std::size_t pivot) {
  const std::size_t n = may.rows();
  std::vector<std::size_t> successors;
  for (std::size_t b = 0; b < n; ++b) {
    if (b != pivot && !m[pivot * n + b].is_false()) successors.push_back(b);
  }
  for (std::size_t a = 0; a < n; ++a) {
    const Signal to_pivot = m[a * n + pivot];
    if (a == pivot || to_pivot.is_false() || meter_.stopped()) continue;
    for (const std::size_t b : successors) {
      Signal& there = m[a * n + b];
      if (!there.is_true() && may.contains(a, b))
        there = circuit_.disj({there, circuit_.conj({to_pivot, m[pivot * n + b]})});
    }
  }
}

}  // namespace isoscope
