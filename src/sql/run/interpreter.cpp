#include "sql/run/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/digits_limit.h"
#include "sql/exclusions.h"
#include "sql/functions.h"
#include "sql/run/call_run.h"
#include "sql/run/call_state.h"
#include "sql/run/modify.h"
#include "sql/run/query.h"
#include "sql/run/row_set.h"
#include "sql/run/statement_runner.h"
#include "sql/sqlstates.h"

namespace isoscope::sql {
namespace {

// What follows a statement: the next one, or a jump out of loops.
struct Next {
  enum class Kind : std::uint8_t { Statement, Exit, Continue, Return };
  Kind kind = Kind::Statement;
  std::uint32_t depth = 0;  // loops still to leave

  bool is_statement() const { return kind == Kind::Statement; }
};

// The SQLSTATE of an error: as who raised it says, else by what it says. Empty if it is not known.
std::string known_sqlstate(const CallState& call, const Error& error) {
  return call.sqlstate.empty() ? sqlstate_of_error(error.what) : call.sqlstate;
}

std::string sqlstate_of(const CallState& call, const Error& error) {
  const std::string known = known_sqlstate(call, error);
  return known.empty() ? "P0001" : known;
}

// Does the statement write what an EXCLUDE constraint looks at?
bool enters_exclusion(const Statement& statement, const Table& table) {
  const auto* update = statement.find<Update>();
  if (statement.is<Delete>()) return false;
  return std::ranges::any_of(table.exclusions, [&](const Exclusion& exclusion) {
    return update == nullptr || std::ranges::any_of(update->sets, [&](const SetColumn& set) {
             return mentions(exclusion, set.column);
           });
  });
}

class CallRun {
 public:
  CallRun(const Application& app, const Changes& changes, const Function& function,
          std::span<const Value> arguments, Database& database, std::size_t max_steps,
          Budget* budget, StatementRunner* runner)
      : function_(function),
        call_{app, changes, database, budget},
        max_steps_(max_steps),
        runner_(runner) {
    call_.variables.resize(function.variables.size());
    for (std::size_t i = 0; i < arguments.size() && i < function.num_parameters; ++i)
      call_.variables[i] = arguments[i];
    if (function.found) variable(*function.found) = Value(false);
    if (function.row_count) variable(*function.row_count) = Value(std::int64_t{0});
  }

  Result<CallResult> run() {
    auto ended = run_all(function_.body);
    if (!ended) {
      if (call_.is_limit || ended.error().is_limit) return ended.error();
      return CallResult{.committed = false,
                        .why_aborted = ended.error().what,
                        .sqlstate = sqlstate_of(call_, ended.error())};
    }
    return CallResult{.committed = true, .why_aborted = {}, .returned = std::move(returned_)};
  }

  std::vector<Value>& variables() { return call_.variables; }

 private:
  Value& variable(VarId var) { return call_.variables[var.index]; }
  Result<Value> value(const Expr& expr) { return evaluate(expr, call_.variables); }

  Result<void> step() {
    if (call_.is_over()) return call_.limit(limit_reached() + " was reached");
    if (++num_steps_ <= max_steps_) return {};
    return call_.limit(fmt::format("{} runs more than {} statements", function_.name, max_steps_));
  }

  Result<Next> run_all(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (auto counted = step(); !counted) return counted.error();
      auto next = run_one(statement);
      if (!next || !next->is_statement()) return next;
    }
    return Next{};
  }

  Result<Next> run_one(const Statement& s) {
    call_.database.begin(s);
    if (s.is_sql() && !s.continues) call_.changed_rows.clear();
    return std::visit([&](const auto& kind) { return run(s, kind); }, s.kind);
  }

