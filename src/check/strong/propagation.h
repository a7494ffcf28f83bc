#pragma once
// Saturation edge by edge: what follows when one more edge is assumed, and how to take it back.
//
// Keeps the clocks and the known version orders of a saturated graph up to date. An edge raises
// the clocks of points that did not know its source yet, a raised clock may force versions, and
// forced versions bring edges in turn; all that until nothing is new or a cycle closes. Most
// points know each other already, so an edge touches few of them, however large the history.
//
// Changes are logged, so that what was assumed can be taken back.
//
// For ua, paths only tell that nothing precedes itself; a pair of versions whose order becomes
// known is a single edge, with consequences of its own (direct.h).
//
// Cost  Points × chains × 4 bytes (psi: twice that); an edge O(points that it touches × chains).
#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "check/strong/clocks.h"
#include "check/strong/knowledge.h"
#include "check/strong/residue.h"
#include "support/budget.h"

namespace isoscope::strong {

class Propagation {
 public:
  // Do the clocks of all chains fit in memory at once?
  static bool fits(const KnownGraph& graph) { return chain_blocks(graph).size() <= 1; }

  // Requires: `known` is saturated, fits(known.graph).
  Propagation(const Knowledge& known, Budget& budget);

  // Assumes ww(first, second) and whatever follows. False if that closes a cycle; then it must be
  // taken back before anything else is assumed.
  bool assume_order(TxnId first, TxnId second);
  // Takes back what was assumed since the last keep().
  void take_back();
  // Keeps what was assumed so far for good.
  void keep() { trail_.clear(); }

  const VersionOrder& order() const { return order_; }

 private:
  using Rows = Clocks::Rows;
  // An edge to be added.
  struct Pending {
    PointId from;
    PointId to;
    bool is_rw = false;
  };
  // A point whose clock was raised, or (psi) its clock of paths with an rw edge. Those that come
  // early in the order of the known graph are dealt with first, when most that can raise them is
  // over.
  struct Raised {
    std::uint32_t place;
    PointId point;
    bool with_rw = false;
    friend bool operator<(const Raised& a, const Raised& b) { return a.place > b.place; }
  };
  enum class What : std::uint8_t { Clock, RwClock, Count, Successor, RwSuccessor };
  struct Change {
    What what;
    std::size_t slot = 0;   // of a clock; or the point of a successor; or the version
    std::uint32_t old = 0;  // number
    GroupId group = {};     // of a count
  };
  // Successors by point, newest first, so that the newest can be taken back.
  struct Successors {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    struct Item {
      PointId to;
      std::uint32_t next;
    };
    std::vector<std::uint32_t> head;
    std::vector<Item> items;

    void add(PointId from, PointId to);
    void remove_last(PointId from);
    template <class F>
    void for_each(PointId p, F&& f) const {
      for (std::uint32_t i = head[p.index]; i != kNone; i = items[i].next) f(items[i].to);
    }
  };

  bool settle();
  bool closes_cycle(const Pending& edge) const;
  bool is_implied(const Pending& edge) const;
  void add(const Pending& edge);
  void spread();
  // Raises the clock of `to` to that of `from`, and to `from` itself.
  void raise(PointId to, bool to_rw, PointId from, bool from_rw, bool with_self);
  void on_raised(PointId p, bool with_rw, ChainId c, std::uint32_t n);
  // The first `forced` transactions of chain c come before `a` if they write its key.
  void force(VersionId a, ChainId c, std::uint32_t forced);
  // b is known to come before a, and all that comes before b on its chain was known to.
  void on_ordered(VersionId b, VersionId a);
  // The same for ua, for each pair.
  void on_seen(VersionId b, VersionId a);

  std::uint32_t* row(bool rw, PointId p) {
    return (rw ? rw_rows_ : rows_).data() + static_cast<std::size_t>(p.index) * chains_;
  }
  const std::uint32_t* row(bool rw, PointId p) const {
    return (rw ? rw_rows_ : rows_).data() + static_cast<std::size_t>(p.index) * chains_;
  }
  bool reaches(bool rw, PointId from, PointId to) const {
    return row(rw, to)[facts_.chain(points_.txn(from)).index] > points_.position(facts_, from);
  }

  const KnownGraph& graph_;
  const Facts& facts_;
  const Points& points_;
  StrongLevel level_;
  bool is_psi_;
  bool is_broken_ = false;  // ua: what was assumed shows a write to a read of the initial value
  std::uint32_t chains_;
  Rows rows_;
  Rows rw_rows_;  // psi only
  VersionOrder order_;
  Steps known_;         // of the known graph, those that imply all others
  Successors assumed_;  // besides them
  Successors rw_;       // psi only: all rw edges

  std::deque<Pending> pending_;
  std::priority_queue<Raised> raised_;
  std::vector<std::uint32_t> place_;  // by point
  std::vector<char> is_raised_;       // by point: 1 and 2 for the two clocks
  std::vector<Change> trail_;
};

// Answers the open choices one by one, each time following what the answer implies.
//
// In the order of a guess, which runs through the history as time did, every choice that is still
// open gets the guessed answer, or the other if that closes a cycle. If both do, an answer before
// was wrong; then all are taken back and the choice that failed is made first. After some such
// restarts the search is left to others.
//
// On histories of correct stores one pass succeeds as a rule, however many choices are open: what
// an answer implies is all that is needed to answer the next.
//
// Cost  As propagation: a choice takes time according to the points that it touches.

enum class Speculated : std::uint8_t { Found, Refuted, GaveUp };

struct Speculation {
  Speculated result = Speculated::GaveUp;
  Answers answers;  // if found; else as far as the last pass went, completed by the guess
  std::uint32_t restarts = 0;
};

// Refuted if both answers to a choice close a cycle before any other choice is made.
// Requires: the knowledge is saturated, Propagation::fits.
Speculation speculate(const Residue& residue, const Guess& guess, Budget& budget);

}  // namespace isoscope::strong
