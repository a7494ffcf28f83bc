#pragma once
// Explores whole transactions, one after the other, whose reads are checked: for ser, si and pc
// where many schedules (schedules.h) have the same history, and the paper's baseline without
// reduction.
//
// A history grows by whole transactions of any session, reading from what is there. At these
// levels a history can always be continued (its next transaction comes last and reads the latest
// values), so hardly a branch is in vain, while a walk through cc visits up to 17 times as many
// histories and throws them away.
//
// Each history is visited once, by the first of its orders: the one that takes, at each step, the
// first call in oracle order whose session and writers are already there. A call that comes after
// a greater one must depend on that one or on something behind it:
//
//     … c'  b1 … bk  c        c < c'   only if c reads from, or follows in its session, one of
//                                      c', b1, …, bk
//
// What was passed over and can never read from what has come since is a dead end, which shows in
// the keys, or families of keys, that calls may read and write; those branches are cut at once.
//
// With `reduce` off every order of every history is visited: DFS(level) of the paper, section 7.3.
#include "explore/walk.h"

namespace isoscope::explore {

template <class Set>
class ByTxn final : public Walk<Set> {
 public:
  ByTxn(const Executable& program, Rules rules, bool reduce, EndStates<Set>& end_states,
        Control& control);

  void run(const Piece& piece) {
    this->begin_piece(piece);
    explore();
  }

 private:
  using Base = Walk<Set>;
  using Base::block_at;
  using Base::control_;
  using Base::history_size;
  using Base::present_;
  using Base::program_;
  using Base::trail_;

  bool is_wanted() const override { return !reduce_ || is_first_order(); }
  void on_block() override;
  void explore();
  bool is_first_order() const;
  bool is_dead_end() const;
  bool may_depend(CallId call, std::uint32_t position) const;

  bool reduce_;
  ById<CallId, Set> sources_;  // who may write something that the call may read
};

}  // namespace isoscope::explore
