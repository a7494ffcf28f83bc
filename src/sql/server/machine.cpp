#include "sql/server/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/call_run.h"
#include "sql/server/no_database.h"
#include "sql/server/state_digest.h"
#include "sql/statement_runner.h"
#include "support/assert.h"

namespace isoscope::sql::server {
namespace {

constexpr std::size_t kMaxSteps = 100'000;

// Answers statements from the log, and leaves the call at the first one beyond it.
class LoggedStatements final : public StatementRunner {
 public:
  struct Leave {};

  explicit LoggedStatements(const Log& log) : log_(log) {}

  Result<std::vector<std::vector<Value>>> query(CallState& call, const Statement& statement,
                                                const QueryNeeds& needs) override {
    const StatementResult& result = answer(call, statement, needs);
    if (result.failure) return failed(call, *result.failure);
    return result.rows;
  }
  Result<Modified> modify(CallState& call, const Statement& statement) override {
    const StatementResult& result = answer(call, statement, {});
    if (result.failure) return failed(call, *result.failure);
    return Modified{.num_rows = result.num_rows, .returning = result.rows};
  }

  std::size_t begin_block() override { return num_answered_; }
  // Only the last failure is new: what came before was taken back when it was the last.
  void undo_block(std::size_t mark) override {
    if (num_answered_ < log_.size()) return;
    undo_from_ = std::min(mark, undo_from_.value_or(mark));
  }

  NextStep take() { return std::move(next_); }
  std::optional<std::size_t> undo_from() const { return undo_from_; }

 private:
  static Error failed(CallState& call, const Failure& failure) {
    call.sqlstate = failure.sqlstate;
    return {.what = failure.message};
  }

  const StatementResult& answer(CallState& call, const Statement& statement,
                                const QueryNeeds& needs) {
    if (num_answered_ < log_.size()) return *log_[num_answered_++];
    next_ = {.kind = NextStep::Kind::Statement,
             .statement = &statement,
             .variables = call.variables,
             .needs = needs};
    throw Leave{};
  }

  const Log& log_;
  std::size_t num_answered_ = 0;
  std::optional<std::size_t> undo_from_;
  NextStep next_;
};

bool has_catch(const std::vector<Statement>& body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.catches || has_catch(s.body) || has_catch(s.otherwise);
  });
}

bool is_scalar(const Function& function, const Statement& statement) {
  return statement.op == StatementOp::Select && !statement.exists &&
         statement.targets.size() == 1 &&
         function.variables[statement.targets[0].index].name.starts_with("(subquery");
}

}  // namespace

Machine::Machine(const SqlProgram& program, std::vector<PgLevel> levels, const Budget& budget,
                 bool late_wakeups)
    : program_(program), levels_(std::move(levels)), budget_(budget), late_wakeups_(late_wakeups) {
  ISO_ASSERT(levels_.size() == program.outline().calls.size());
  for (std::uint32_t call = 0; call < levels_.size(); ++call)
    catches_.push_back(has_catch(program.function(CallId{call}).body));
}

State Machine::start() const {
  State state{.storage = Storage(program_.app())};
  state.committed.insert(kInitialTxn);
  state.txns.resize(program_.outline().calls.size() + 1);
  state.txns[kInitialTxn].status = TxnStatus::Committed;
  for (const Session& session : program_.outline().sessions)
    state.sessions.push_back({.call = session.first});
  return state;
}

bool Machine::is_done(const State& state, std::uint32_t session) const {
  const Session& s = program_.outline().sessions[session];
  return state.sessions[session].call == s.first + s.size;
}

NextStep Machine::find_next(std::uint32_t call, const Log& log) const {
  LoggedStatements statements(log);
  NoDatabase none;
  std::vector<Value> variables;
  const CallId id{call};
  Result<CallResult> result = CallResult{};
  try {
    result =
        run_call_with(program_.app(), program_.changes(), program_.function(id),
                      program_.arguments(id), none, kMaxSteps, &budget_, &variables, &statements);
  } catch (const LoggedStatements::Leave&) {
    NextStep step = statements.take();
    step.undo_from = statements.undo_from();
    return step;
  }
  if (!result)
    return {.kind = NextStep::Kind::Limit,
            .failure = {.sqlstate = "", .message = result.error().what}};
  return {.kind = result->committed ? NextStep::Kind::Commit : NextStep::Kind::Abort,
          .failure = {.sqlstate = result->sqlstate, .message = result->why_aborted},
          .locals = program_.locals_of(id, variables, result->returned),
          .undo_from = statements.undo_from()};
}

