#pragma once
// The sessions of a program on PostgreSQL, step by step: the one semantics that `explore` and `run`
// have of its levels. What they run is an SQL program or a `.txn` program (calls.h). An SQL program
// whose statements are simple enough (innodb_fragment.h) runs on MariaDB in the same way: the
// statements differ (innodb_run.h), and the snapshot is taken by the first plain read.
//
//     Machine machine(program, levels);
//     State state = machine.start();
//     for (const Choice& choice : machine.choices(state)) …
//     machine.take(state, choice);
//
// A step is one statement of a session, the commit (or abort) of its transaction, or the end of
// a transaction that the server picks in a deadlock. A statement that must wait is parked, and goes
// on as soon as those that it waits for have ended, before any other session steps; which of
// several waiters goes first is a choice. With `late_wakeups` other sessions may be faster than a
// waiter that was let go, and than the server's search for deadlocks: that can happen, but cannot
// be forced from outside.
//
// A call of a procedure that ends its transaction and goes on is a sequence of calls in the
// outline, its parts; those that it does not come to are left out.
//
// A State is a value: copy it to try something. What a call does between its statements follows
// from their results, so a call is known by these, and is run again with them to find what is next.
//
// Not modelled, and so never part of an answer that claims to be complete: what the notes of the
// application name; pauses inside of a statement, between its snapshot and its locks.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program/program.h"
#include "sql/run/program.h"
#include "sql/server/calls.h"
#include "sql/server/level.h"

namespace isoscope::sql::server {

enum class TxnStatus : std::uint8_t { Waiting, Running, Committed, Aborted };

struct TxnState {
  TxnStatus status = TxnStatus::Waiting;
  bool has_snapshot = false;  // has taken one
  TxnNoSet snapshot = {};     // that one, or the one of its last statement
  CommandNo command = {};
  Log log = {};
  Failure failure = {};            // of Aborted
  std::vector<Value> locals = {};  // at the end, as Executable::local_names() has them
  // Repeats a call that has committed, or is a part that its call did not come to: it counts as
  // committed.
  bool is_left_out = false;
  bool goes_on = false;  // its call has gone on in the next part
  // Of a `.txn` program: the first assertion that failed in it.
  std::optional<AssertionId> failed_assertion = {};
};

struct SessionState {
  CallId call = {};                           // that of the next session after the last
  std::shared_ptr<const NextStep> next = {};  // null before the call begins
  bool has_undone = false;                    // what `next` takes back
  std::optional<Running> running = {};        // a statement that waits
  std::vector<TxnNo> blockers = {};           // for these
  std::vector<TxnNo> ahead = {};  // of these, those that only stand before it in a queue
};

struct State {
  Storage storage;
  TxnNoSet committed = {};
  TxnNoSet running = {};
  std::vector<TxnNo> commit_order = {};
  ById<ProgramSession, SessionState> sessions = {};
  ById<TxnNo, TxnState> txns = {};  // the first is that of the rows at the start
  std::uint64_t broken = 0;         // bit i: invariant i was broken by some committed state

  // The transactions of calls.
  IdRange<TxnNo> of_calls() const { return {1, static_cast<std::uint32_t>(txns.size())}; }
};

struct Choice {
  ProgramSession session = {};
  bool is_victim = false;   // of a deadlock
  bool is_refused = false;  // aborted without need (refusals.h)
  friend bool operator==(const Choice&, const Choice&) = default;
};

// What a step came to, for people and for tests.
struct StepDone {
  enum class Kind : std::uint8_t { Answered, Waits, Committed, Aborted, Limit };
  Kind kind = Kind::Answered;
  TxnNo txn = {};
  const Statement* statement = nullptr;  // that was run or goes on
};

class Machine {
 public:
  // `levels`: of each call. Requires: the program outlives it.
  Machine(const SqlProgram& program, std::vector<PgLevel> levels, const Budget& budget = {},
          bool late_wakeups = false, ServerKind server = ServerKind::Postgres);
  Machine(const Program& program, std::vector<PgLevel> levels, bool late_wakeups = false);

  State start() const;
  // Empty when all sessions are done.
  std::vector<Choice> choices(const State& state) const;
  StepDone take(State& state, const Choice& choice) const;
  // The statement that the session's next step runs or goes on with, as it stands in the program;
  // null for the end of a transaction.
  const NextStep& next(State& state, ProgramSession session) const;

  const Calls& calls() const { return *calls_; }
  const Executable& executable() const { return calls_->executable(); }
  const Outline& outline() const { return executable().outline(); }
  const Application& app() const { return calls_->app(); }
  const SqlProgram& program() const;  // Requires: it runs one
  // Does it run a `.txn` program? Then a row is a key with its value.
  bool is_by_key() const { return is_by_key_; }
  ServerKind server() const { return server_; }
  PgLevel level(TxnNo txn) const { return levels_[call_of(txn)]; }
  bool is_done(const State& state, ProgramSession session) const;
  // The next transaction of the session did not happen: the server has aborted it. With it go the
  // parts of its call behind it.
  void skip(State& state, ProgramSession session) const;
  // Committed rows of a table, in the order of its key, or of their values where it has none;
  // hidden columns are left out.
  std::vector<std::vector<Value>> committed_rows(const State& state, TableId table) const;

 private:
  StepDone run_statements(State& state, ProgramSession session) const;
  StatementContext context(State& state, TxnNo txn, bool passes) const;
  PartLogs logs_before(const State& state, CallId call) const;
  bool inserts_more(const State& state, ProgramSession session) const;
  Attempt go_on(State& state, ProgramSession session, bool passes) const;
  void begin_statement(State& state, TxnNo txn, const NextStep& next, Running& running) const;
  void end(State& state, ProgramSession session, bool commits, Failure failure,
           std::vector<Value> locals) const;
  StepDone end_part(State& state, ProgramSession session, const NextStep& step) const;
  void leave_out(State& state, ProgramSession session) const;
  ById<ProgramSession, bool> in_deadlock(const State& state) const;
  bool waits_for(const State& state, ProgramSession session, ProgramSession other) const;
  bool reaches(const State& state, ProgramSession from, ProgramSession to, bool by_queues) const;
  bool passes_queue(const State& state, ProgramSession session) const;
  StepDone fail(State& state, ProgramSession session, Failure failure) const;
  void undo(State& state, ProgramSession session, std::size_t from) const;

  std::unique_ptr<const Calls> calls_;
  ById<CallId, PgLevel> levels_;
  bool is_by_key_ = false;
  bool late_wakeups_;
  ServerKind server_ = ServerKind::Postgres;
};

// Do the dependencies among the SERIALIZABLE transactions that have committed, and `txn`, have a
// cycle through it? Row versions decide: who wrote, read or would have found which.
bool closes_cycle(const Machine& machine, const State& state, TxnNo txn);

}  // namespace isoscope::sql::server
