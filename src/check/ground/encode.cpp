#include "check/ground/encode.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "check/ground/reasons.h"
#include "support/assert.h"

namespace isoscope {

Encoding::Encoding(const Universe& universe, Framework framework, const Assignment& levels,
                   Circuit& circuit)
    : universe_(universe),
      framework_(framework),
      circuit_(circuit),
      bounds_{Bound(BitMatrix()), Bound(BitMatrix()), Bound(BitMatrix())} {
  fix_edges(levels);
  contradictory_ = !choose_reference();
  if (contradictory_) return;
  close_bounds(levels);
  const std::size_t points = num_points();
  const std::size_t n = universe.num_txns();
  order_.assign(points * (points - 1) / 2, kTrue);
  if (framework == Framework::VisAr) vis_.assign(n * n, kTrue);
}

// Must the session order that leads to this transaction be in the order (and in vis)?
bool Encoding::follows_session(const Assignment& levels, std::size_t a) const {
  return levels.of(universe_.txn(a)).uses_session_order;
}

void Encoding::fix_edges(const Assignment& levels) {
  const std::size_t n = universe_.num_txns();
  fixed_.assign(num_points(), {});
  for (std::uint32_t b = 1; b < n; ++b) fixed_[0].push_back(b);
  const BitMatrix earlier = universe_.so().transposed();
  for (std::uint32_t b = 1; b < n; ++b) {
    if (!follows_session(levels, b)) continue;
    // The nearest predecessor that follows its session in turn stands for those before it.
    std::vector<std::uint32_t> predecessors;
    for_each_bit(earlier.row(b), [&](std::size_t a) {
      if (a == 0) return;
      if (follows_session(levels, a)) predecessors.clear();
      predecessors.push_back(static_cast<std::uint32_t>(a));
    });
    for (const std::uint32_t a : predecessors) fixed_[a].push_back(b);
  }
  for (std::size_t a = 0; a < n && !levels.base->is_wr_free; ++a) {
    for_each_bit(universe_.wr().row(a),
                 [&](std::size_t b) { fixed_[a].push_back(static_cast<std::uint32_t>(b)); });
  }
  for (const auto& [before, after] : universe_.versions()) fixed_[before].push_back(after);
  if (framework_ == Framework::CoSnap) fix_snapshots();
  for (auto& successors : fixed_) {
    std::sort(successors.begin(), successors.end());
    successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
  }
}

void Encoding::fix_snapshots() {
  const std::size_t n = universe_.num_txns();
  for (const auto& [before, after] : universe_.known_order()) fixed_[before].push_back(after);
  for (std::uint32_t s = 0; s < universe_.num_statements(); ++s) {
    fixed_[0].push_back(static_cast<std::uint32_t>(n) + s);
    fixed_[n + s].push_back(universe_.statement_txn(s));
  }
  for (std::size_t r = 0; r < universe_.reads().size(); ++r) {
    const Universe::Read& read = universe_.reads()[r];
    if (read.is_own || universe_.current_reads().contains(r)) continue;
    const auto point = static_cast<std::uint32_t>(point_of(r));
    fixed_[read.writer].push_back(point);
    const auto shown = universe_.history().also_shown(read.event);
    for (std::size_t a = 0; a < n; ++a) {
      if (std::find(shown.begin(), shown.end(), universe_.txn(a)) != shown.end())
        fixed_[a].push_back(point);
    }
  }
}

// A topological order of the fixed edges, of all possible next transactions the first of the file.
bool Encoding::choose_reference() {
  const std::size_t n = num_points();
  std::vector<std::uint32_t> waiting(n);
  for (const auto& successors : fixed_) {
    for (const std::uint32_t b : successors) ++waiting[b];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t a = 0; a < n; ++a) {
    if (waiting[a] == 0) ready.push(a);
  }
  rank_.assign(n, 0);
  while (!ready.empty()) {
    const std::uint32_t a = ready.top();
    ready.pop();
    rank_[a] = static_cast<std::uint32_t>(reference_.size());
    reference_.push_back(a);
    for (const std::uint32_t b : fixed_[a]) {
      if (--waiting[b] == 0) ready.push(b);
    }
  }
  return reference_.size() == n;
}

void Encoding::close_bounds(const Assignment& levels) {
  const std::size_t n = universe_.num_txns();
  must_ = BitMatrix(num_points(), num_points());
  for (auto a = reference_.rbegin(); a != reference_.rend(); ++a) {
    for (const std::uint32_t b : fixed_[*a]) {
      must_.unite_row(*a, must_.row(b));
      must_.insert(*a, b);
    }
  }
  auto must = std::make_shared<BitMatrix>(n, n);
  for (std::size_t a = 0; a < n; ++a) {
    for_each_bit(must_.row(a), [&](std::size_t b) {
      if (b < n) must->insert(a, b);
    });
  }
  auto may = std::make_shared<BitMatrix>(n, n);
  const BitSet all = BitSet::full(n);
  const BitMatrix opposite = must->transposed();
  for (std::size_t a = 0; a < n; ++a) {
    may->unite_row(a, all.row());
    may->subtract_row(a, opposite.row(a));
    may->erase(a, a);
  }
  if (framework_ == Framework::VisAr) {
    auto seen = std::make_shared<BitMatrix>(universe_.wr());
    BitSet followers(n);
    for (std::size_t b = 1; b < n; ++b) {
      if (follows_session(levels, b)) followers.insert(b);
    }
    for (std::size_t a = 0; a < n; ++a) {
      BitSet later(n);
      later.unite(universe_.so().row(a));
      later.intersect(followers.row());
      seen->unite_row(a, later.row());
    }
    bounds_.vis = Bound(std::move(seen), may);
  }
  bounds_.order = Bound(std::move(must), std::move(may));
  if (framework_ == Framework::CoSnap) bound_snapshots();
}

void Encoding::bound_snapshots() {
  const std::size_t n = universe_.num_txns();
  const std::size_t reads = universe_.reads().size();
  auto must = std::make_shared<BitMatrix>(n, reads);
  auto may = std::make_shared<BitMatrix>(n, reads);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t r = 0; r < reads; ++r) {
      if (must_.contains(a, point_of(r))) must->insert(a, r);
      if (!must_.contains(point_of(r), a)) may->insert(a, r);
    }
  }
  bounds_.snap = Bound(std::move(must), std::move(may));
}

