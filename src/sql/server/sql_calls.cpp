#include "sql/server/sql_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/run/call_run.h"
#include "sql/run/statement_runner.h"
#include "sql/server/innodb_run.h"
#include "sql/server/no_database.h"

namespace isoscope::sql::server {
namespace {

constexpr std::size_t kMaxSteps = 100'000;

// Answers statements from the logs of a call's parts, and leaves the call at the first one, or the
// first end of a transaction, beyond them.
class LoggedStatements final : public StatementRunner {
 public:
  struct Leave {};

  explicit LoggedStatements(PartLogs logs) : logs_(std::move(logs)) {}

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
    if (!is_in_last_part() || num_answered_ < log().size()) return;
    undo_from_ = std::min(mark, undo_from_.value_or(mark));
  }

  bool end_transaction(CallState&, const Statement& statement) override {
    if (is_in_last_part()) {
      const bool commits = statement.as<EndTransaction>().commits;
      next_ = {.kind = commits ? NextStep::Kind::Commit : NextStep::Kind::Rollback,
               .statement = &statement,
               .goes_on = true};
      throw Leave{};
    }
    ++part_;
    num_answered_ = 0;
    return true;
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
    if (num_answered_ < log().size()) return *log()[num_answered_++];
    next_ = {.kind = NextStep::Kind::Statement,
             .statement = &statement,
             .variables = call.variables,
             .needs = needs};
    throw Leave{};
  }

  const Log& log() const { return *logs_[part_]; }
  bool is_in_last_part() const { return part_ + 1 == logs_.size(); }

  PartLogs logs_;
  std::size_t part_ = 0;
  std::size_t num_answered_ = 0;  // in it
  std::optional<std::size_t> undo_from_;
  NextStep next_;
};

bool has_catch(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.catches() || has_catch(s.body()) || has_catch(s.otherwise());
  });
}

bool has_draw(std::span<const Statement> body) {
  return std::ranges::any_of(body, [](const Statement& s) {
    return s.draws() || has_draw(s.body()) || has_draw(s.otherwise());
  });
}

void add_change(const Application& app, TableId table, Footprint& footprint) {
  footprint.touched.insert(table);
  footprint.changed.insert(table);
  for (const ForeignKey& key : app.table(table).foreign_keys) {
    footprint.touched.insert(key.target);
    footprint.changed.insert(key.target);  // locked
  }
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    for (const ForeignKey& key : app.tables[t].foreign_keys) {
      if (key.target != table) continue;
      footprint.touched.insert(TableId{t});
      footprint.changed.insert(TableId{t});
    }
  }
}

void add_statements(const Application& app, std::span<const Statement> statements,
                    Footprint& footprint) {
  for (const Statement& s : statements) {
    add_statement(app, s, footprint);
    add_statements(app, s.body(), footprint);
    add_statements(app, s.otherwise(), footprint);
    add_statements(app, s.handler(), footprint);
  }
}

// An INSERT reads nothing but what its foreign keys refer to, unless it says ON CONFLICT.
void add_guarded(const Application& app, std::span<const Statement> statements,
                 Footprint& guarded) {
  for (const Statement& s : statements) {
    Footprint all;
    add_statement(app, s, all);
    const auto* insert = s.find<Insert>();
    if (insert != nullptr && insert->conflict == OnConflict::Fail) {
      all.touched.clear();
      for (const ForeignKey& key : app.table(insert->table).foreign_keys)
        all.touched.insert(key.target);
    }
    all.changed.clear();
    if (const Write* write = s.write()) all.changed.insert(write->table);
    guarded.add(all);
    add_guarded(app, s.body(), guarded);
    add_guarded(app, s.otherwise(), guarded);
    add_guarded(app, s.handler(), guarded);
  }
}

}  // namespace

void add_statement(const Application& app, const Statement& s, Footprint& footprint) {
  if (s.advisory() != nullptr) {
    footprint.touched.insert(kAdvisoryLocks);
    footprint.changed.insert(kAdvisoryLocks);
  }
  const auto draw = [&](SequenceId sequence) {
    footprint.touched.insert(as_table(sequence));
    footprint.changed.insert(as_table(sequence));
  };
  if (const auto sequence = s.draws()) draw(*sequence);
  if (const auto* insert = s.find<Insert>()) {
    for (const Column& column : app.table(insert->table).columns) {
      if (column.drawn_from) draw(*column.drawn_from);
    }
  }
  if (const Query* query = s.query()) {
    for (const TableId source : query->sources) {
      footprint.touched.insert(source);
      if (query->lock != Lock::None) footprint.changed.insert(source);
    }
  }
  if (const Write* write = s.write()) add_change(app, write->table, footprint);
}

