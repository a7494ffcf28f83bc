#pragma once
// Where a schedule is played: actors that each have a statement at hand, and a server that lets
// them run or makes them wait. What an actor is (a connection of ours, a client behind a proxy) and
// which server it is, the scheduler does not know.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "force/ids.h"
#include "support/result.h"

namespace isoscope::force {

enum class ActorState : std::uint8_t {
  Thinking,  // it will have a statement, or be done, without our doing
  Ready,     // it has a statement that waits for its turn
  Busy,      // its statement was sent and is not answered
  Done,      // it has no further statement
};

// A busy actor whose statement waits for a lock.
struct Wait {
  ActorId actor = {};
  std::vector<ActorId> holders = {};  // the actors it waits for; empty if that is not known
  bool is_outside = false;            // it waits for one that is no actor
};

class Stage {
 public:
  Stage() = default;
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  virtual std::size_t size() const = 0;  // the number of actors
  IdRange<ActorId> actors() const { return {0, static_cast<std::uint32_t>(size())}; }
  virtual ActorState state(ActorId actor) const = 0;
  // Sends the statement of an actor. Requires: it is Ready. It is Busy then.
  virtual Result<void> release(ActorId actor) = 0;
  // All that are Ready. Is any actor not Done then?
  Result<bool> release_ready() {
    bool is_alive = false;
    for (const ActorId actor : actors()) {
      if (state(actor) == ActorState::Ready)
        if (auto released = release(actor); !released) return released.error();
      is_alive = is_alive || state(actor) != ActorState::Done;
    }
    return is_alive;
  }
  // Takes what has come, and waits for it at most so many milliseconds.
  virtual Result<void> pump(int milliseconds) = 0;
  // Which of the busy actors wait for a lock at this moment: what the server says, not the clock.
  // An actor that the server has let go is not among them even if it has not answered yet.
  virtual Result<std::vector<Wait>> waits() = 0;
};

}  // namespace isoscope::force
