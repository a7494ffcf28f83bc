#pragma once
// What an engine needs to run transactions without knowing what they are written in.
//
// An Executable has sessions of transactions ("calls"). An Executor runs one call at a time and
// stops at every access to the database; whoever drives it answers the reads. Between two stops
// its state is a row of numbers that can be put aside and put back, so an engine can return to a
// read and answer it differently. `.txn` programs (program.h) are executables, and so are C++
// callables (api/).
//
//     executor->start(call);
//     for (;;) {
//       Stop stop = executor->run();
//       if (stop.kind == StopKind::Read) executor->answer(value_of(stop.key));
//       …
//     }
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/keys.h"
#include "support/by_id.h"
#include "support/error.h"

namespace isoscope {

using CallId = Id<struct CallTag>;  // by session, then in session order: the oracle order
using ProgramSession = Id<struct ProgramSessionTag>;  // a History numbers its own sessions
using AssertionId = Id<struct AssertionTag>;  // a claim, inside a transaction or about the run

struct Call {
  ProgramSession session = {};
  std::uint32_t number = 1;  // its place in the session, from 1
  std::string name = {};     // withdraw(60), or what the author calls it
  std::string level = {};    // its own level; empty: the one of the command line
  Place place = {};
  Place level_place = {};     // where its level is named: at the call or at the definition
  std::string function = {};  // withdraw: calls of one function share it; empty: it stands alone
  // 2, 3, …: it runs again what the call before it in the session has aborted. If that one has
  // committed, it is left out: it commits at once, does nothing and belongs to no history. The
  // attempts of a call have the same number.
  std::uint32_t attempt = 1;
  // 2, 3, …: a procedure goes on with it, as a transaction of its own, where the part before has
  // ended by COMMIT or ROLLBACK. If the call ends earlier, it is left out. The parts of a call have
  // the same number. Of a call that is one transaction, 1.
  std::uint32_t part = 1;
};

struct Session {
  std::string name;
  CallId first = {};  // its first call
  std::uint32_t size = 0;

  CallId end() const { return {first.index + size}; }  // one behind its last call
  IdRange<CallId> calls() const { return {first.index, first.index + size}; }
};

// The call before this one in the oracle order. Where `attempt` is above 1, that is the attempt
// that has to abort.
inline CallId call_before(CallId call) { return {call.index - 1}; }

// The sessions and calls of an executable. Calls of a session are adjacent.
struct Outline {
  ById<ProgramSession, Session> sessions;
  ById<CallId, Call> calls;
};

enum class StopKind : std::uint8_t {
  Read,    // of `key`; run() goes on after answer()
  Write,   // of `value` to `key`
  Commit,  // the end
  Abort,   // the end
  Fault,   // cannot go on: fault() says why
};

struct Stop {
  StopKind kind = StopKind::Commit;
  ProgramKey key = {};
  std::int64_t value = 0;
};

// What is kept of a write.
struct WriteEvent {
  ProgramKey key;
  std::int64_t value = 0;
};

// What is kept of a read of a key that no call ever writes: it shows the initial value, whatever
// else happens.
struct FixedRead {
  ProgramKey key;
  std::uint32_t num_writes = 0;  // of its transaction before it
};

// A claim of the program that was checked and did not hold.
struct FailedAssertion {
  std::string text;  // as the author wrote it
  Place place = {};
  std::vector<CallId> calls = {};  // that a claim about the finished run names, ascending
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Begins a call, forgetting the one before.
  virtual void start(CallId call) = 0;
  // Goes on to the next access, or to the end. Requires: a read it stopped at has been answered.
  virtual Stop run() = 0;
  virtual void answer(std::int64_t value) = 0;
  // Why it stopped with a Fault: an overflow, a loop without end.
  virtual Error fault() const = 0;

  // For whoever goes through many runs: from now on keys that the program computes are known only
  // while they are in use. Those of drop_keys_but() still are, all others may be forgotten.
  virtual void hold_keys() {}
  virtual std::size_t num_held_keys() const { return 0; }
  virtual void drop_keys_but(std::span<const ProgramKey> /*used*/) {}

  // Where it stands, in numbers that mean something only to it. At a read: before the answer.
  // The view is valid until the next call of a member.
  virtual std::span<const std::int64_t> state() const = 0;
  virtual void restore(CallId call, std::span<const std::int64_t> state) = 0;
  // The locals in that state, in the order of Executable::local_names(call); the first so many
  // numbers of the state.
  virtual std::size_t num_locals() const = 0;
  // The number of the first assertion that failed so far; see Executable::assertion().
  virtual std::optional<AssertionId> failed_assertion() const = 0;
};

// How a call ended: its locals and whether it committed.
struct Ending {
  bool committed = false;
  std::span<const std::int64_t> locals = {};
};

class Executable {
 public:
  virtual ~Executable() = default;

  virtual const Outline& outline() const = 0;
  virtual KeyTable& keys() const = 0;
  virtual std::unique_ptr<Executor> executor() const = 0;
  virtual std::span<const std::string> local_names(CallId call) const = 0;
  // Families that a call may read or write at all, whatever it reads; for pruning. Sorted.
  virtual std::span<const FamilyId> may_read(CallId call) const = 0;
  virtual std::span<const FamilyId> may_write(CallId call) const = 0;
  // The same, by keys where these are known before the call runs.
  virtual Footprint may_read_keys(CallId call) const { return {.families = may_read(call)}; }
  virtual Footprint may_write_keys(CallId call) const { return {.families = may_write(call)}; }

  // May running it show rows that are unknown beforehand? Has a call inserted a row that the scans
  // of the others do not look at yet? From adopt_rows() on they do (rounds.h). Requires of
  // adopt_rows(): no executor is in use.
  virtual bool may_have_new_rows() const { return false; }
  virtual bool has_new_rows() const { return false; }
  virtual void adopt_rows() const {}

  // How people write a value of a key, and of a local; numbers, unless they stand for something.
  virtual std::string print_value(ProgramKey, std::int64_t value) const {
    return std::to_string(value);
  }
  virtual std::string print_local(CallId, std::size_t /*local*/, std::int64_t value) const {
    return std::to_string(value);
  }

  // Claims inside transactions and about the finished run, numbered together.
  virtual FailedAssertion assertion(AssertionId number) const = 0;
  virtual bool has_assertions() const = 0;
  // Keys of which claims about the finished run want to know the last value in the commit order.
  virtual std::span<const ProgramKey> final_keys() const { return {}; }
  // The first claim about the finished run that does not hold or cannot be evaluated. `endings` has
  // one entry a call, `finals` one a final key.
  virtual std::optional<AssertionId> failed_at_end(std::span<const Ending> endings,
                                                   std::span<const std::int64_t> finals) const = 0;
  // Why a claim about the finished run cannot be evaluated, if there is such a claim: an overflow.
  // To be asked when failed_at_end() names one.
  virtual std::optional<Error> fault_at_end(std::span<const Ending>,
                                            std::span<const std::int64_t>) const {
    return std::nullopt;
  }
};

}  // namespace isoscope
