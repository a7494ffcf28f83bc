#include "sql/server/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/server/innodb_run.h"
#include "sql/server/key_calls.h"
#include "sql/server/sql_calls.h"
#include "sql/server/state_digest.h"
#include "support/assert.h"

namespace isoscope::sql::server {
Machine::Machine(const SqlProgram& program, std::vector<PgLevel> levels, const Budget& budget,
                 bool late_wakeups, ServerKind server)
    : calls_(std::make_unique<SqlCalls>(program, server, budget)),
      levels_(std::move(levels)),
      late_wakeups_(late_wakeups),
      server_(server) {
  ISO_ASSERT(levels_.size() == outline().calls.size());
}

Machine::Machine(const Program& program, std::vector<PgLevel> levels, bool late_wakeups)
    : calls_(std::make_unique<KeyCalls>(program)),
      levels_(std::move(levels)),
      is_by_key_(true),
      late_wakeups_(late_wakeups) {
  ISO_ASSERT(levels_.size() == outline().calls.size());
}

const SqlProgram& Machine::program() const {
  ISO_ASSERT(!is_by_key_);
  return static_cast<const SqlCalls&>(*calls_).program();
}

State Machine::start() const {
  State state{.storage = calls_->storage()};
  state.committed.insert(kInitialTxn);
  state.txns.resize(outline().calls.size() + 1);
  state.txns[kInitialTxn].status = TxnStatus::Committed;
  for (const Session& session : outline().sessions)
    state.sessions.push_back({.call = session.first});
  return state;
}

bool Machine::is_done(const State& state, ProgramSession session) const {
  const CallId end = outline().sessions[session].end();
  return state.sessions[session].call == end;
}

// Of the parts of a call before this one.
PartLogs Machine::logs_before(const State& state, CallId call) const {
  PartLogs before;
  const std::uint32_t part = outline().calls[call].part;
  for (CallId earlier{call.index + 1 - part}; earlier < call; ++earlier)
    before.push_back(&state.txns[txn_of(earlier)].log);
  return before;
}

const NextStep& Machine::next(State& state, ProgramSession session) const {
  SessionState& s = state.sessions[session];
  if (s.next == nullptr)
    s.next = std::make_shared<const NextStep>(
        calls_->find_next(s.call, state.txns[txn_of(s.call)].log, logs_before(state, s.call)));
  if (s.next->undo_from && !s.has_undone) {
    s.has_undone = true;
    undo(state, session, *s.next->undo_from);
  }
  return *s.next;
}

// Takes back what the statements from this one on did. Who waited for it may go on.
void Machine::undo(State& state, ProgramSession session, std::size_t from) const {
  const TxnNo txn = txn_of(state.sessions[session].call);
  Log& log = state.txns[txn].log;
  if (from >= log.size()) return;
  state.storage.undo(txn, log[from]->command);
  for (std::size_t i = from; i < log.size(); ++i) {
    StatementResult result = *log[i];
    result.writes.clear();
    log[i] = std::make_shared<const StatementResult>(std::move(result));
  }
  for (SessionState& other : state.sessions) {
    if (std::ranges::find(other.blockers, txn) != other.blockers.end()) other.blockers.clear();
  }
}

bool Machine::waits_for(const State& state, ProgramSession session, ProgramSession other) const {
  const SessionState& s = state.sessions[session];
  const TxnNo txn = txn_of(state.sessions[other].call);
  return s.running && std::ranges::find(s.blockers, txn) != s.blockers.end() &&
         !is_done(state, other) && state.running.contains(txn);
}

// Does a session wait, by one or more steps, for the other (or for itself)? A place in a queue
// counts `by_queues` only.
bool Machine::reaches(const State& state, ProgramSession from, ProgramSession to,
                      bool by_queues) const {
  ById<ProgramSession, bool> reached(state.sessions.size(), false);
  std::vector<ProgramSession> stack = {from};
  while (!stack.empty()) {
    const ProgramSession at = stack.back();
    stack.pop_back();
    const auto& ahead = state.sessions[at].ahead;
    for (const ProgramSession next : state.sessions.ids()) {
      if (reached[next] || !waits_for(state, at, next)) continue;
      const TxnNo txn = txn_of(state.sessions[next].call);
      if (!by_queues && std::ranges::find(ahead, txn) != ahead.end()) continue;
      if (next == to) return true;
      reached[next] = true;
      stack.push_back(next);
    }
  }
  return false;
}

// A parked session waits for transactions of other sessions; a cycle of them is a deadlock.
ById<ProgramSession, bool> Machine::in_deadlock(const State& state) const {
  ById<ProgramSession, bool> is_in(state.sessions.size(), false);
  for (const ProgramSession s : is_in.ids())
    is_in[s] = state.sessions[s].running && reaches(state, s, s, false);
  return is_in;
}

// A cycle that goes through a place in a queue is no deadlock: the server changes the order of the
// queue.
bool Machine::passes_queue(const State& state, ProgramSession session) const {
  for (const ProgramSession other : state.sessions.ids()) {
    const auto& ahead = state.sessions[session].ahead;
    const TxnNo txn = txn_of(state.sessions[other].call);
    if (std::ranges::find(ahead, txn) == ahead.end()) continue;
    if (waits_for(state, session, other) && reaches(state, other, session, true)) return true;
  }
  return false;
}

std::vector<Choice> Machine::choices(const State& state) const {
  std::vector<Choice> victims;
  std::vector<Choice> woken;
  std::vector<Choice> others;
  const ById<ProgramSession, bool> deadlocked = in_deadlock(state);
  for (const ProgramSession s : state.sessions.ids()) {
    if (is_done(state, s)) continue;
    const SessionState& session = state.sessions[s];
    if (deadlocked[s]) {
      victims.push_back({s, true});
    } else if (!session.running) {
      others.push_back({s, false});
    } else if (std::ranges::none_of(session.blockers,
                                    [&](TxnNo txn) { return state.running.contains(txn); }) ||
               passes_queue(state, s)) {
      woken.push_back({s, false});
    }
  }
  if (!late_wakeups_ && !woken.empty()) return woken;
  if (!late_wakeups_ && !victims.empty()) return victims;
  victims.insert(victims.end(), woken.begin(), woken.end());
  victims.insert(victims.end(), others.begin(), others.end());
  return victims;
}

StatementContext Machine::context(State& state, TxnNo txn, bool passes) const {
  return {.app = app(),
          .storage = state.storage,
          .committed = state.committed,
          .running_txns = state.running,
          .txn = txn,
          .keeps_snapshot = level(txn) != PgLevel::ReadCommitted,
          .txn_snapshot = state.txns[txn].snapshot,
          .passes_queue = passes};
}

void Machine::begin_statement(State& state, TxnNo txn, const NextStep& next,
                              Running& running) const {
  TxnState& t = state.txns[txn];
  const bool begins = !next.statement->continues || t.command == CommandNo{};
  if (begins) ++t.command;
  // On MariaDB only plain reads have a snapshot; others look at what is there.
  const bool takes_snapshot =
      server_ == ServerKind::Postgres ||
      (is_plain_read(*next.statement) && asks_storage(app(), *next.statement, next.variables));
  if (level(txn) == PgLevel::ReadCommitted ? begins : takes_snapshot && !t.has_snapshot) {
    t.snapshot = state.committed;
    t.has_snapshot = true;
  }
  state.storage.begin_command(txn, t.command);
  running.needs = next.needs;
  running.result.statement = next.statement;
  running.result.variables = next.variables;
  const SearchedWrite* searched = next.statement->searched();
  const bool is_cascade = searched != nullptr && searched->is_cascade;
  running.result.snapshot = is_cascade ? state.committed : t.snapshot;
  running.result.command = t.command;
}

// Each row of an INSERT is a statement here. What the rows refer to is looked at behind the last
// one.
bool Machine::inserts_more(const State& state, ProgramSession session) const {
  const SessionState& s = state.sessions[session];
  if (s.running->references.empty()) return false;
  Log log = state.txns[txn_of(s.call)].log;
  log.push_back(std::make_shared<const StatementResult>(s.running->result));
  const NextStep after = calls_->find_next(s.call, log, logs_before(state, s.call));
  return after.kind == NextStep::Kind::Statement && after.statement->continues &&
         after.statement->is<Insert>();
}

Attempt Machine::go_on(State& state, ProgramSession session, bool passes) const {
  Running& running = *state.sessions[session].running;
  StatementContext with = context(state, txn_of(state.sessions[session].call), passes);
  // MariaDB's programs have no foreign keys.
  const Statement* statement = running.result.statement;
  with.leaves_references = server_ == ServerKind::Postgres && !running.has_rows &&
                           statement != nullptr && statement->is<Insert>();
  Attempt attempt = calls_->go_on(with, running);
  if (attempt.kind != Attempt::Kind::Done || !with.leaves_references ||
      inserts_more(state, session))
    return attempt;
  with.leaves_references = false;
  return calls_->go_on(with, running);
}

StepDone Machine::run_statements(State& state, ProgramSession session) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = txn_of(s.call);
  const bool passes = s.running && passes_queue(state, session);
  std::vector<Running::Reference> references;  // of rows that the statement has inserted
  for (;;) {
    if (!s.running) {
      begin_statement(state, txn, next(state, session), s.running.emplace());
      s.running->references = std::exchange(references, {});
    }
    const Statement* statement = s.running->result.statement;
    Attempt attempt = go_on(state, session, passes);
    switch (attempt.kind) {
      case Attempt::Kind::Waits:
        s.running->result.has_waited = true;
        s.blockers = std::move(attempt.blockers);
        s.ahead = std::move(attempt.ahead);
        return {StepDone::Kind::Waits, txn, statement};
      case Attempt::Kind::Failed: return fail(state, session, std::move(attempt.failure));
      case Attempt::Kind::Limit:
        s.running.reset();
        s.next = std::make_shared<const NextStep>(NextStep{
            .kind = NextStep::Kind::Limit, .failure = {}, .fault = std::move(attempt.fault)});
        return {StepDone::Kind::Limit, txn, statement};
      case Attempt::Kind::Done: break;
    }
    if (s.running->next_reference < s.running->references.size())
      references = std::move(s.running->references);
    s.running->result.digest = digest_of(app(), state.storage, s.running->result);
    state.txns[txn].log.push_back(
        std::make_shared<const StatementResult>(std::move(s.running->result)));
    s.running.reset();
    s.blockers.clear();
    s.ahead.clear();
    s.next.reset();
    s.has_undone = false;
    const NextStep& after = next(state, session);
    if (after.kind != NextStep::Kind::Statement || !after.statement->continues)
      return {StepDone::Kind::Answered, txn, statement};
  }
}

