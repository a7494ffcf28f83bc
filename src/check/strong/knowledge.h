#pragma once
// What is known: edges by the round that found them, the known part of the version orders, and
// both together (Knowledge).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/strong/facts.h"

namespace isoscope::strong {

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

// What is known about the order of the versions of each key.
//
// Versions of one chain are ordered, and what comes before a version on another chain is a prefix
// of that chain's versions (before the last of them, before all of them). So a number a version
// and group holds all that is known, and the open pairs of a version lie in one interval a group.
//
// Cost  Per key, versions × groups × 4 bytes.

class VersionOrder {
 public:
  // How many numbers it takes.
  static std::size_t size_for(const Facts& facts);
  // With `keep_rounds`, remembers when each pair became known, at some 50 bytes a change.
  VersionOrder(const Facts& facts, bool keep_rounds);

  const Facts& facts() const { return facts_; }

  // How many versions of the group are known to come before v; they are its first ones.
  std::uint32_t count_before(VersionId v, GroupId g) const { return counts_[slot(v, g)]; }
  // Makes known in a round that the first `count` versions of g come before v.
  void set_count_before(VersionId v, GroupId g, std::uint32_t count, std::uint32_t round);

  // Is `before` known to come before `after`? Requires: versions of one key.
  bool is_before(VersionId before, VersionId after) const {
    return facts_.rank(before) < count_before(after, facts_.group(before));
  }
  // The first round such that what was known before it says why `before` comes before `after`;
  // nothing if the order is open. 0 if a list says so. Requires: keep_rounds.
  std::optional<std::uint32_t> known_since(VersionId before, VersionId after) const;

 private:
  struct Change {
    std::uint32_t count;
    std::uint32_t round;
  };

  std::size_t slot(VersionId v, GroupId g) const { return begin_[v.index] + g.index; }

  const Facts& facts_;
  bool keep_rounds_;
  // Where the slots of a version would begin if its key had all groups from 0 up: those of a key
  // are numbered in a row, so that one addition finds the slot. May wrap around, and back.
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> counts_;
  std::unordered_map<std::size_t, std::vector<Change>> changes_;  // by slot, in order of time
};

// Calls f(x, a, b) once for every pair of versions of x whose order is open, as long as it answers
// true.
template <class F>
void for_each_open_pair(const VersionOrder& order, F&& f) {
  const Facts& facts = order.facts();
  for (const KeyId x : facts.history().keys()) {
    for (const VersionId a : facts.versions(x)) {
      for (const GroupId g : facts.groups(x)) {
        if (g <= facts.group(a)) continue;
        const IdRange<VersionId> others = facts.versions(g);
        // Those known to come before a are the first of the group, those after it the last.
        for (std::uint32_t i = order.count_before(a, g); i < others.size(); ++i) {
          const VersionId b{others.front().index + i};
          if (order.is_before(a, b)) break;
          if (!f(x, a, b)) return;
        }
      }
    }
  }
}

// All that saturation finds out: the known graph and the known part of the version orders.

struct Knowledge {
  KnownGraph graph;
  VersionOrder order;
  std::uint32_t rounds = 0;   // begun so far; at ua, each order that is forced counts as one
  bool is_saturated = false;  // does nothing more follow?
  // psi, ua: known rw edges that a known path (in ua, an edge) leads back over. Some of them, if
  // there are any.
  std::vector<KnownEdge> returned;

  Knowledge(const Facts& facts, StrongLevel level)
      : graph(facts, level), order(facts, level == StrongLevel::Ua) {}
};

}  // namespace isoscope::strong