  // Chains of ELSIF are long: they are gone through in a loop.
  Result<Next> run(const Statement&, const If& first) {
    for (const If* s = &first;;) {
      auto condition = value(s->condition);
      if (!condition) return condition.error();
      if (is_true(*condition)) return run_all(s->body);
      const Statement* next = next_branch(*s);
      if (next == nullptr) return run_all(s->otherwise);
      auto ahead = run_all({s->otherwise.data(), s->otherwise.size() - 1});
      if (!ahead || !ahead->is_statement()) return ahead;
      if (auto counted = step(); !counted) return counted.error();
      call_.database.begin(*next);
      s = &next->as<If>();
    }
  }

  // FOUND and ROW_COUNT, where the function looks at them.
  void tell_rows(std::size_t count) {
    if (function_.found) variable(*function_.found) = Value(count > 0);
    if (function_.row_count)
      variable(*function_.row_count) = Value(static_cast<std::int64_t>(count));
  }

  // The targets get the values, and NULL where there are none.
  Result<void> store(VarId target, Value value) {
    const Variable& declared = function_.variables[target.index];
    const auto* number = std::get_if<Decimal>(&value.data);
    if (number != nullptr && !declared.is_hidden && declared.width.bits != kAnyScale) {
      const auto shown = rounded(*number, declared.width.bits);
      if (!shown) return too_many_digits();
      value = Value(*shown);
    }
    if (auto misfit = why_not_in(declared.width, value)) return *misfit;
    variable(target) = kept_in(declared.width, std::move(value));
    return {};
  }
  Result<void> store(const std::vector<VarId>& targets, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      auto stored = store(targets[i], i < values.size() ? values[i] : Value());
      if (!stored) return stored;
    }
    return {};
  }

  Result<std::vector<std::vector<Value>>> query(const Statement& s, const QueryNeeds& needs) {
    const Query& query = *s.query();
    if (query.rows) return run_row_query(call_, query, needs);
    if (s.advisory() != nullptr && runner_ == nullptr) return take_advisory(s.as<Select>());
    if (s.draws() && runner_ == nullptr) {
      if (call_.database.may_meet_rows(*s.draws()))
        return call_.limit(may_be_taken(call_.app, *s.draws()));
      return std::vector<std::vector<Value>>{{Value(call_.database.draw(*s.draws()))}};
    }
    return runner_ != nullptr ? runner_->query(call_, s, needs) : run_query(call_, query, needs);
  }

  // A NULL locks nothing.
  Result<std::vector<std::vector<Value>>> take_advisory(const Select& s) {
    std::vector<Value> numbers;
    for (const Output& output : s.query.outputs) {
      auto number = value(output.expr);
      if (!number) return number.error();
      if (number->is_null()) return std::vector<std::vector<Value>>{{Value()}};
      numbers.push_back(*std::move(number));
    }
    if (!call_.database.take_advisory(numbers, *s.advisory))
      return call_.limit("an advisory lock needs a level of a server");
    return std::vector<std::vector<Value>>{{s.advisory->is_tried ? Value(true) : Value()}};
  }

  Result<Next> run(const Statement& statement, const Select& s) {
    const bool is_performed = s.targets.empty();
    QueryNeeds needs{.max_rows = s.strict ? std::size_t{2} : std::size_t{1},
                     .outputs = !s.exists && !is_performed};
    // PERFORM goes through all its rows; without a lock or a count, that has no effect.
    if (is_performed && (s.query.lock != Lock::None || function_.row_count)) needs.max_rows = kAll;
    if (s.into_rows) needs = {};
    const bool is_value = s.query.rows && s.is_scalar;
    if (is_value) needs.max_rows = 2;
    auto rows = query(statement, needs);
    if (!rows) return rows.error();
    if (is_value && rows->size() > 1) return Error{.what = std::string(kSecondRow)};
    if (s.into_rows) {
      variable(*s.into_rows) = Value(std::vector<Value>());
      for (auto& row : *rows) append_row(variable(*s.into_rows), std::move(row));
      return Next{};
    }
    if (s.exists) {
      variable(s.targets.front()) = Value(!rows->empty());
      return Next{};  // part of an expression: FOUND stays as it is
    }
    if (!s.in_expression) tell_rows(rows->size());
    if (s.strict && rows->size() != 1)
      return Error{.what = rows->empty() ? "a query returned no rows"
                                         : "a query returned more than one row"};
    if (auto stored = store(s.targets, rows->empty() ? std::vector<Value>() : rows->front());
        !stored)
      return stored.error();
    return Next{};
  }