std::size_t Encoding::pair_index(std::size_t a, std::size_t b) const {
  const std::size_t low = rank_[a];
  const std::size_t high = rank_[b];
  ISO_DEBUG_ASSERT(low < high);
  return high * (high - 1) / 2 + low;
}

Signal Encoding::before(std::size_t a, std::size_t b) {
  if (a == b || must_.contains(b, a)) return kFalse;
  if (must_.contains(a, b)) return kTrue;
  if (rank_[a] > rank_[b]) return !before(b, a);
  Signal& known = order_[pair_index(a, b)];
  if (known.is_constant()) {
    known = circuit_.input(true);
    circuit_.name(known, [&] {
      return words_of_point(universe_, a) + " before " + words_of_point(universe_, b);
    });
    order_pairs_.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), known});
  }
  return known;
}

Signal Encoding::vis(std::size_t a, std::size_t b) {
  ISO_ASSERT(framework_ == Framework::VisAr);
  if (bounds_.vis.must().contains(a, b)) return kTrue;
  if (!bounds_.vis.may().contains(a, b)) return kFalse;
  Signal& known = vis_[a * universe_.num_txns() + b];
  if (known.is_constant()) {
    known = circuit_.input(false);
    circuit_.name(known, [&] {
      return words_of_txn(universe_, a) + " visible to " + words_of_txn(universe_, b);
    });
    vis_pairs_.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), known});
    const Signal ordered = before(a, b);
    circuit_.because([] { return std::string("vis: visible only if before"); });
    circuit_.require_any({!known, ordered});
  }
  return known;
}

Signal Encoding::snap(std::size_t a, std::size_t read) {
  ISO_ASSERT(framework_ == Framework::CoSnap);
  return before(a, point_of(read));
}

void Encoding::require_transitivity() {
  const std::size_t n = num_points();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      for (std::size_t k = j + 1; k < n; ++k) {
        const Signal ij = before(i, j);
        const Signal jk = before(j, k);
        const Signal ik = before(i, k);
        circuit_.because([] { return std::string(kOrderReason); });
        circuit_.require_any({!ij, !jk, ik});
        circuit_.require_any({ij, jk, !ik});
      }
    }
  }
}

}  // namespace isoscope
