#include "sql/read/row_function.h"

#include <algorithm>
#include <utility>

namespace isoscope::sql {

namespace {

class RowFunction {
 public:
  using Env = RowValues;
  using Outcome = RowOutcome;

  RowFunction(const Scope& scope, std::uint32_t num_columns, Place place)
      : scope_(scope), num_columns_(num_columns), place_(place) {}

  Outcome run(const std::vector<Statement>& body, Env env) {
    std::vector<const Statement*> list;
    for (const Statement& statement : body) list.push_back(&statement);
    return run(std::move(list), std::move(env));
  }

 private:
  Outcome end(Env env, bool skips, bool fails) const {
    return {std::move(env), make_boolean(skips, place_), make_boolean(fails, place_),
            make_null(Type::Text, place_)};
  }

  Outcome fail_with(Env env, const Raise& raise) const {
    Outcome outcome = end(std::move(env), false, true);
    outcome.state = make_text(raise.sqlstate.empty() ? "P0001" : raise.sqlstate, place_);
    return outcome;
  }

  // Whether it is all columns of NEW (0) or OLD (1); a row of one column is its value.
  bool is_row(const Expr& value, std::uint32_t which) const {
    const auto is_column = [&](const Expr& expr, ColumnId column) {
      return expr.op == ExprOp::Variable && expr.var == VarId{which * num_columns_ + column.index};
    };
    if (num_columns_ == 1) return is_column(value, ColumnId{0});
    if (value.op != ExprOp::ArrayOf || value.args.size() != num_columns_) return false;
    for (std::uint32_t c = 0; c < num_columns_; ++c) {
      if (!is_column(value.args[c], ColumnId{c})) return false;
    }
    return true;
  }

  // The row becomes what is returned: OLD leaves it as it was.
  Outcome end_with(Env env, const Return& returned) const {
    if (!returned.value || returned.value->op == ExprOp::Null)
      return end(std::move(env), true, false);
    if (is_row(*returned.value, 1)) {
      for (std::uint32_t c = 0; c < num_columns_; ++c) env[VarId{c}] = env[VarId{num_columns_ + c}];
    } else if (!is_row(*returned.value, 0)) {
      scope_.findings.fail(place_,
                           "a BEFORE UPDATE trigger that returns another row is not modelled");
    }
    return end(std::move(env), false, false);
  }

  Expr in(const Env& env, Expr expr) const {
    if (expr.op == ExprOp::Variable) {
      const auto known = env.find(expr.var);
      return known == env.end() ? make_null(expr.type, place_) : known->second;
    }
    for (Expr& arg : expr.args) arg = in(env, std::move(arg));
    return expr;
  }

  // What both branches leave as it was is not changed.
  static bool is_same(const Expr& a, const Expr& b) {
    return a.op == b.op && a.number == b.number && a.text == b.text && a.var == b.var &&
           a.source == b.source && a.column == b.column && !a.is_volatile &&
           std::ranges::equal(a.args, b.args, is_same);
  }

  Expr choose(const Expr& condition, Expr yes, Expr no) const {
    if (is_same(yes, no)) return yes;
    const Type type = yes.type;
    return make(ExprOp::If, type, {condition, std::move(yes), std::move(no)}, place_);
  }

  // Both branches, each with what follows the test.
  Outcome branch(const If& test, const std::vector<const Statement*>& rest, const Env& env) {
    const Expr condition = in(env, test.condition);
    const auto run_branch = [&](const std::vector<Statement>& body) {
      std::vector<const Statement*> all;
      for (const Statement& each : body) all.push_back(&each);
      all.insert(all.end(), rest.begin(), rest.end());
      return run(std::move(all), env);
    };
    const Outcome yes = run_branch(test.body);
    Outcome no = run_branch(test.otherwise);
    for (auto& [var, value] : no.env) {
      const auto other = yes.env.find(var);
      value = choose(condition,
                     other == yes.env.end() ? make_null(value.type, place_) : other->second, value);
    }
    no.skips = choose(condition, yes.skips, no.skips);
    no.fails = choose(condition, yes.fails, no.fails);
    // What does not fail needs none.
    if (no.state.op == ExprOp::Null) {
      no.state = yes.state;
    } else if (yes.state.op != ExprOp::Null) {
      no.state = choose(condition, yes.state, no.state);
    }
    return no;
  }

  Outcome run(std::vector<const Statement*> list, Env env) {
    while (!list.empty()) {
      const Statement& s = *list.front();
      list.erase(list.begin());
      if (++num_steps_ > 500) {
        scope_.findings.fail(place_, "this trigger is too long to be part of an UPDATE");
        return end(std::move(env), false, false);
      }
      if (const auto* assign = s.find<Assign>(); assign != nullptr && !assign->index) {
        env[assign->target] = in(env, assign->value);
        continue;
      }
      if (const auto* test = s.find<If>()) return branch(*test, list, env);
      if (const auto* raise = s.find<Raise>()) return fail_with(std::move(env), *raise);
      if (const auto* returned = s.find<Return>()) return end_with(std::move(env), *returned);
      scope_.findings.fail(place_,
                           "a BEFORE trigger that does more than compute is not modelled here",
                           "the statement can do it itself");
      return end(std::move(env), false, false);
    }
    return end(std::move(env), false, false);
  }

  const Scope& scope_;
  std::uint32_t num_columns_;
  Place place_;
  int num_steps_ = 0;
};

}  // namespace

RowOutcome run_on_row(const Scope& scope, const std::vector<Statement>& body,
                      std::uint32_t num_columns, RowValues env, Place place) {
  return RowFunction(scope, num_columns, place).run(body, std::move(env));
}

}  // namespace isoscope::sql
