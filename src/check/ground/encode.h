#pragma once
// The witness as variables: one for every pair that the order leaves open, one for every pair that
// vis leaves open. decode.h reads them back; no other file sees them.
//
//     over co        co contains so, wr and known version orders; T0 first
//     over vis, ar   ar likewise; vis contains so (where the reader's level uses session order)
//                    and wr, vis ⊆ ar
//     over co, snap  the statements that read are points of the order beside the transactions: a
//                    snapshot has the transactions that come before its point, so it is a
//                    beginning of co. T0, the point, the statement's own transaction: in this
//                    order. A plain read has its writer before its point.
//
// A level without so leaves session order out of co, one that is wr free leaves out wr.
//
// What facts decide is a constant. A variable is made when a formula first asks for its pair, so a
// level that speaks of few pairs costs few variables. Other pairs are free: any order
// that extends the decided ones will do, and nothing more is visible than must be. For the
// same reason transitivity may come late: decode() finds the cycles of a model, and each becomes a
// clause; over few transactions all triples are required at once.
//
// The first guess of the solver is a reference order, a topological order of the facts that
// follows the file, with as little visibility as possible.
#include <cstdint>
#include <utility>
#include <vector>

#include "check/ground/history_bounds.h"
#include "check/ground/universe.h"
#include "sat/circuit.h"
#include "spec/level.h"

namespace isoscope {

class Encoding {
 public:
  struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Signal signal;  // `from` comes before `to`, or is visible to it
  };

  // Requires: the levels are of the framework. Keeps references to universe and circuit.
  Encoding(const Universe& universe, Framework framework, const Assignment& levels,
           Circuit& circuit);

  // Do so, wr and version orders already have a cycle? Then nothing else may be asked.
  bool is_contradictory() const { return contradictory_; }
  // What is known before solving.
  const WitnessBounds& bounds() const { return bounds_; }
  Framework framework() const { return framework_; }

  // Of transactions, or of points.
  Signal before(std::size_t a, std::size_t b);
  Signal vis(std::size_t a, std::size_t b);
  // Is transaction a in the snapshot of the read b?
  Signal snap(std::size_t a, std::size_t read);
  // Makes all triples transitive at once. Without it, decode() finds the cycles that remain.
  void require_transitivity();

  // For decode().
  const Universe& universe() const { return universe_; }
  // The transactions, then over co, snap the statements that read.
  std::size_t num_points() const {
    return universe_.num_txns() +
           (framework_ == Framework::CoSnap ? universe_.num_statements() : 0);
  }
  std::size_t point_of(std::size_t read) const {
    return universe_.num_txns() + universe_.reads()[read].statement;
  }
  const std::vector<Pair>& order_pairs() const { return order_pairs_; }
  const std::vector<Pair>& vis_pairs() const { return vis_pairs_; }
  const std::vector<std::vector<std::uint32_t>>& fixed_successors() const { return fixed_; }
  std::uint32_t rank(std::size_t a) const { return rank_[a]; }  // in the reference order

 private:
  bool follows_session(const Assignment& levels, std::size_t a) const;
  void fix_edges(const Assignment& levels);
  void fix_snapshots();
  bool choose_reference();
  void close_bounds(const Assignment& levels);
  void bound_snapshots();
  std::size_t pair_index(std::size_t a, std::size_t b) const;

  const Universe& universe_;
  Framework framework_;
  Circuit& circuit_;
  bool contradictory_ = false;
  std::vector<std::vector<std::uint32_t>> fixed_;  // edges whose closure is the fixed order
  std::vector<std::uint32_t> reference_;
  std::vector<std::uint32_t> rank_;
  BitMatrix must_;  // of the points
  WitnessBounds bounds_;
  std::vector<Signal> order_;  // by pair of ranks; the constant true where none is made yet
  std::vector<Signal> vis_;    // by pair of transactions, likewise
  std::vector<Pair> order_pairs_;
  std::vector<Pair> vis_pairs_;
};

}  // namespace isoscope