  Result<Next> run(const Statement& statement, const Write& s) {
    if (runner_ == nullptr && enters_exclusion(statement, call_.app.table(s.table)))
      return call_.limit(
          "EXCLUDE, and UNIQUE of some rows or of expressions, are not modelled here");
    const bool counts = function_.found || function_.row_count;
    auto modified = runner_ != nullptr ? runner_->modify(call_, statement)
                                       : run_modification(call_, statement, counts);
    if (!modified) return modified.error();
    // INTO looks at two rows at most.
    const bool is_into = !s.into_rows && !s.returning.empty();
    tell_rows(is_into ? std::min<std::size_t>(modified->num_rows, 2) : modified->num_rows);
    if (s.into_rows) {
      for (auto& row : modified->returning) append_row(variable(*s.into_rows), std::move(row));
    } else if (!s.returning.empty()) {
      const auto& rows = modified->returning;
      if (rows.size() > 1) return Error{.what = "a query returned more than one row"};
      if (s.strict && rows.empty()) return Error{.what = "a query returned no rows"};
      if (auto stored = store(s.targets, rows.empty() ? std::vector<Value>() : rows.front());
          !stored)
        return stored.error();
    }
    return Next{};
  }

  Result<Next> run(const Statement&, const Assign& s) {
    auto assigned = value(s.value);
    if (!assigned) return assigned.error();
    if (!s.index) {
      if (auto stored = store(s.target, *std::move(assigned)); !stored) return stored.error();
      return Next{};
    }
    Value& target = variable(s.target);
    auto index = value(*s.index);
    if (!index) return index.error();
    const auto* at = std::get_if<std::int64_t>(&index->data);
    if (at == nullptr || *at < 1 || *at > static_cast<std::int64_t>(kMaxLength))
      return Error{.what = fmt::format("{} is no index of an array", print(*index))};
    if (target.is_null()) target = Value(std::vector<Value>());
    auto* elements = std::get_if<std::vector<Value>>(&target.data);
    if (elements == nullptr) return Error{.what = "a variable is no array"};
    const auto position = static_cast<std::size_t>(*at);
    if (elements->size() < position) elements->resize(position);
    (*elements)[position - 1] = *std::move(assigned);
    return Next{};
  }

  // One round of a loop's body. Returns nothing if the loop goes on, else what follows the loop.
  Result<std::optional<Next>> round(std::span<const Statement> body) {
    using Answer = std::optional<Next>;
    if (auto counted = step(); !counted) return counted.error();
    auto next = run_all(body);
    if (!next) return next.error();
    switch (next->kind) {
      case Next::Kind::Statement: return Answer();
      case Next::Kind::Return: return Answer(*next);
      case Next::Kind::Continue:
        if (next->depth == 0) return Answer();
        break;
      case Next::Kind::Exit:
        if (next->depth == 0) return Answer(Next{});
        break;
    }
    return Answer(Next{next->kind, next->depth - 1});
  }

  // FOUND says after a loop over something whether there was a round.
  Next leave_loop(Next next, bool had_round) {
    if (function_.found) variable(*function_.found) = Value(had_round);
    return next;
  }

  Result<Next> run(const Statement& statement, const ForQuery& s) {
    auto rows = query(statement, {});
    if (!rows) return rows.error();
    if (rows->empty()) {  // the targets do not keep what they were
      if (auto stored = store(s.targets, {}); !stored) return stored.error();
    }
    for (const auto& row : *rows) {
      if (auto stored = store(s.targets, row); !stored) return stored.error();
      auto left = round(s.body);
      if (!left) return left.error();
      if (*left) return leave_loop(**left, true);
    }
    return leave_loop({}, !rows->empty());
  }

