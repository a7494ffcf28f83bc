#include "audit/symbolic_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/statement_walk.h"
#include "support/assert.h"

namespace isoscope::audit {

SymbolicRun::SymbolicRun(Symbols& symbols, Instance& instance)
    : symbols_(symbols),
      function_(symbols.app().function(instance.function())),
      loops_(instance.rules().loops),
      keys_are_unknown_(instance.rules().keys_are_unknown && !instance.rules().per_statement),
      per_statement_(instance.rules().per_statement),
      instance_(instance),
      terms_(symbols, instance),
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
  auto instance = std::make_unique<Instance>(symbols, function, std::move(name), rules);
  SymbolicRun(symbols, *instance).run();
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
  std::visit(sql::Overloaded{
                 [&](const sql::Select& kind) { run_select(statement, kind); },
                 [&](const sql::Insert& kind) { insert(statement, kind); },
                 [&](const sql::Update& kind) { update(statement, kind); },
                 [&](const sql::Delete& kind) { remove(statement, kind); },
                 [&](const sql::Assign& kind) { assign(kind); },
                 [&](const sql::If& kind) { branch(kind); },
                 [&](const sql::ForQuery&) { loop(statement); },
                 [&](const sql::ForRange&) { loop(statement); },
                 [&](const sql::ForArray&) { loop(statement); },
                 [&](const sql::While&) { loop(statement); },
                 [&](const sql::Exit& kind) { jump(kind, &LoopFrame::exited); },
                 [&](const sql::Continue& kind) { jump(kind, &LoopFrame::continued); },
                 [&](const sql::Return&) { alive_ = symbols_.no(); },
                 [](const sql::ReturnRow&) {},
                 [&](const sql::Raise&) { abort_if(alive_); },
                 [&](const sql::Append& kind) {
                   std::vector<SymValue> values;
                   for (const sql::Expr& expr : kind.values)
                     values.push_back(terms_.eval(expr, here()));
                   append_row(kind.rows, alive_, std::move(values));
                 },
                 [&](const sql::Block& kind) { block(kind); },
             },
             statement.kind);
}

void SymbolicRun::run_select(const sql::Statement& statement, const sql::Select& select) {
  if (select.advisory) {
    take_advisory(statement, select);
  } else if (select.query.rows) {
    select_rows(select);
  } else if (select.into_rows) {
    select_into_rows(statement, select);
  } else if (select.query.is_aggregate()) {
    aggregate_into(statement, select);
  } else {
    select_into(statement, select);
  }
}

void SymbolicRun::assign(const sql::Assign& statement) {
  const sql::Expr& value = statement.value;
  Variable& variable = env_[statement.target.index];
  if (statement.index) {  // an element: the array as a whole is unknown from here on
    forget_rows(statement.target);
  } else if (variable.array && value.op == sql::ExprOp::ArrayOf && value.args.empty()) {
    clear_rows(statement.target);
  } else if (variable.array) {
    set_array(variable, terms_.array(value, here()), terms_.eval(value, here()));
  } else {
    variable.value = symbols_.choose_value(alive_, terms_.eval(value, here()), variable.value);
  }
}

void SymbolicRun::jump(const sql::Jump& statement, SmtTerm LoopFrame::*where) {
  const SmtTerm taken = alive_ && terms_.is_true(statement.condition, here());
  ISO_ASSERT(statement.depth < loop_frames_.size());
  LoopFrame& frame = loop_frames_[loop_frames_.size() - 1 - statement.depth];
  frame.*where = frame.*where || taken;
  alive_ = alive_ && !taken;
}

// Of an EXCEPTION block the formulas know only how it goes if nothing fails (model_notes.h).
void SymbolicRun::block(const sql::Block& statement) {
  loop_frames_.push_back({symbols_.no(), symbols_.no()});
  run(statement.body);
  alive_ = alive_ || loop_frames_.back().exited;
  loop_frames_.pop_back();
}

