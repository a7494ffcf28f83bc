#pragma once
// The orders in which the turns of calls can come, those with the fewest switches first.
//
// How many turns a call has, and when it waits, depends on what others did before; only a run
// tells. So the orders are a tree that grows with the runs. A node is a beginning: the calls that
// had the turns so far. Whoever could have had the next one instead leads to a node that is still
// to be played:
//
//     played   a b b a              also ready when b had its first turn: a
//     to play  a a …                from there on the call of the last turn goes on while it can
//
// Every order is played once, and when nothing is left all were, if the same beginning always leads
// to the same choices. Only the victim of a deadlock is the server's choice.
#include <cstddef>
#include <optional>
#include <queue>
#include <vector>

#include "force/scheduler.h"

namespace isoscope::force {

class AppSchedules {
 public:
  // `sessions`: of each call, which are the actors. A call begins when the one before it in its
  // session has ended.
  explicit AppSchedules(ById<ActorId, AppSessionId> sessions);

  // The turns to begin with; nothing when all orders were played.
  std::optional<Turns> next();
  // Takes note of what was played after `beginning`. False: the run took other turns.
  bool note(const Turns& beginning, const Played& played);

 private:
  struct Node {
    std::size_t switches = 0;
    std::size_t number = 0;  // in the order in which they were found
    Turns turns = {};
    bool operator<(const Node& other) const {
      return std::pair(other.switches, other.number) < std::pair(switches, number);
    }
  };
  void add(Turns turns);

  ById<ActorId, AppSessionId> sessions_;
  std::priority_queue<Node> left_;
  std::size_t found_ = 0;
};

// The calls (actors) that had the turns, one after the other.
Turns turns_taken(const Played& played);

}  // namespace isoscope::force