// The statement failed, and with it the transaction, unless an EXCEPTION block catches it.
StepDone Machine::fail(State& state, ProgramSession session, Failure failure) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = txn_of(s.call);
  const Statement* statement = s.running->result.statement;
  if (!calls_->catches(s.call)) {
    end(state, session, false, std::move(failure), next(state, session).locals);
    return {StepDone::Kind::Aborted, txn, statement};
  }
  StatementResult& result = s.running->result;
  result.rows.clear();
  result.num_rows = 0;
  result.failure = std::move(failure);
  result.digest = digest_of(app(), state.storage, result);
  state.txns[txn].log.push_back(std::make_shared<const StatementResult>(std::move(result)));
  s.running.reset();
  s.blockers.clear();
  s.ahead.clear();
  s.next.reset();
  s.has_undone = false;
  const NextStep& after = next(state, session);
  if (after.kind != NextStep::Kind::Abort) return {StepDone::Kind::Answered, txn, statement};
  end(state, session, false, after.failure, {});
  return {StepDone::Kind::Aborted, txn, statement};
}

StepDone Machine::take(State& state, const Choice& choice) const {
  SessionState& s = state.sessions[choice.session];
  const TxnNo txn = txn_of(s.call);
  if (choice.is_victim) {
    const bool is_postgres = server_ == ServerKind::Postgres;
    return fail(state, choice.session,
                {.sqlstate = is_postgres ? "40P01" : "1213", .message = "deadlock"});
  }
  if (choice.is_refused) {
    end(state, choice.session, false,
        {.sqlstate = "40001", .message = "dependencies among transactions might have a cycle"}, {});
    return {StepDone::Kind::Aborted, txn, nullptr};
  }
  if (state.txns[txn].status == TxnStatus::Waiting) {
    state.txns[txn].status = TxnStatus::Running;
    state.running.insert(txn);
  }
  if (s.running) return run_statements(state, choice.session);
  const NextStep step = next(state, choice.session);
  switch (step.kind) {
    case NextStep::Kind::Statement: return run_statements(state, choice.session);
    case NextStep::Kind::Commit:
      if (level(txn) == PgLevel::Serializable && closes_cycle(*this, state, txn)) {
        end(state, choice.session, false,
            {.sqlstate = "40001", .message = "dependencies among transactions have a cycle"}, {});
        return {StepDone::Kind::Aborted, txn, nullptr};
      }
      if (step.goes_on) return end_part(state, choice.session, step);
      end(state, choice.session, true, {}, step.locals);
      return {StepDone::Kind::Committed, txn, nullptr};
    case NextStep::Kind::Rollback: return end_part(state, choice.session, step);
    case NextStep::Kind::Abort:
      end(state, choice.session, false, step.failure, step.locals);
      return {StepDone::Kind::Aborted, txn, nullptr};
    case NextStep::Kind::Limit: break;
  }
  return {StepDone::Kind::Limit, txn, nullptr};
}