Env SymbolicRun::merge(SmtTerm condition, const Env& yes, const Env& no) {
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

void SymbolicRun::branch(const sql::If& first) {
  // What the branches leave, first to last; chains of ELSIF are long, so there is no recursion.
  struct Taken {
    SmtTerm condition;
    Env after;
    SmtTerm alive;
  };
  std::vector<Taken> taken;
  for (const sql::If* statement = &first; statement != nullptr;) {
    const SmtTerm condition = terms_.is_true(statement->condition, here());
    const Env before = env_;
    const SmtTerm alive = alive_;
    alive_ = alive && condition;
    run(statement->body);
    taken.push_back({condition, std::move(env_), alive_});
    env_ = before;
    alive_ = alive && !condition;
    const sql::Statement* next = next_branch(*statement);
    run({statement->otherwise.data(), statement->otherwise.size() - (next == nullptr ? 0 : 1)});
    if (next != nullptr) begin(*next);
    statement = next != nullptr ? &next->as<sql::If>() : nullptr;
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
void SymbolicRun::forget(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) {
    for (const sql::VarId target : statement.targets()) {
      if (env_[target.index].array) forget_rows(target);
      env_[target.index].value = symbols_.fresh_value("some_round", true);
    }
    if (const auto rows = statement.into_rows()) forget_rows(*rows);
    const bool tells_rows = statement.is<sql::Select>() || statement.write() != nullptr;
    if (function_.found && (tells_rows || !statement.body().empty()))
      env_[function_.found->index].value = symbols_.fresh_value("some_round.found", false);
    if (function_.row_count && tells_rows)
      env_[function_.row_count->index].value = symbols_.fresh_value("some_round.count", false);
    forget(statement.body());
    forget(statement.otherwise());
  }
}

// Other rounds may have written what the body writes.
void SymbolicRun::disturb(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) {
    if (const sql::Write* write = statement.write()) {
      const std::uint32_t table = write->table.index;
      disturbed_.insert({table, kUniqueEntry});
      if (!statement.is<sql::Update>()) disturbed_.insert({table, kPresence});
      if (statement.is<sql::Insert>()) {
        const auto& columns = symbols_.app().tables[table].columns;
        for (std::uint32_t column = 0; column < columns.size(); ++column)
          disturbed_.insert({table, column});
      }
      if (const auto* update = statement.find<sql::Update>()) {
        for (const sql::SetColumn& set : update->sets) disturbed_.insert({table, set.column});
      }
    }
    disturb(statement.body());
    disturb(statement.otherwise());
  }
}

namespace {

bool leaves(std::span<const sql::Statement> body) {
  return std::ranges::any_of(body, [](const sql::Statement& statement) {
    return statement.is<sql::Return>() || statement.is<sql::Exit>() || leaves(statement.body()) ||
           leaves(statement.otherwise());
  });
}

}  // namespace

void SymbolicRun::loop(const sql::Statement& statement) {
  loop_frames_.push_back({symbols_.no(), symbols_.no()});
  const SmtTerm alive = alive_;
  const std::size_t first_access = instance_.accesses.size();
  const SmtTerm had_round =
      loops_ == Loops::AnyTwo ? loop_any_two(statement) : loop_at_most_two(statement);
  // Rows are fetched, and locked, while the loop runs.
  if (per_statement_ && loops_ == Loops::AnyTwo && statement.is<sql::ForQuery>()) {
    for (std::size_t i = first_access; i < instance_.accesses.size(); ++i) {
      Access& access = instance_.accesses[i];
      if (access.kind != AccessKind::Lock || access.statement != statement.number) continue;
      access.step = moments_.count() - 1;
    }
  }
  loop_frames_.pop_back();
  // FOUND says after a loop over something whether there was a round.
  if (!function_.found || statement.is<sql::While>()) return;
  SymValue& found = env_[function_.found->index].value;
  found = symbols_.choose_value(alive, symbols_.truth(had_round), found);
}

SmtTerm SymbolicRun::loop_any_two(const sql::Statement& statement) {
  const auto* while_loop = statement.find<sql::While>();
  disturb(statement.body());
  forget(statement.body());
  const SmtTerm alive = alive_;
  SmtTerm goes_on = alive;
  for (const Round& round : rounds_of(statement)) {
    for (const auto& [var, value] : round.targets) assign(var, value);
    SmtTerm active = round.active;
    if (while_loop != nullptr) active = active && terms_.is_true(while_loop->condition, here());
    alive_ = alive && active;
    loop_frames_.back() = {symbols_.no(), symbols_.no()};
    run(statement.body());
    // A round that left the function, or the loop, is the last one.
    const SmtTerm left =
        alive && active && !alive_ && !loop_frames_.back().continued && !loop_frames_.back().exited;
    goes_on = goes_on && !left;
    forget(statement.body());
    for (const sql::VarId target : statement.targets())
      assign(target, symbols_.fresh_value("after_loop", true));
  }
  alive_ = goes_on;
  if (leaves(statement.body())) alive_ = alive_ && symbols_.fresh_truth("loop_ended");
  return symbols_.fresh_truth("had_round");
}

SmtTerm SymbolicRun::loop_at_most_two(const sql::Statement& statement) {
  const auto* while_loop = statement.find<sql::While>();
  const std::vector<Round> rounds = rounds_of(statement);
  for (const Round& round : rounds) {
    const Env before = env_;
    const SmtTerm alive = alive_;
    SmtTerm active = round.active;
    for (const auto& [var, value] : round.targets) assign(var, value);
    if (while_loop != nullptr) active = active && terms_.is_true(while_loop->condition, here());
    alive_ = alive && active;
    loop_frames_.back().continued = symbols_.no();
    run(statement.body());
    env_ = merge(alive && active, env_, before);
    alive_ = alive_ || loop_frames_.back().continued || (alive && !active);
  }
  if (while_loop != nullptr) {
    // A third round does not happen.
    instance_.facts.push_back(implies(alive_, !terms_.is_true(while_loop->condition, here())));
  }
  alive_ = alive_ || loop_frames_.back().exited;
  std::vector<SmtTerm> active;
  for (const Round& round : rounds) active.push_back(round.active);
  return symbols_.any(active);
}

}  // namespace isoscope::audit
