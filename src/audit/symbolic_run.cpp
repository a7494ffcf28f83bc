#include "audit/symbolic_run.h"

#include <fmt/format.h>

#include "support/assert.h"

namespace isoscope::audit {

using sql::StatementOp;

SymbolicRun::SymbolicRun(Symbols& symbols, Instance& instance, InstanceRules rules)
    : symbols_(symbols),
      function_(symbols.app().function(instance.function())),
      loops_(rules.loops),
      keys_are_unknown_(rules.keys_are_unknown && !rules.per_statement),
      per_statement_(rules.per_statement),
      instance_(instance),
      alive_(symbols.yes()),
      aborted_(symbols.no()) {}

void SymbolicRun::run() {
  SmtSolver& smt = symbols_.smt();
  for (std::size_t v = 0; v < function_.variables.size(); ++v) {
    const sql::Variable& declared = function_.variables[v];
    Variable variable{symbols_.null(), {}};
    const bool is_parameter = v < function_.num_parameters;
    const std::string name = fmt::format("{}.{}", instance_.name(), declared.name);
    if (declared.is_array) {
      // As a whole it may be NULL, too, though not in a witness.
      variable.value = symbols_.fresh_value(name, loops_ == Loops::AnyTwo || !is_parameter);
      variable.array = symbols_.fresh_array(name);
      instance_.facts.push_back(smt.number(0) <= variable.array->size);
      if (loops_ == Loops::AtMostTwo)
        instance_.facts.push_back(variable.array->size <= smt.number(2));
    } else if (is_parameter) {
      variable.value = symbols_.fresh_value(name, true);
      if (declared.type == sql::Type::Boolean) {
        instance_.facts.push_back(smt.number(0) <= variable.value.number &&
                                  variable.value.number <= smt.number(1));
      }
    }
    if (is_parameter) instance_.parameters.push_back({variable.value, variable.array});
    env_.push_back(variable);
  }
  if (function_.found) env_[function_.found->index].value = symbols_.truth(symbols_.no());
  run(function_.body);
  instance_.committed = !aborted_;
}

std::unique_ptr<Instance> make_instance(Symbols& symbols, sql::FunctionId function,
                                        std::string name, InstanceRules rules) {
  auto instance = std::make_unique<Instance>(symbols, function, std::move(name));
  auto run = std::make_shared<SymbolicRun>(symbols, *instance, rules);
  run->run();
  instance->keep(run);
  return instance;
}

void SymbolicRun::run(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) run(statement);
}

void SymbolicRun::begin(const sql::Statement& statement) {
  if (statement.is_sql() && !statement.continues) first_access_ = instance_.accesses.size();
  if (!per_statement_) return;
  const std::size_t count = moments_.begin(statement);
  if (!statement.is_sql()) return;
  instance_.moments.insert(instance_.moments.end(), count, alive_);
  at_ = moments_.moment(statement);
  reads_at_ = at_;
}

void SymbolicRun::run(const sql::Statement& statement) {
  begin(statement);
  switch (statement.op) {
    case StatementOp::Select:
      if (statement.advisory) {
        take_advisory(statement);
      } else if (statement.query.rows) {
        select_rows(statement);
      } else if (statement.into_rows) {
        select_into_rows(statement);
      } else if (statement.query.is_aggregate()) {
        aggregate_into(statement);
      } else {
        select_into(statement);
      }
      return;
    case StatementOp::Insert:
      insert(statement);
      return;
    case StatementOp::Update:
      update(statement);
      return;
    case StatementOp::Delete:
      remove(statement);
      return;
    case StatementOp::Assign: {
      const sql::VarId target = statement.targets.front();
      Variable& variable = env_[target.index];
      if (statement.index) {  // an element: the array as a whole is unknown from here on
        forget_rows(target);
      } else if (variable.array && statement.expr->op == sql::ExprOp::ArrayOf &&
                 statement.expr->args.empty()) {
        clear_rows(target);
      } else if (variable.array) {
        set_array(variable, array(*statement.expr, here()), eval(*statement.expr, here()));
      } else {
        variable.value =
            symbols_.choose_value(alive_, eval(*statement.expr, here()), variable.value);
      }
      return;
    }
    case StatementOp::If:
      branch(statement);
      return;
    case StatementOp::ForQuery:
    case StatementOp::ForRange:
    case StatementOp::ForArray:
    case StatementOp::While:
      loop(statement);
      return;
    case StatementOp::Exit:
    case StatementOp::Continue: {
      const SmtTerm taken = alive_ && is_true(statement.expr, here());
      ISO_ASSERT(statement.depth < loop_frames_.size());
      LoopFrame& frame = loop_frames_[loop_frames_.size() - 1 - statement.depth];
      SmtTerm& where = statement.op == StatementOp::Exit ? frame.exited : frame.continued;
      where = where || taken;
      alive_ = alive_ && !taken;
      return;
    }
    case StatementOp::Return:
      alive_ = symbols_.no();
      return;
    case StatementOp::ReturnRow:
      return;
    case StatementOp::Raise:
      abort_if(alive_);
      return;
    case StatementOp::Append: {
      std::vector<SymValue> values;
      for (const sql::Expr& expr : statement.returning) values.push_back(eval(expr, here()));
      append_row(statement.targets.front(), alive_, std::move(values));
      return;
    }
    case StatementOp::Block:
      block(statement);
      return;
  }
}