// COMMIT or ROLLBACK of a procedure. Where nothing follows but the end of the call, its next part
// is none, and this one has the variables of the end.
StepDone Machine::end_part(State& state, ProgramSession session, const NextStep& step) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = txn_of(s.call);
  const bool commits = step.kind == NextStep::Kind::Commit;
  const CallId after{s.call.index + 1};
  if (after == outline().sessions[session].end() || outline().calls[after].part == 1) {
    const Call& call = outline().calls[s.call];
    s.next = std::make_shared<const NextStep>(
        NextStep{.kind = NextStep::Kind::Limit,
                 .fault = Error{.where = call.place,
                                .what = fmt::format("{}{} goes on after {} transactions",
                                                    program().function(s.call).name,
                                                    print(program().arguments(s.call)), call.part),
                                .hint = "give it less to do: more are not modelled"}});
    return {StepDone::Kind::Limit, txn, nullptr};
  }
  state.txns[txn].goes_on = true;
  end(state, session, commits, {.sqlstate = "", .message = commits ? "" : "ROLLBACK"}, {});
  const NextStep& then = next(state, session);
  if (then.kind == NextStep::Kind::Commit && !then.goes_on) {
    state.txns[txn].goes_on = false;
    state.txns[txn].locals = then.locals;
    leave_out(state, session);
  }
  return {commits ? StepDone::Kind::Committed : StepDone::Kind::Aborted, txn, nullptr};
}

