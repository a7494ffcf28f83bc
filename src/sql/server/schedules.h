#pragma once
// Every schedule of a program on PostgreSQL, or one at random.
//
//     Machine machine(program, levels);
//     Schedules all = explore(machine, claims, {});
//     all.histories, all.violating, all.violations …
//
// Scheduling points are before each statement and before each commit. States are visited once: two
// orders of independent steps end in the same state, and what follows is explored once. Of steps
// that commute (step_effect.h) one order is taken: a step that was taken before at a state sleeps
// behind the others that it commutes with, and a state that is met again is looked at again only
// for steps that slept there and no longer do [Godefroid, LNCS 1032]. Sessions
// that share no table with others (one of them writing) run one after the other, unless a claim is
// about every committed state. Two histories are the same if every statement of every call has read
// the same rows from the same writers, and the calls ended in the same way.
//
// Cost  One copy of the state for each step; 24 bytes for each state that was seen.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sql/server/claims.h"
#include "support/rng.h"

namespace isoscope::sql::server {

struct BrokenClaim {
  std::size_t claim = 0;
  ClaimAnswer answer = {};
  std::size_t step = 0;  // behind so many steps of the schedule
};

struct ViolatingRun {
  std::vector<Choice> schedule;
  std::vector<BrokenClaim> broken;
};

struct CallEnd {
  bool is_committed = false;
  Failure failure = {};
  std::vector<Value> locals = {};
  bool is_left_out = false;  // nothing to repeat, or a part that the call did not come to
  // A part of a procedure in which the call has not ended. How the call ends says nothing of how
  // many of them there were.
  bool is_passed = false;
  friend bool operator==(const CallEnd&, const CallEnd&) = default;
};

// How a run ends: each call, and the rows of each table.
struct RunEnd {
  ById<CallId, CallEnd> calls;
  ById<TableId, std::vector<std::vector<Value>>> rows;  // in the order of the table's key

  // Has the server ended a call (40001, 40P01, 55P03)? Then a retry belongs to the program.
  bool has_server_abort() const;
};
RunEnd end_of(const Machine& machine, const State& state);
Digest digest_of(const RunEnd& end);

struct RunOutcome {
  RunEnd end;
  std::uint64_t histories = 0;
  std::optional<bool> is_serial;  // nothing: not decided
  std::vector<std::size_t> broken = {};
  std::vector<Choice> schedule = {};  // of one of its histories
};

struct ScheduleOptions {
  Budget budget = {};
  bool stop_at_violation = false;
  std::size_t max_violations = 3;  // examples kept; all are counted
  bool is_reduced = true;          // of two steps that commute, one order; false to compare
  bool wants_outcomes = false;
  bool refuses = false;  // with the aborts of refusals.h
  // Called with a schedule of every history, once; false ends the exploration, undecided.
  std::function<bool(const State&, const std::vector<Choice>&, bool violates)> on_history = {};
  Progress progress = {};
};

struct Schedules {
  bool is_out_of_time = false;
  std::optional<Error> fault = {};  // a call that cannot be run: nothing else counts
  std::uint64_t histories = 0;
  std::uint64_t violating = 0;  // histories in which a claim is broken
  std::uint64_t end_states = 0;
  std::uint64_t steps = 0;
  std::uint64_t deadlocks = 0;  // states in which sessions wait for each other
  std::vector<ViolatingRun> violations = {};
  std::vector<RunOutcome> outcomes = {};  // the most frequent first
};

Schedules explore(const Machine& machine, const std::vector<RowAssertion>& claims,
                  const ScheduleOptions& options);

// One run; the seed decides who goes next.
struct RandomRun {
  State state;
  std::vector<Choice> schedule = {};
  std::vector<BrokenClaim> broken = {};
  std::optional<Error> fault = {};
};
RandomRun run_at_random(const Machine& machine, const std::vector<RowAssertion>& claims, Rng& rng);

// The calls one after the other.
struct SerialRun {
  std::vector<CallId> order;
  RunEnd end;
};
// One run for each way in which a serial order can end, without the calls that the server has
// aborted in `run`. Nothing if not all orders were tried.
std::optional<std::vector<SerialRun>> serial_runs(const Machine& machine, const RunEnd& run,
                                                  Budget budget);

// How the program can end if its calls run one after the other.
class SerialEnds {
 public:
  SerialEnds(const Machine& machine, const Budget& budget);

  // Does some serial order of the calls that the server did not abort end like this? Nothing if
  // that is not decided: no time, or fresh values (serial, IDENTITY) distinguish runs.
  std::optional<bool> contains(const RunEnd& end);

 private:
  const Machine& machine_;
  Budget budget_;
  bool has_fresh_;
  std::map<std::vector<bool>, std::optional<std::set<Digest>>> ends_;  // by calls left out
};

}  // namespace isoscope::sql::server