  Result<Next> run(const Statement&, const ForRange& s) {
    std::int64_t bounds[3] = {0, 0, 1};
    const Expr* exprs[3] = {&s.from, &s.to, s.step ? &*s.step : nullptr};
    for (std::size_t i = 0; i < 3; ++i) {
      if (exprs[i] == nullptr) continue;
      auto bound = value(*exprs[i]);
      if (!bound) return bound.error();
      const auto* number = std::get_if<std::int64_t>(&bound->data);
      if (number == nullptr && s.of_rows) return leave_loop({}, false);
      if (number == nullptr) return Error{.what = std::string(kNullBound)};
      if (auto misfit = why_not_in(function_.variables[s.target.index].width, *bound))
        return *misfit;
      bounds[i] = *number;
    }
    const auto [first, last, width] = bounds;
    if (s.of_rows && width == 0) return Error{.what = std::string(kZeroStep)};
    if (!s.of_rows && width <= 0) return Error{.what = std::string(kIdleStep)};
    std::int64_t at = first;
    bool had_round = false;
    const bool goes_down = s.descending || width < 0;
    while (goes_down ? at >= last : at <= last) {
      had_round = true;
      variable(s.target) = Value(at);
      auto left = round(s.body);
      if (!left) return left.error();
      if (*left) return leave_loop(**left, true);
      const bool is_over = s.descending ? __builtin_sub_overflow(at, width, &at)
                                        : __builtin_add_overflow(at, width, &at);
      if (is_over) break;
    }
    return leave_loop({}, had_round);
  }

  Result<Next> run(const Statement&, const ForArray& s) {
    auto array = value(s.array);
    if (!array) return array.error();
    const auto* elements = std::get_if<std::vector<Value>>(&array->data);
    if (elements == nullptr && s.of_rows) return leave_loop({}, false);
    if (elements == nullptr) return Error{.what = std::string(kNullArray)};
    for (const Value& element : *elements) {
      if (auto stored = store(s.target, element); !stored) return stored.error();
      auto left = round(s.body);
      if (!left) return left.error();
      if (*left) return leave_loop(**left, true);
    }
    return leave_loop({}, !elements->empty());
  }

  Result<Next> run(const Statement&, const While& s) {
    for (;;) {
      if (s.condition) {
        auto goes_on = value(*s.condition);
        if (!goes_on) return goes_on.error();
        if (!is_true(*goes_on)) return Next{};
      }
      auto left = round(s.body);
      if (!left) return left.error();
      if (*left) return **left;
    }
  }

  Result<Next> run(const Statement& statement, const Jump& s) {
    if (s.condition) {
      auto applies = value(*s.condition);
      if (!applies) return applies.error();
      if (!is_true(*applies)) return Next{};
    }
    return Next{statement.is<Exit>() ? Next::Kind::Exit : Next::Kind::Continue, s.depth};
  }

  Result<void> give_back(const std::optional<Expr>& expr) {
    if (!expr) return {};
    auto returned = value(*expr);
    if (!returned) return returned.error();
    returned_.push_back(*std::move(returned));
    return {};
  }

  Result<Next> run(const Statement&, const Return& s) {
    if (auto given = give_back(s.value); !given) return given.error();
    return Next{Next::Kind::Return, 0};
  }

  Result<Next> run(const Statement&, const ReturnRow& s) {
    if (auto given = give_back(s.value); !given) return given.error();
    return Next{};
  }

  Result<Next> run(const Statement&, const Append& s) {
    std::vector<Value> row;
    for (const Expr& expr : s.values) {
      auto known = value(expr);
      if (!known) return known.error();
      row.push_back(*std::move(known));
    }
    append_row(variable(s.rows), std::move(row));
    return Next{};
  }

