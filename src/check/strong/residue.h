#pragma once
// What saturation leaves open: a guess at all of it, and the choices one by one.
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/strong/knowledge.h"
#include "graph/digraph.h"
#include "support/budget.h"

namespace isoscope::strong {

// A first guess at what is open: run the transactions one after another.
//
// Takes the points in an order that the known graph allows, and avoids what makes cycles where it
// can: a commit waits while a version that it would overwrite has readers to come, and at si a
// start waits while a writer of a key that it will write is under way. When all of them wait, the
// first in line goes on nevertheless. Versions are then guessed to come in the order of commits.
//
// A store that was right made such an order once, and little is open after saturation, so that a
// guess leaves little or nothing for others to repair.
//
// Cost  Linear in the known arcs, plus the times that one waits, which are limited.

struct Guess {
  std::vector<std::uint32_t> committed;  // by transaction: when
};

// Requires: known.graph is sorted.
Guess make_guess(const Knowledge& known);
// The order of commits in a graph that was completed at some level.
Guess guess_of(const KnownGraph& completed);

// The known graph with the version orders of the guess, sorted; nothing if that is not what the
// level allows, or if it takes longer than the budget. Never anything for ua, where it takes all
// pairs of versions to tell.
std::optional<KnownGraph> complete_by(const Knowledge& known, const Guess& guess, Budget& budget);

// The choices that saturation leaves open, and the part of the graph where they matter.
//
// A choice is a pair of transactions that both write some key in an order not yet known. Each of
// its two answers (a ChoiceLit) brings edges: ww between the writers, and rw from the readers of
// the first to the second, on each key that they share.
//
//     a, b write x, r reads x from a:      "a before b"   ww(a, b)  rw(r, b)
//                                          "b before a"   ww(b, a)
//
// A cycle stays inside a strongly connected component of the known graph with both answers of all
// choices; points and edges outside are left out here. Components are independent of each other.
//
// Cost  Linear in the known edges, plus the open pairs times their readers.

struct Choice {
  TxnId a;  // the smaller id
  TxnId b;
  static Choice between(TxnId t, TxnId u) { return t < u ? Choice{t, u} : Choice{u, t}; }
  friend auto operator<=>(const Choice&, const Choice&) = default;
};

// An answer to a choice.
struct ChoiceLit {
  std::uint32_t code = 0;  // 2 × choice, plus 1 if b comes first
  static ChoiceLit of(std::uint32_t choice, bool a_first) {
    return {2 * choice + (a_first ? 0U : 1U)};
  }
  std::uint32_t choice() const { return code / 2; }
  bool is_a_first() const { return code % 2 == 0; }
  friend auto operator<=>(const ChoiceLit&, const ChoiceLit&) = default;
};

// By choice: does a come first?
using Answers = std::vector<bool>;

// More open pairs than this are not written down one by one: a gigabyte or so.
inline constexpr std::size_t kMaxOpenPairs = std::size_t{1} << 23U;
// Are there at most `limit` open pairs of versions?
bool has_few_open_pairs(const VersionOrder& order, std::size_t limit = kMaxOpenPairs);

// An edge that an answer brings.
struct ChoiceEdge {
  ChoiceLit lit;
  KnownEdge edge;  // its round says nothing
};

class Residue {
 public:
  // Requires: known.graph is sorted, has_few_open_pairs(known.order). Without `prune`, takes the
  // whole graph for one component.
  Residue(const Knowledge& known, bool prune);

  const Knowledge& known() const { return known_; }
  std::span<const Choice> choices() const { return choices_; }
  // "`first` before `second`", if that is an open choice.
  std::optional<ChoiceLit> find(TxnId first, TxnId second) const;
  // Edges that lie in a component; and those that lead from one to another, so
  // that they close no cycle whatever is chosen.
  std::span<const ChoiceEdge> edges() const { return edges_; }
  std::span<const ChoiceEdge> loose_edges() const { return loose_edges_; }
  static bool is_chosen(const Answers& answers, ChoiceLit lit) {
    return answers[lit.choice()] == lit.is_a_first();
  }

  // The points in components, numbered densely, and the known arcs between those of one component.
  using Node = Digraph::Node;
  std::size_t num_nodes() const { return points_.size(); }
  PointId point(Node n) const { return points_[n]; }
  Node node(PointId p) const { return node_[p.index]; }  // kNone outside
  const Digraph& known_arcs() const { return known_arcs_; }
  std::size_t num_components() const { return num_components_; }

 private:
  void collect_choices();
  void collect_edges();
  void cut_to_components(bool prune);

  const Knowledge& known_;
  std::vector<Choice> choices_;
  std::vector<ChoiceEdge> edges_;
  std::vector<ChoiceEdge> loose_edges_;
  std::vector<PointId> points_;
  std::vector<Node> node_;
  Digraph known_arcs_;
  std::size_t num_components_ = 0;
};

// The choices as a guess answers them.
Answers answers_of(const Residue& residue, const Guess& guess);

}  // namespace isoscope::strong