// What the session has next and does not come to: repetitions and parts of the call before.
void Machine::leave_out(State& state, ProgramSession session) const {
  SessionState& s = state.sessions[session];
  s.next.reset();
  s.has_undone = false;
  while (!is_done(state, session) &&
         (outline().calls[s.call].attempt > 1 || outline().calls[s.call].part > 1)) {
    state.txns[txn_of(s.call)].status = TxnStatus::Committed;
    state.txns[txn_of(s.call)].is_left_out = true;
    ++s.call;
  }
}

void Machine::skip(State& state, ProgramSession session) const {
  SessionState& s = state.sessions[session];
  TxnState& skipped = state.txns[txn_of(s.call)];
  skipped.status = TxnStatus::Aborted;
  skipped.failure.sqlstate = "40001";
  s.next.reset();
  ++s.call;
  if (!is_done(state, session) && outline().calls[s.call].part > 1) leave_out(state, session);
}

void Machine::end(State& state, ProgramSession session, bool commits, Failure failure,
                  std::vector<Value> locals) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = txn_of(s.call);
  TxnState& t = state.txns[txn];
  state.storage.end(txn, commits);
  t.status = commits ? TxnStatus::Committed : TxnStatus::Aborted;
  t.failure = std::move(failure);
  t.locals = std::move(locals);
  state.running.erase(txn);
  if (commits) {
    state.committed.insert(txn);
    state.commit_order.push_back(txn);
  }
  if (s.next != nullptr) t.failed_assertion = s.next->failed_assertion;
  s.running.reset();
  s.blockers.clear();
  s.ahead.clear();
  s.next.reset();
  s.has_undone = false;
  ++s.call;
  // What has committed is not run again, and a call that has ended has no further parts.
  if (!t.goes_on && !is_done(state, session) && (commits || outline().calls[s.call].part > 1))
    leave_out(state, session);
}

std::vector<std::vector<Value>> Machine::committed_rows(const State& state, TableId table) const {
  const Table& t = app().table(table);
  std::map<std::vector<Value>, std::vector<Value>> rows;
  const View view{state.committed, TxnNo::none(), {}};
  for (const Storage::Seen& seen : state.storage.scan(table, view)) {
    if (!state.storage.table(table).is_shown(seen.row.row, seen.version)) continue;
    const auto& values = state.storage.values(seen);
    std::vector<Value> shown;
    for (const ColumnId c : values.ids()) {
      if (!t.columns[c].is_hidden) shown.push_back(values[c]);
    }
    rows.emplace(columns_of(values, t.primary_key), std::move(shown));
  }
  std::vector<std::vector<Value>> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  // A hidden key is the order of the INSERTs, and no part of what the table holds.
  const auto is_hidden = [&](ColumnId c) { return t.columns[c].is_hidden; };
  if (std::ranges::any_of(t.primary_key, is_hidden)) std::ranges::sort(list);
  return list;
}

}  // namespace isoscope::sql::server