  // The server has no transaction to end inside of a block with a handler, which is one by itself.
  Result<Next> run(const Statement& statement, const EndTransaction& s) {
    if (num_guarded_ > 0) {
      call_.sqlstate = "2D000";
      return Error{.what = fmt::format("cannot {} while a subtransaction is active",
                                       s.commits ? "commit" : "roll back")};
    }
    if (runner_ == nullptr || !runner_->end_transaction(call_, statement))
      return call_.limit(fmt::format("{} in a procedure needs a level of PostgreSQL, as of line {}",
                                     s.commits ? "COMMIT" : "ROLLBACK", statement.place.line));
    return Next{};
  }

  // An error inside of an EXCEPTION block takes back what the block did to the database; variables
  // keep their values.
  Result<Next> run(const Statement&, const Block& s) {
    const std::size_t mark = s.handler && runner_ != nullptr ? runner_->begin_block() : 0;
    num_guarded_ += s.handler ? 1 : 0;
    auto next = run_all(s.body);
    num_guarded_ -= s.handler ? 1 : 0;
    if (!next && s.handler && !call_.is_limit && !next.error().is_limit) {
      if (runner_ == nullptr)
        return call_.limit("an EXCEPTION block that catches something needs a level of a server");
      runner_->undo_block(mark);
      const Error caught = next.error();
      const std::string state = known_sqlstate(call_, caught);
      if (state.empty())
        return call_.limit(fmt::format("which handler catches \"{}\" is not known", caught.what));
      variable(s.handler->targets[0]) = Value(state);
      const auto message = call_.message ? call_.message : message_of_error(caught.what);
      variable(s.handler->targets[1]) = message ? Value(*message) : Value();
      call_.sqlstate.clear();
      call_.message.reset();
      caught_.push_back({caught, state, message});
      next = run_all(s.handler->body);
      caught_.pop_back();
    }
    if (!next) return next;
    if (next->kind == Next::Kind::Exit || next->kind == Next::Kind::Continue) {
      if (next->kind == Next::Kind::Exit && next->depth == 0) return Next{};
      return Next{next->kind, next->depth - 1};
    }
    return next;
  }

  Result<Next> run(const Statement& statement, const Raise& s) {
    if (s.again && !caught_.empty()) {
      call_.sqlstate = caught_.back().sqlstate;
      call_.message = caught_.back().message;
      return caught_.back().error;
    }
    call_.sqlstate = s.sqlstate.empty() ? "P0001" : s.sqlstate;
    call_.message = s.message;
    return Error{.what = statement.text.empty() ? "RAISE EXCEPTION" : statement.text};
  }

  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  const Function& function_;
  CallState call_;
  std::size_t max_steps_;
  StatementRunner* runner_;
  std::size_t num_steps_ = 0;
  std::size_t num_guarded_ = 0;  // blocks around that have a handler and have not come to it
  std::vector<Value> returned_;
  struct Caught {
    Error error;
    std::string sqlstate;
    std::optional<std::string> message;
  };
  std::vector<Caught> caught_;  // by the handlers that run
};

}  // namespace

Result<CallResult> run_call_with(const Application& app, const Changes& changes,
                                 const Function& function, std::span<const Value> arguments,
                                 Database& database, std::size_t max_steps, Budget* budget,
                                 std::vector<Value>* variables, StatementRunner* runner) {
  CallRun run(app, changes, function, arguments, database, max_steps, budget, runner);
  auto result = run.run();
  if (variables != nullptr) *variables = std::move(run.variables());
  return result;
}

Result<CallResult> run_call(const Application& app, const Function& function,
                            std::span<const Value> arguments, Database& database,
                            std::size_t max_steps, Budget* budget) {
  return run_call_with(app, Changes(app), function, arguments, database, max_steps, budget);
}

}  // namespace isoscope::sql
