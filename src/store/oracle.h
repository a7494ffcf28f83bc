#pragma once
// A level as an oracle: whom may a transaction read from, and may it commit?
//
// Transactions run one at a time, so a history grows by whole transactions at its end. While one is
// pending, the oracle is asked about each read, given all that came before:
//
//     oracle.begin(call);
//     if (oracle.allows(x, w)) oracle.take(x, w);        // for each external read
//     if (oracle.allows_commit(keys)) oracle.end(true, keys);  else oracle.abandon();
//
// A read is legal if the history with the pending transaction's reads so far satisfies the level;
// its writes count when it commits. At true, rc, ra, cc and pc every transaction whose reads were
// legal can commit. At si, psi and ser its writes may come too late: then it runs again. Reading
// the latest values in a commit order that explains the history so far (`explanation`) always works
// at the built-in levels.
//
// Which oracle decides is the level's business (level_plan.h): a forced order for the weak levels,
// a linearizer for pc, si and ser of small programs, check's engines for everything else.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/executable.h"
#include "store/level_plan.h"
#include "store/recording.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::store {

class Oracle {
 public:
  virtual ~Oracle() = default;

  // Forgets everything: the next run of the program begins.
  virtual void reset() = 0;

  virtual void begin(CallId call) = 0;
  // May the pending transaction read x from w, a committed writer of x or the initial transaction?
  virtual bool allows(ProgramKey x, CallId w) = 0;
  // It does.
  virtual void take(ProgramKey x, CallId w) = 0;
  // May it commit its writes of these keys, each named once?
  virtual bool allows_commit(std::span<const ProgramKey> written) = 0;
  virtual void end(bool is_committed, std::span<const ProgramKey> written) = 0;
  // As if it had not begun.
  virtual void abandon() = 0;

  // Committed calls in an order that explains the history before the pending transaction, or
  // nothing where no read is ever regretted.
  virtual std::span<const CallId> explanation() = 0;
  // Committed calls in an order that explains the whole run, once it is over.
  virtual std::span<const CallId> commit_order() { return explanation(); }
  // Did the time run out? Then answers are no longer to be trusted.
  virtual bool is_expired() const { return false; }
};

// Programs with more calls than this are too large for sets of transactions as machine words.
inline constexpr std::size_t kMaxCalls = 1024;

// Null without a plan: nothing is refused then. An error if the program is too large. `program` and
// the plan's levels outlive the oracle.
Result<std::unique_ptr<Oracle>> make_oracle(const Executable& program, const LevelPlan* plan,
                                            const Budget& budget);

}  // namespace isoscope::store