// Of an EXCEPTION block the formulas know only how it goes if nothing fails (model_notes.h).
void SymbolicRun::block(const sql::Statement& statement) {
  loop_frames_.push_back({symbols_.no(), symbols_.no()});
  run(statement.body);
  alive_ = alive_ || loop_frames_.back().exited;
  loop_frames_.pop_back();
}

SymbolicRun::Env SymbolicRun::merge(SmtTerm condition, const Env& yes, const Env& no) {
  Env merged = yes;
  for (std::size_t v = 0; v < merged.size(); ++v) {
    merged[v].value = symbols_.choose_value(condition, yes[v].value, no[v].value);
    if (yes[v].array && no[v].array && yes[v].array->element.index != no[v].array->element.index) {
      merged[v].array = symbols_.fresh_array("either");
      instance_.facts.push_back(
          equals(merged[v].array->size, choose(condition, yes[v].array->size, no[v].array->size)));
    }
    merged[v].rows = merge_rows(yes[v], no[v]);
  }
  return merged;
}

void SymbolicRun::branch(const sql::Statement& first) {
  // What the branches leave, first to last; chains of ELSIF are long, so there is no recursion.
  struct Taken {
    SmtTerm condition;
    Env after;
    SmtTerm alive;
  };
  std::vector<Taken> taken;
  for (const sql::Statement* statement = &first; statement != nullptr;
       statement = statement->next_branch()) {
    if (statement != &first) begin(*statement);
    const SmtTerm condition = is_true(*statement->expr, here());
    const Env before = env_;
    const SmtTerm alive = alive_;
    alive_ = alive && condition;
    run(statement->body);
    taken.push_back({condition, std::move(env_), alive_});
    env_ = before;
    alive_ = alive && !condition;
    const bool is_last = statement->next_branch() == nullptr;
    run({statement->otherwise.data(), statement->otherwise.size() - (is_last ? 0 : 1)});
  }
  for (auto branch = taken.rbegin(); branch != taken.rend(); ++branch) {
    env_ = merge(branch->condition, branch->after, env_);
    alive_ = branch->alive || alive_;
  }
}

void SymbolicRun::assign(sql::VarId var, SymValue value) {
  if (env_[var.index].array) forget_rows(var);
  env_[var.index].value = value;
}

// Variables that the body assigns have any value.
void SymbolicRun::forget(const std::vector<sql::Statement>& body) {
  for (const sql::Statement& statement : body) {
    for (const sql::VarId target : statement.targets) {
      if (env_[target.index].array) forget_rows(target);
      env_[target.index].value = symbols_.fresh_value("some_round", true);
    }
    if (statement.into_rows) forget_rows(*statement.into_rows);
    if (function_.found && (statement.op <= StatementOp::Delete || !statement.body.empty()))
      env_[function_.found->index].value = symbols_.fresh_value("some_round.found", false);
    if (function_.row_count && statement.op <= StatementOp::Delete)
      env_[function_.row_count->index].value = symbols_.fresh_value("some_round.count", false);
    forget(statement.body);
    forget(statement.otherwise);
  }
}

