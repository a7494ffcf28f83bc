#pragma once
// Plays a schedule: statements go to the server one after the other, in the order of the plan.
//
//     turns  s1 s2 s1 s2                     s1 ──▶ UPDATE ───────────────▶ COMMIT
//                                            s2 ────────────▶ UPDATE ░░░░░░░░░░░░░▶ answered
//                                                             sent   parked
//
// After a statement was sent, the scheduler waits until every actor is at rest: it has answered, or
// the server says that it waits for a lock. Only then comes the next turn. No clock decides, so the
// same plan gives the same run on a loaded machine too. Which of two transactions a deadlock ends
// is the server's choice; a deadlock itself is waited for, since the server will end it.
//
// A turn of an actor that waits for a lock is put off: the next turn of another actor comes first,
// and this one as soon as its actor is free. If nothing can move any more (all that have turns left
// wait for an actor that has none), the run is stuck. An actor that is done before its turns are
// used up, because a statement failed, forfeits them.
#include <functional>
#include <string>

#include "force/stage.h"
#include "support/budget.h"

namespace isoscope::force {

struct Moment {
  enum class Kind : std::uint8_t {
    Sent,
    Parked,     // the statement waits for a lock
    Answered,   // the statement ended, well or not
    Forfeited,  // a turn of an actor that is done
  };
  Kind kind = Kind::Sent;
  ActorId actor = {};
  StatementId statement = {};         // of the actor
  bool was_put_off = false;           // of Sent: other turns came before, because it waited
  std::vector<ActorId> holders = {};  // of Parked: the actors it waits for

  friend bool operator==(const Moment&, const Moment&) = default;
};

struct Schedule {
  Turns turns;
  // When the turns are used up: are statements that are ready sent too, actor by actor?
  bool plays_rest = false;
  bool rest_goes_on = false;  // in that case, first of all the actor that had the last turn
};

struct Played {
  enum class End : std::uint8_t {
    Complete,  // every turn was used, and every statement answered
    Stuck,     // what was sent waits for one that has no turn
    Limit,     // the budget expired
  };
  End end = End::Complete;
  std::vector<Moment> moments = {};
};

// An error is one of the server or of the stage; what the statements answer is no error.
Result<Played> play(Stage& stage, const Schedule& schedule, Budget& budget);

}  // namespace isoscope::force