const NextStep& Machine::next(State& state, std::uint32_t session) const {
  SessionState& s = state.sessions[session];
  if (s.next == nullptr)
    s.next = std::make_shared<const NextStep>(find_next(s.call, state.txns[s.call + 1].log));
  if (s.next->undo_from && !s.has_undone) {
    s.has_undone = true;
    undo(state, session, *s.next->undo_from);
  }
  return *s.next;
}

// Takes back what the statements from this one on did. Who waited for it may go on.
void Machine::undo(State& state, std::uint32_t session, std::size_t from) const {
  const TxnNo txn = state.sessions[session].call + 1;
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

// A parked session waits for transactions of other sessions; a cycle of them is a deadlock.
std::vector<bool> Machine::in_deadlock(const State& state) const {
  const std::size_t n = state.sessions.size();
  std::vector<bool> is_in(n, false);
  const auto waits_for = [&](std::size_t session, std::size_t other) {
    const TxnNo txn = state.sessions[other].call + 1;
    return state.sessions[session].running &&
           std::ranges::find(state.sessions[session].blockers, txn) !=
               state.sessions[session].blockers.end() &&
           !is_done(state, static_cast<std::uint32_t>(other)) && state.running.contains(txn);
  };
  for (std::size_t from = 0; from < n; ++from) {
    if (!state.sessions[from].running) continue;
    std::vector<bool> reached(n, false);
    std::vector<std::size_t> stack = {from};
    while (!stack.empty() && !is_in[from]) {
      const std::size_t at = stack.back();
      stack.pop_back();
      for (std::size_t to = 0; to < n; ++to) {
        if (!waits_for(at, to)) continue;
        if (to == from) is_in[from] = true;
        if (reached[to]) continue;
        reached[to] = true;
        stack.push_back(to);
      }
    }
  }
  return is_in;
}

std::vector<Choice> Machine::choices(const State& state) const {
  std::vector<Choice> victims;
  std::vector<Choice> woken;
  std::vector<Choice> others;
  const std::vector<bool> deadlocked = in_deadlock(state);
  for (std::uint32_t s = 0; s < state.sessions.size(); ++s) {
    if (is_done(state, s)) continue;
    const SessionState& session = state.sessions[s];
    if (deadlocked[s]) {
      victims.push_back({s, true});
    } else if (!session.running) {
      others.push_back({s, false});
    } else if (std::ranges::none_of(session.blockers,
                                    [&](TxnNo txn) { return state.running.contains(txn); })) {
      woken.push_back({s, false});
    }
  }
  if (!late_wakeups_ && !woken.empty()) return woken;
  if (!late_wakeups_ && !victims.empty()) return victims;
  victims.insert(victims.end(), woken.begin(), woken.end());
  victims.insert(victims.end(), others.begin(), others.end());
  return victims;
}

StatementContext Machine::context(State& state, TxnNo txn, const Statement& statement) const {
  return {.app = program_.app(),
          .storage = state.storage,
          .committed = state.committed,
          .running_txns = state.running,
          .txn = txn,
          .keeps_snapshot = level(txn) != PgLevel::ReadCommitted,
          .txn_snapshot = state.txns[txn].snapshot,
          .is_scalar_subquery = is_scalar(program_.function(CallId{txn - 1}), statement)};
}

void Machine::begin_statement(State& state, TxnNo txn, const NextStep& next,
                              Running& running) const {
  TxnState& t = state.txns[txn];
  if (!next.statement->continues || t.command == 0) {
    ++t.command;
    if (level(txn) == PgLevel::ReadCommitted || !t.has_snapshot) t.snapshot = state.committed;
    t.has_snapshot = true;
  }
  state.storage.begin_command(txn, t.command);
  running.needs = next.needs;
  running.result.statement = next.statement;
  running.result.variables = next.variables;
  running.result.snapshot = t.snapshot;
  running.result.command = t.command;
}

StepDone Machine::run_statements(State& state, std::uint32_t session) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = s.call + 1;
  for (;;) {
    if (!s.running) begin_statement(state, txn, next(state, session), s.running.emplace());
    const Statement* statement = s.running->result.statement;
    Attempt attempt = go_on(context(state, txn, *statement), *s.running);
    switch (attempt.kind) {
      case Attempt::Kind::Waits:
        s.running->result.has_waited = true;
        s.blockers = std::move(attempt.blockers);
        return {StepDone::Kind::Waits, txn, statement};
      case Attempt::Kind::Failed:
        return fail(state, session, std::move(attempt.failure));
      case Attempt::Kind::Done:
        break;
    }
    s.running->result.digest = digest_of(program_.app(), state.storage, s.running->result);
    state.txns[txn].log.push_back(
        std::make_shared<const StatementResult>(std::move(s.running->result)));
    s.running.reset();
    s.blockers.clear();
    s.next.reset();
    s.has_undone = false;
    const NextStep& after = next(state, session);
    if (after.kind != NextStep::Kind::Statement || !after.statement->continues)
      return {StepDone::Kind::Answered, txn, statement};
  }
}