// Other rounds may have written what the body writes.
void SymbolicRun::disturb(const std::vector<sql::Statement>& body) {
  for (const sql::Statement& statement : body) {
    const std::uint32_t table = statement.table.index;
    if (statement.op == StatementOp::Insert || statement.op == StatementOp::Delete)
      disturbed_.insert({table, kPresence});
    if (statement.op >= StatementOp::Insert && statement.op <= StatementOp::Delete)
      disturbed_.insert({table, kUniqueEntry});
    if (statement.op == StatementOp::Insert) {
      const auto& columns = symbols_.app().tables[table].columns;
      for (std::uint32_t column = 0; column < columns.size(); ++column)
        disturbed_.insert({table, column});
    }
    if (statement.op == StatementOp::Update) {
      for (const sql::SetColumn& set : statement.sets) disturbed_.insert({table, set.column});
    }
    disturb(statement.body);
    disturb(statement.otherwise);
  }
}

namespace {

bool leaves(const std::vector<sql::Statement>& body) {
  for (const sql::Statement& statement : body) {
    if (statement.op == StatementOp::Return || statement.op == StatementOp::Exit) return true;
    if (leaves(statement.body) || leaves(statement.otherwise)) return true;
  }
  return false;
}

}  // namespace

void SymbolicRun::loop(const sql::Statement& statement) {
  loop_frames_.push_back({symbols_.no(), symbols_.no()});
  const SmtTerm alive = alive_;
  const std::size_t first_access = instance_.accesses.size();
  const SmtTerm had_round =
      loops_ == Loops::AnyTwo ? loop_any_two(statement) : loop_at_most_two(statement);
  // Rows are fetched, and locked, while the loop runs.
  if (per_statement_ && loops_ == Loops::AnyTwo && statement.op == StatementOp::ForQuery) {
    for (std::size_t i = first_access; i < instance_.accesses.size(); ++i) {
      Access& access = instance_.accesses[i];
      if (access.kind != AccessKind::Lock || access.statement != statement.number) continue;
      access.step = moments_.count() - 1;
    }
  }
  loop_frames_.pop_back();
  // FOUND says after a loop over something whether there was a round.
  if (!function_.found || statement.op == StatementOp::While) return;
  SymValue& found = env_[function_.found->index].value;
  found = symbols_.choose_value(alive, symbols_.truth(had_round), found);
}

SmtTerm SymbolicRun::loop_any_two(const sql::Statement& statement) {
  disturb(statement.body);
  forget(statement.body);
  const SmtTerm alive = alive_;
  SmtTerm goes_on = alive;
  for (const Round& round : rounds_of(statement)) {
    for (const auto& [var, value] : round.targets) assign(var, value);
    SmtTerm active = round.active;
    if (statement.op == StatementOp::While) active = active && is_true(statement.expr, here());
    alive_ = alive && active;
    loop_frames_.back() = {symbols_.no(), symbols_.no()};
    run(statement.body);
    // A round that left the function, or the loop, is the last one.
    const SmtTerm left =
        alive && active && !alive_ && !loop_frames_.back().continued && !loop_frames_.back().exited;
    goes_on = goes_on && !left;
    forget(statement.body);
    for (const sql::VarId target : statement.targets)
      assign(target, symbols_.fresh_value("after_loop", true));
  }
  alive_ = goes_on;
  if (leaves(statement.body)) alive_ = alive_ && symbols_.fresh_truth("loop_ended");
  return symbols_.fresh_truth("had_round");
}

SmtTerm SymbolicRun::loop_at_most_two(const sql::Statement& statement) {
  const std::vector<Round> rounds = rounds_of(statement);
  for (const Round& round : rounds) {
    const Env before = env_;
    const SmtTerm alive = alive_;
    SmtTerm active = round.active;
    for (const auto& [var, value] : round.targets) assign(var, value);
    if (statement.op == StatementOp::While) active = active && is_true(statement.expr, here());
    alive_ = alive && active;
    loop_frames_.back().continued = symbols_.no();
    run(statement.body);
    env_ = merge(alive && active, env_, before);
    alive_ = alive_ || loop_frames_.back().continued || (alive && !active);
  }
  if (statement.op == StatementOp::While) {
    // A third round does not happen.
    instance_.facts.push_back(implies(alive_, !is_true(statement.expr, here())));
  }
  alive_ = alive_ || loop_frames_.back().exited;
  std::vector<SmtTerm> active;
  for (const Round& round : rounds) active.push_back(round.active);
  return symbols_.any(active);
}

}  // namespace isoscope::audit
