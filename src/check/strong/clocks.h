#pragma once
// Who reaches whom, by chains: for each point and chain, how many points of the chain reach it.
//
// The points of a chain that reach p are a prefix of the chain, so one number says it all:
//
//     clock(p)[c] = n     the first n points of chain c, and no others, lie before p
//
// That takes points × chains numbers instead of points × points bits. When even that is too much
// (very many short sessions), the chains are taken in blocks, one after the other; what the
// checker asks about a pair of transactions needs only the chain of the first.
//
// A point takes over the clocks of its predecessors, the latest first. What it knows by then to lie
// before it, an earlier predecessor tells in vain: of the many edges between writers and readers of
// a key only those count that no others imply, however many chains there are.
//
// psi asks for two kinds of paths: with no rw edge, and with at most one.
//
// Cost  O(edges + edges that others do not imply × chains) time, in runs of adjacent numbers;
//       points × block size × 4 bytes, and 4 bytes an edge.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "check/strong/knowledge.h"
#include "support/budget.h"

namespace isoscope::strong {

// A run of chains that fits in memory.
struct ChainBlock {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  bool contains(ChainId c) const { return c.index - first < size; }
};
// Numbers in the clocks of one block: 128 MB.
inline constexpr std::size_t kMaxClockNumbers = std::size_t{1} << 25U;
// All chains of the graph, in as few blocks as that allows; a block has one chain at least.
std::vector<ChainBlock> chain_blocks(const KnownGraph& graph,
                                     std::size_t max_numbers = kMaxClockNumbers);

// psi: are paths with one rw edge asked for, or only those without?
enum class RwPaths : std::uint8_t { One, None };

// The steps of a graph that imply all others: by point, where they lead.
struct Steps {
  std::vector<std::uint32_t> begin;
  std::vector<PointId> targets;

  template <class F>
  void for_each(PointId p, F&& f) const {
    for (std::uint32_t i = begin[p.index]; i < begin[p.index + 1]; ++i) f(targets[i]);
  }
};

// By point the sources of the edges that lead to it, the latest in the sorted order first.
class Predecessors {
 public:
  explicit Predecessors(const KnownGraph& graph);

  // Keeps of q's list what `is_needed` says, asked one after the other.
  template <class IsNeeded>
  void keep_if(PointId q, IsNeeded&& is_needed) {
    std::uint32_t kept = begin_[q.index];
    for (std::uint32_t i = kept; i < end_[q.index]; ++i) {
      if (is_needed(sources_[i])) sources_[kept++] = sources_[i];
    }
    end_[q.index] = kept;
  }
  template <class F>
  void for_each(PointId q, F&& f) const {
    for (std::uint32_t i = begin_[q.index]; i < end_[q.index]; ++i) f(sources_[i]);
  }
  Steps by_source() const;

 private:
  std::vector<std::uint32_t> begin_;  // one more than there are points
  std::vector<std::uint32_t> end_;
  std::vector<PointId> sources_;
};

class Clocks {
 public:
  using Rows = std::vector<std::uint32_t>;  // points × chains of the block

  // Requires: graph.sort() succeeded, and no edge was added since.
  // The rows are incomplete if the budget expires meanwhile.
  Clocks(const KnownGraph& graph, ChainBlock block, Budget& budget, RwPaths rw = RwPaths::One);

  const ChainBlock& block() const { return block_; }
  // How many points of chain c reach p. Requires: block().contains(c).
  std::uint32_t before(PointId p, ChainId c) const { return row(rows_, p)[c.index - block_.first]; }
  // The same by paths with at most one rw edge; the same number unless the level is psi and such
  // paths were asked for.
  std::uint32_t before_with_rw(PointId p, ChainId c) const {
    return row(rw_rows_.empty() ? rows_ : rw_rows_, p)[c.index - block_.first];
  }
  // Is there a path of one edge or more? Requires: block().contains(chain of from).
  bool reaches(PointId from, PointId to) const {
    return before(to, chain(from)) > points_.position(facts_, from);
  }
  bool reaches_with_rw(PointId from, PointId to) const {
    return before_with_rw(to, chain(from)) > points_.position(facts_, from);
  }

  // The steps that the clocks were made of: with all chains in the block, those that imply all.
  Steps steps() const { return before_.by_source(); }
  // The numbers themselves, and (psi) those of paths with at most one rw edge.
  std::pair<Rows, Rows> take_rows() && { return {std::move(rows_), std::move(rw_rows_)}; }

 private:
  ChainId chain(PointId p) const { return facts_.chain(points_.txn(p)); }
  const std::uint32_t* row(const Rows& rows, PointId p) const {
    return rows.data() + static_cast<std::size_t>(p.index) * block_.size;
  }
  std::uint32_t* row(Rows& rows, PointId p) {
    return rows.data() + static_cast<std::size_t>(p.index) * block_.size;
  }
  // `to` comes after everything in `from_row`, and after `from` itself.
  void advance(std::uint32_t* to, const std::uint32_t* from_row, PointId from) const;

  const Facts& facts_;
  const Points& points_;
  ChainBlock block_;
  Rows rows_;
  Rows rw_rows_;  // psi only
  Predecessors before_;
};

// Fewer chains for the same transactions: a greedy cover of the known graph by paths.
//
// Clocks cost a number per point and chain, and sessions are chains only because they are known
// before anything else is. What saturation forces orders most transactions of most sessions, so
// that a few long chains hold them: whoever follows the last of a chain continues it.
//
//     sessions  s1: T1   s2: T2   s3: T3   s4: T4        chains  T1 -> T3 -> T4
//     known     T1 -> T3, T2 -> T4, T3 -> T4                     T2
//
// Cost  O(edges).

// Chains of all transactions on chains, each of which is known to reach the next, from commit to
// start where a transaction has both. Requires: graph.sort() succeeded, and no edge was added.
std::vector<std::vector<TxnId>> cover_by_chains(const KnownGraph& graph);

}  // namespace isoscope::strong