// The statement failed, and with it the transaction, unless an EXCEPTION block catches it.
StepDone Machine::fail(State& state, std::uint32_t session, Failure failure) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = s.call + 1;
  const Statement* statement = s.running->result.statement;
  if (!catches_[s.call]) {
    end(state, session, false, std::move(failure), {});
    return {StepDone::Kind::Aborted, txn, statement};
  }
  StatementResult& result = s.running->result;
  result.rows.clear();
  result.num_rows = 0;
  result.failure = std::move(failure);
  result.digest = digest_of(program_.app(), state.storage, result);
  state.txns[txn].log.push_back(std::make_shared<const StatementResult>(std::move(result)));
  s.running.reset();
  s.blockers.clear();
  s.next.reset();
  s.has_undone = false;
  const NextStep& after = next(state, session);
  if (after.kind != NextStep::Kind::Abort) return {StepDone::Kind::Answered, txn, statement};
  end(state, session, false, after.failure, {});
  return {StepDone::Kind::Aborted, txn, statement};
}

StepDone Machine::take(State& state, const Choice& choice) const {
  SessionState& s = state.sessions[choice.session];
  const TxnNo txn = s.call + 1;
  if (choice.is_victim) {
    return fail(state, choice.session, {.sqlstate = "40P01", .message = "deadlock"});
  }
  if (state.txns[txn].status == TxnStatus::Waiting) {
    state.txns[txn].status = TxnStatus::Running;
    state.running.insert(txn);
  }
  if (s.running) return run_statements(state, choice.session);
  const NextStep step = next(state, choice.session);
  switch (step.kind) {
    case NextStep::Kind::Statement:
      return run_statements(state, choice.session);
    case NextStep::Kind::Commit:
      if (level(txn) == PgLevel::Serializable && closes_cycle(*this, state, txn)) {
        end(state, choice.session, false,
            {.sqlstate = "40001", .message = "dependencies among transactions have a cycle"}, {});
        return {StepDone::Kind::Aborted, txn, nullptr};
      }
      end(state, choice.session, true, {}, step.locals);
      return {StepDone::Kind::Committed, txn, nullptr};
    case NextStep::Kind::Abort:
      end(state, choice.session, false, step.failure, step.locals);
      return {StepDone::Kind::Aborted, txn, nullptr};
    case NextStep::Kind::Limit:
      break;
  }
  return {StepDone::Kind::Limit, txn, nullptr};
}

void Machine::end(State& state, std::uint32_t session, bool commits, Failure failure,
                  std::vector<Value> locals) const {
  SessionState& s = state.sessions[session];
  const TxnNo txn = s.call + 1;
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
  s.running.reset();
  s.blockers.clear();
  s.next.reset();
  s.has_undone = false;
  ++s.call;
}

std::vector<std::vector<Value>> Machine::committed_rows(const State& state, TableId table) const {
  const Table& t = program_.app().table(table);
  std::map<std::vector<Value>, std::vector<Value>> rows;
  const View view{state.committed, UINT32_MAX, 0};
  for (const Storage::Seen& seen : state.storage.scan(table, view)) {
    const auto& values = state.storage.values(seen);
    std::vector<Value> shown;
    for (std::size_t c = 0; c < values.size(); ++c) {
      if (!t.columns[c].is_hidden) shown.push_back(values[c]);
    }
    rows.emplace(columns_of(values, t.primary_key), std::move(shown));
  }
  std::vector<std::vector<Value>> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace isoscope::sql::server
