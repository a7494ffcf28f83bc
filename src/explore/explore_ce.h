#pragma once
// explore-ce: every history of a program under a weak level, each exactly once, without a dead end.
//
// Histories grow by the accesses of one transaction at a time, in the oracle order (`Next`). A read
// branches over the writers that the level allows (`ValidWrites`, in walk.h). Writers that come
// later in the oracle order are caught up with when they commit: each earlier read that could have
// read from them is swapped behind them (`ComputeReorderings`, `Swap`), unless another branch does
// the same (`Optimality`: the reads that a swap deletes show their latest writers and are not
// `swapped` themselves).
//
// Paper    [BouajjaniEneaRoman-PLDI'23], sections 4 and 5; the procedures keep their names.
// Differs  Each transaction may have its own level of true, rc, ra, cc (docs/explore.md shows that
//          mixtures are prefix-closed and causally extensible). Nothing is executed twice: reads
//          keep the state of their transaction (the paper's `locals`). Swaps are looked for from
//          the end and stop at the first read that Optimality refuses, because every earlier swap
//          would delete that read too. `readLatest` looks at the forced order only where the shape
//          of the past leaves the answer open. `swapped` is a mark that Swap leaves: the printed
//          definition also takes a read for swapped that shows, by Next, a later call which came in
//          with an earlier swap of its transaction, and so loses histories (3 of the 747 of tpcc-2
//          at cc).
// Cost     O(n^2) words a step for n transactions; polynomial space.
#include "explore/walk.h"

namespace isoscope::explore {

template <class Set>
class ExploreCe final : public Walk<Set> {
 public:
  ExploreCe(const Executable& program, Rules rules, EndStates<Set>& end_states, Control& control)
      : Walk<Set>(program, std::move(rules), end_states, control) {
    this->wants_latest_ = true;
  }

  // Explores everything; returns when that is done, or when the control says stop.
  void run(const Piece& piece) {
    this->begin_piece(piece);
    explore();
  }

 private:
  using Base = Walk<Set>;
  using Base::add_edges;
  using Base::block_at;
  using Base::collect;
  using Base::control_;
  using Base::entry;
  using Base::history_begin_;
  using Base::history_size;
  using Base::past;
  using Base::pending_;
  using Base::rules_;
  using Base::session_past_;
  using Base::trail_;
  using Base::writers_;

  void on_block() override;

  void explore();
  std::optional<CallId> next() const;
  void explore_swaps();
  void swap(std::uint32_t position, std::uint32_t read, const Set& keep);
  bool reads_latest(std::uint32_t position, std::uint32_t read, const Set& keep);
  bool is_some_later_write_valid(std::uint32_t position, std::uint32_t read, std::uint32_t forced);
  bool is_valid(const Reader<Set>& reader, ProgramKey x, CallId w, std::uint32_t forced);
  Reader<Set> reader_before(const Block<Set>& block, std::uint32_t read) const;
  // The history without the block at `position` and what follows it outside `keep`: appends its
  // order to the trail and returns its forced order.
  std::uint32_t append_kept(std::uint32_t position, const Set& keep);
  bool is_strongly_possible();
  bool add_swapped(const Block<Set>& block, std::uint32_t read, CallId t,
                   typename Base::Pending& pending);

  std::vector<ForcedEdges<Set>> scratch_;
};

}  // namespace isoscope::explore
