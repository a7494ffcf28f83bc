#pragma once
// Explores pc, si and ser by executing whole transactions on the latest state
// (schedule_state.h): every class of schedules that differ only in the order of independent steps,
// once.
//
// Two steps are dependent if swapping them changes what one of them does or
// the state after both: one installs a key that the other reads or writes, or at si both begin and
// write a common key. The search is race-driven: at a node one session goes on; another is tried
// there only when a step further down turns out to be in a race with the step that was taken, so
// transactions on different rows are not permuted. Sessions whose step was tried before sleep until
// a dependent step wakes them.
//
// Paper    [AbdullaAronisJonssonSagonas-POPL'14], Algorithm 1 (Source-DPOR), where a process is a
//          session and an event is a step.
// Differs  A step has many accesses, which depend on what it reads. Where a step reads from the one
//          that it is in a race with, it may do something else without that one: then all sessions
//          are added that may come before it. docs/explore.md shows that no class is lost. A step
//          that cannot begin at si is tried nevertheless, because of its races, and then left.
//          Races add to a node in rounds: what is added while the children of a round are explored
//          comes in the next one, chosen independently of what the others add. So the tree does not
//          depend on which child is faster, and children of a round can be explored elsewhere; the
//          next round is joined (pool.h) from what all of them have added.
// Twice?   A class determines the order of the versions of each key, a history does not always:
//          where a transaction overwrites what it has not read, several classes have the same
//          history. It counts in the one whose version orders the linearizer finds first.
//          A transaction is not run again below a node that has run it, as long as no call installs
//          what it reads.
// Cost     Polynomial space. O(depth) set operations a step for its races.
#include <memory>
#include <vector>

#include "explore/schedule_piece.h"
#include "explore/schedule_state.h"

namespace isoscope::explore {

template <class Set>
class Schedules final : public ScheduleState<Set> {
 public:
  Schedules(const Executable& program, StrongRule rule, EndStates<Set>& end_states,
            Control& control);

  static Piece root() { return {.words = pack_frames({})}; }
  void run(const Piece& piece);

 private:
  using Base = ScheduleState<Set>;
  using Base::are_dependent;
  using Base::budget_;
  using Base::control_;
  using Base::has_next;
  using Base::keys_;
  using Base::next_step;
  using Base::num_left;
  using Base::path_;
  using Base::sessions_;
  using Base::steps_;
  using Base::trail_;

  using Sessions = typename Set::template Of<LiveSession>;

  // Where the search stands after some steps.
  struct Node {
    Sessions asleep;
    std::vector<Step> sleeping;
    Sessions open;   // that have a step
    Sessions known;  // that were tried, or are in this round
    std::vector<Step> tried;
    std::vector<Step> looked_at;  // run, and not tried
    Sessions added;               // by races, for the next round
    std::size_t current = 0;      // of tried: the child that is explored
    std::size_t limit = 0;        // those from here on are another worker's
    JoinId join = 0;              // if the round was split
  };

  void explore();
  void explore_rounds(Node& node, std::size_t first);
  Node& new_node();
  std::optional<Step> step_of(LiveSession session);
  bool try_session(Node& node, LiveSession session);
  bool try_first_round(Node& node);
  bool try_next_round(Node& node);
  void explore_round(Node& node, std::size_t first);
  void explore_child(Node& node, std::size_t number);
  void enter_child(const Node& node, const Step& step);

  void replay(const Frames& frames, std::size_t depth);
  Piece rest(std::size_t num_frames, bool is_round_over) const;
  void split();
  void finish();

  void find_races(Step& step);
  void add_race(std::uint32_t position, const Step& step);
  std::optional<Sessions> first_of_independent(std::uint32_t position, const Step& step) const;
  Sessions sessions_before(std::uint32_t position, const Step& step);
  // In happens-before.
  bool is_before(const Step& a, const Step& b) const {
    return clocks_[b.clock + a.session.index] > a.index;
  }

  std::vector<std::unique_ptr<Node>> nodes_;  // by depth; those behind the path can be used again
  std::vector<std::uint32_t> clocks_;         // of steps
  ById<CallId, Set> may_conflict_;            // calls that may access a common key, one writing
  ById<LiveSession, Set> left_;               // in sessions_before()
  Piece piece_;                               // that is worked on
  std::uint32_t base_ = 0;                    // nodes above this depth belong to another
  bool is_replaying_ = false;
  bool is_put_back_ = false;  // what is left to do is no longer ours
};

}  // namespace isoscope::explore
