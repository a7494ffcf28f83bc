#pragma once
// The edges that every choice of version orders contains: facts, and what follows from them.
//
// Round 0 holds the facts: so, wr, what lists tell about version orders, and rw from readers of an
// initial value. An edge of round i > 0 is forced by the edges of rounds before i, so that its
// explanation can be found later, by a search that looks at those rounds only. Edges that others
// imply are left out.
//
// For psi, rw edges are in the list but not on paths: they take part in cycles only once
// (clocks.h).
//
// Cost  20 bytes an edge; sort() is linear.
#include <cstdint>
#include <span>
#include <vector>

#include "check/strong/facts.h"
#include "check/strong/points.h"

namespace isoscope::strong {

struct KnownEdge {
  TxnId from;
  TxnId to;
  KeyId key = KeyId::none();        // of wr, ww, rw
  TxnId overwritten = kInitialTxn;  // of rw: the writer that `from` reads and `to` overwrites
  EdgeKind kind = EdgeKind::So;
  std::uint32_t round = 0;
};

class KnownGraph {
 public:
  // With the facts but those about initial values and lists, which need no order of versions.
  KnownGraph(const Facts& facts, StrongLevel level);

  const Facts& facts() const { return facts_; }
  const Points& points() const { return points_; }
  std::uint32_t num_points() const { return points_.count(facts_.num_txns()); }
  StrongLevel level() const { return level_; }

  void add(const KnownEdge& edge) { edges_.push_back(edge); }
  std::span<const KnownEdge> edges() const { return edges_; }  // so is implied, not listed
  // Those that the last sort() found.
  std::span<const KnownEdge> sorted_edges() const { return {edges_.data(), num_sorted_}; }
  // Are paths made of edges of this kind, too?
  bool is_on_paths(EdgeKind kind) const {
    return kind != EdgeKind::Rw || (level_ != StrongLevel::Psi && level_ != StrongLevel::Ua);
  }

  // Orders the points so that every edge on paths leads forward; false if there is a cycle.
  bool sort();
  // Of the last sort(): the points of transactions in order, if it succeeded.
  std::span<const PointId> order() const { return order_; }
  // Of the last sort(): calls f(q) for every point q that an edge on paths reaches from p.
  template <class F>
  void for_each_successor(PointId p, F&& f) const {
    const TxnId t = points_.txn(p);
    if (!points_.is_commit(p)) f(points_.commit(t));
    if (points_.is_commit(p) && !facts_.next(t).is_none()) f(points_.start(facts_.next(t)));
    for (std::uint32_t i = begin_[p.index]; i < begin_[p.index + 1]; ++i) f(successors_[i]);
  }
  // Of the last sort(): calls f(p, q) for every such step.
  template <class F>
  void for_each_arc(F&& f) const {
    for (const TxnId t : facts_.txns()) {
      const PointId s = points_.start(t);
      const PointId c = points_.commit(t);
      for_each_successor(s, [&](PointId q) { f(s, q); });
      if (s != c) for_each_successor(c, [&](PointId q) { f(c, q); });
    }
  }

 private:
  void add_shown(TxnId reader);

  const Facts& facts_;
  StrongLevel level_;
  Points points_;
  std::vector<KnownEdge> edges_;
  std::size_t num_sorted_ = 0;
  // Successors by point, so edges and S -> C aside.
  std::vector<std::uint32_t> begin_;
  std::vector<PointId> successors_;
  std::vector<PointId> order_;
};

}  // namespace isoscope::strong