bool Footprint::meets(const Footprint& other) const {
  const auto shares = [](const std::set<TableId>& a, const std::set<TableId>& b) {
    return std::ranges::any_of(a, [&](TableId table) { return b.contains(table); });
  };
  return shares(changed, other.touched) || shares(touched, other.changed);
}

SqlCalls::SqlCalls(const SqlProgram& program, ServerKind server, const Budget& budget)
    : program_(program), server_(server), budget_(budget) {
  for (const CallId call : program.outline().calls.ids())
    catches_.push_back(has_catch(program.function(call).body));
}

Storage SqlCalls::storage() const {
  Storage storage(app());
  if (server_ == ServerKind::MariaDb) {
    storage.draw_beyond_rows(app());
    for (std::uint32_t t = 0; t < app().tables.size(); ++t)
      storage.table(TableId{t}).clustered_by = app().tables[t].primary_key;
  }
  return storage;
}

NextStep SqlCalls::find_next(CallId call, const Log& log, const PartLogs& before) const {
  PartLogs logs = before;
  logs.push_back(&log);
  LoggedStatements statements(std::move(logs));
  NoDatabase none;
  std::vector<Value> variables;
  Result<CallResult> result = CallResult{};
  try {
    result =
        run_call_with(program_.app(), program_.changes(), program_.function(call),
                      program_.arguments(call), none, kMaxSteps, &budget_, &variables, &statements);
  } catch (const LoggedStatements::Leave&) {
    NextStep step = statements.take();
    step.undo_from = statements.undo_from();
    return step;
  }
  if (!result && result.error().is_limit) {
    Error fault = result.error();
    fault.what = fmt::format("{}: {}", program_.outline().calls[call].name, fault.what);
    return {.kind = NextStep::Kind::Limit, .fault = std::move(fault)};
  }
  if (!result)
    return {.kind = NextStep::Kind::Limit,
            .failure = {.sqlstate = "", .message = result.error().what}};
  NextStep step{.kind = result->committed ? NextStep::Kind::Commit : NextStep::Kind::Abort,
                .failure = {.sqlstate = result->sqlstate, .message = result->why_aborted},
                .undo_from = statements.undo_from()};
  // The variables of a call that failed are not visible.
  if (result->committed) step.locals = program_.locals_of(call, variables, result->returned);
  return step;
}

Attempt SqlCalls::go_on(const StatementContext& context, Running& running) const {
  StatementContext with = context;
  const auto* select = running.result.statement->find<Select>();
  with.is_scalar_subquery = select != nullptr && select->is_scalar;
  if (server_ == ServerKind::MariaDb && !is_plain_read(*running.result.statement))
    return go_on_innodb(with, running);
  return server::go_on(with, running);
}

Footprint SqlCalls::footprint(CallId call) const {
  Footprint footprint;
  add_statements(program_.app(), program_.function(call).body, footprint);
  return footprint;
}

Footprint SqlCalls::guarded(CallId call) const {
  Footprint guarded;
  add_guarded(program_.app(), program_.function(call).body, guarded);
  return guarded;
}

bool SqlCalls::may_change(TableId table) const {
  if (!program_.changes().has_fixed_rows(table)) return true;
  for (const ColumnId c : app().table(table).columns.ids()) {
    if (program_.changes().is_updated(table, c)) return true;
  }
  return false;
}

bool SqlCalls::makes_fresh_values() const {
  for (std::uint32_t t = 0; t < app().tables.size(); ++t) {
    for (const Column& column : app().tables[t].columns) {
      if (column.is_fresh && !column.is_hidden && program_.changes().has_inserts(TableId{t}))
        return true;
    }
  }
  for (std::uint32_t call = 0; call < program_.outline().calls.size(); ++call) {
    if (has_draw(program_.function(CallId{call}).body)) return true;
  }
  return false;
}

}  // namespace isoscope::sql::server
