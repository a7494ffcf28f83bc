#pragma once
// Walks over what is known: the path that is easiest to explain, and all edges one by one.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "check/strong/knowledge.h"

namespace isoscope::strong {

// Finds the path of known edges that is easiest to explain.
//
// Clocks tell that there is a path; which one is found only when it must be told. A path
// is cheap if it has few steps, few rw edges, and edges of early rounds, since an edge of round i
// needs a path of earlier rounds to explain it in turn. A run of session order is one step.
//
// Cost  Dijkstra: O(edges log points) a search, less with a limit on the cost.

struct Path {
  std::vector<KnownEdge> edges;  // so edges among them, each as long as can be
  std::uint32_t cost = 0;
};

class PathFinder {
 public:
  explicit PathFinder(const Knowledge& known);

  struct Query {
    PointId from;
    std::span<const PointId> goals;
    std::uint32_t before_round = std::numeric_limits<std::uint32_t>::max();
    bool one_rw = false;  // psi: may the path have an rw edge, once?
    std::uint32_t max_cost = std::numeric_limits<std::uint32_t>::max();
    // If set: stay among points with the same number as `from`.
    const std::vector<std::uint32_t>* component = nullptr;
  };
  // The cheapest path of at least one edge to one of the goals, or nothing.
  std::optional<Path> find(const Query& query);

  // Does a list say that b comes before a on x, one right after the other?
  bool is_listed_fact(TxnId b, TxnId a, KeyId x) const;

  std::uint64_t work() const { return work_; }  // states looked at so far
  static std::uint32_t cost(const KnownEdge& edge);

 private:
  // A point, whether an rw edge was taken (psi), and whether the last step was session order.
  using State = std::uint32_t;
  static State state(PointId p, bool rw, bool so) {
    return p.index * 4 + (rw ? 2U : 0U) + (so ? 1U : 0U);
  }
  struct Arrival {
    std::uint32_t search = 0;  // the last that came here
    std::uint32_t cost = 0;
    State from = 0;          // or kStart
    std::uint32_t edge = 0;  // index, kSo or kInside
  };
  static constexpr State kStart = 0xffffffffU;
  static constexpr std::uint32_t kSo = 0xffffffffU;
  static constexpr std::uint32_t kInside = 0xfffffffeU;  // from a start to its commit

  Path trace(State last) const;

  const KnownGraph& graph_;
  std::vector<std::uint32_t> begin_;  // edges by the point where they start
  std::vector<std::uint32_t> out_;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint32_t> goal_;  // by point: the last search for which it is a goal
  std::uint32_t searches_ = 0;
  std::uint64_t work_ = 0;
};

// All edges that are known, those included that the known graph leaves out: asked for one by one.
//
// A step leads from one place to another; a place is a transaction and how it is entered. Whatever
// can be left from a later place can be left from an earlier one, too:
//
//               earlier                       later
//     si, pc    at its start                  at its commit: no rw edge may follow
//     psi       without an rw edge so far     with one: no other may follow
//     ser, ua   (all are earlier)

enum class Entry : std::uint8_t { Earlier = 0, Later = 1 };

struct Spot {
  TxnId txn;
  Entry entry = Entry::Earlier;
};

class KnownSteps {
 public:
  explicit KnownSteps(const Knowledge& known);

  const Facts& facts() const { return facts_; }
  StrongLevel level() const { return level_; }

  // How an edge of this kind enters the next transaction when it leaves from `from`; nothing if it
  // may not.
  std::optional<Entry> step(EdgeKind kind, Entry from) const;
  // The first version of the group that is known to come after v, by rank; the size of the group
  // if there is none. The versions that follow it come after v, too. Of an initial value: 0.
  std::uint32_t first_after(VersionId v, GroupId g) const;
  // An edge from a place that enters `to` so that it can be left as from there; a fact if there is
  // one.
  std::optional<KnownEdge> find(Spot from, Spot to) const;

 private:
  bool may_enter(EdgeKind kind, Spot from, Spot to) const {
    const auto entry = step(kind, from.entry);
    return entry && (*entry <= to.entry || level_ == StrongLevel::Psi);
  }

  const Facts& facts_;
  StrongLevel level_;
  VersionOrder order_;  // what comes before a version comes before those that follow on its chain
};

}  // namespace isoscope::strong
