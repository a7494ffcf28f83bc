#include "sql/read/inliner.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/function_builder.h"
#include "sql/read/query_builder.h"
#include "sql/statement_walk.h"

namespace isoscope::sql {
namespace {

constexpr std::size_t kMaxCalls = 200;  // copies in one function

void visit_expr(Expr& expr, const VariableVisit& visit) {
  if (expr.op == ExprOp::Variable) visit(expr.var);
  for (Expr& arg : expr.args) visit_expr(arg, visit);
}

const Tree& option_of(const Tree& node, std::string_view name) {
  for (const Tree& entry : child(node, "options")) {
    if (text_of(inside(entry), "defname") == name) return inside(entry);
  }
  return no_tree();
}

bool is_given(const Tree& parameter) {
  const std::string mode = text_of(parameter, "mode");
  return mode != "FUNC_PARAM_OUT" && mode != "FUNC_PARAM_TABLE";
}

// A call of the program's own: which function, with which arguments, and what comes back.
class Call {
 public:
  Call(Scope& scope, const Tree& call, Place place)
      : scope_(scope), call_(call), place_(place), name_(last_name(child(call, "funcname"))) {}

  bool find() {
    const auto known = scope_.catalog.functions.find(name_);
    if (known == scope_.catalog.functions.end()) return false;
    const std::size_t given = child(call_, "args").size();
    for (const FunctionText& each : known->second) {
      std::size_t least = 0;
      std::size_t most = 0;
      for (const Tree& entry : child(*each.node, "parameters")) {
        const Tree& parameter = inside(entry);
        if (!is_given(parameter)) continue;
        ++most;
        if (!has(parameter, "defexpr")) ++least;
      }
      if (given < least || given > most) continue;
      if (text_ != nullptr) {
        scope_.findings.fail(place_,
                             fmt::format("several functions '{}' may be meant here", name_));
        return true;
      }
      text_ = &each;
    }
    if (text_ == nullptr)
      scope_.findings.fail(place_,
                           fmt::format("no function '{}' takes {} arguments", name_, given));
    return true;
  }

  bool gives_rows() const { return returns_rows(*text_->node); }

  // The columns of what it returns.
  std::vector<Source::Column> columns() {
    std::vector<Source::Column> columns;
    const Locator where{.lines = &text_->file->lines};
    for (const Tree& entry : child(*text_->node, "parameters")) {
      const Tree& parameter = inside(entry);
      const std::string mode = text_of(parameter, "mode");
      if (is_given(parameter) && mode != "FUNC_PARAM_INOUT") continue;
      DeclaredType type =
          scope_.catalog.type_of(child(parameter, "argType"), where, scope_.findings);
      type.forget_scale();
      columns.push_back(
          {text_of(parameter, "name"), type.type, type.is_array, type.width.bits, {}});
    }
    const Tree& returns = child(*text_->node, "returnType");
    if (!columns.empty() || returns.is_null()) return columns;
    DeclaredType type = scope_.catalog.type_of(returns, where, scope_.findings);
    type.forget_scale();
    if (type.row_of) {
      for (const Column& column : scope_.catalog.table(*type.row_of).columns) {
        if (!column.is_hidden)
          columns.push_back({column.name, column.type, false, column.width.bits, {}});
      }
    } else if (type.is_record) {
      scope_.findings.fail(place_,
                           fmt::format("the columns of the rows of {} are not declared", name_),
                           "RETURNS TABLE (…) declares them");
    } else if (!type.is_void) {
      columns.push_back({name_, type.type, type.is_array, type.width.bits, {}});
    }
    return columns;
  }

  // Adds the call to `scope.before`: what it returns goes to the variable, or to the row set.
  void add(std::optional<VarId> value, std::optional<VarId> rows, std::size_t num_columns) {
    const auto function = build_called(*text_, scope_.catalog, scope_.findings, place_);
    if (function == nullptr) return;
    Frame& frame = *scope_.frame;
    if (!may_end_here(*function)) return;
    if (++frame.num_calls > kMaxCalls) {
      scope_.findings.fail(place_, "too many calls of functions in each other");
      return;
    }
    std::vector<Statement>& to = *scope_.before;
    const std::size_t num_before = to.size();
    std::vector<Expr> arguments = this->arguments(*function);
    // The server writes out functions of SQL, and may compute an argument late or not at all.
    if (is_in_sql(*text_->node))
      mark_calls_as_rough({to.begin() + static_cast<std::ptrdiff_t>(num_before), to.end()});
    if (scope_.findings.failed()) return;
    if (is_strict() && arguments.size() > 1 &&
        (to.size() > num_before || std::ranges::any_of(arguments, can_fail)))
      scope_.findings.note(place_,
                           fmt::format("the arguments of {}, which is STRICT, are all evaluated, "
                                       "also beside a NULL",
                                       name_),
                           NoteKind::Gap);
    InlinedBody inlined = copy_body(frame, *function);
    Block block;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      to.push_back(model_in(scope_, place_)
                       .with(Assign{.target = {inlined.first + static_cast<std::uint32_t>(i)},
                                    .value = std::move(arguments[i])}));
    reset_variables(frame, inlined, block.body, place_);
    replace_returns(inlined.body, [&](std::vector<Statement>& out, const Statement& from,
                                      const std::optional<Expr>& returned) {
      give(out, from, returned, value, rows, num_columns);
    });
    std::ranges::move(inlined.body, std::back_inserter(block.body));
    const std::string volatility =
        text_of(child(child(option_of(*text_->node, "volatility"), "arg"), "String"), "sval");
    // With constants for arguments the planner calls it, and a plan is kept for later calls.
    if (same_word(volatility, "immutable") && has_sql(function->body))
      scope_.findings.note(place_,
                           fmt::format("{} is IMMUTABLE and asks the database: the server may keep "
                                       "what an earlier call gave; say STABLE or VOLATILE",
                                       name_),
                           NoteKind::Gap);
    block.called = function->name;
    block.is_separate = volatility.empty() || volatility == "volatile";
    std::vector<Statement> body;
    body.push_back(
        {.place = place_, .text = fmt::format("{}(…)", name_), .kind = std::move(block)});
    keep_found(frame, body, place_);
    std::ranges::move(body, std::back_inserter(to));
  }

  std::string_view name() const { return name_; }

 private:
  bool is_strict() const {
    return flag_of(child(child(option_of(*text_->node, "strict"), "arg"), "Boolean"), "boolval");
  }

  // A procedure that ends its transaction may do so if only procedures have led to it.
  bool may_end_here(const Function& function) {
    const Statement* end = find_end_of_transaction(function.body);
    if (end == nullptr) return true;
    Frame& frame = *scope_.frame;
    if (!frame.function().may_end || frame.num_writing_loops > 0) {
      scope_.findings.fail(
          place_,
          fmt::format("{} ends its transaction in line {}, which is not modelled "
                      "where it is called here",
                      name_, end->place.line),
          "on the server only procedures that are called alone, or by one another, "
          "can do so (2D000)");
      return false;
    }
    return true;
  }

  void give(std::vector<Statement>& to, const Statement& from, const std::optional<Expr>& returned,
            std::optional<VarId> value, std::optional<VarId> rows, std::size_t num_columns) const {
    if (!returned) return;
    if (rows) {
      const bool is_row = num_columns > 1 && returned->op == ExprOp::ArrayOf;
      to.push_back(from.with(
          Append{.rows = *rows, .values = is_row ? returned->args : std::vector<Expr>{*returned}}));
    } else if (value) {
      to.push_back(from.with(Assign{.target = *value, .value = *returned}));
    }
  }

  std::vector<Expr> arguments(const Function& function) {
    std::vector<std::optional<Expr>> given(function.num_parameters);
    std::vector<const Tree*> parameters;
    for (const Tree& entry : child(*text_->node, "parameters")) {
      if (is_given(inside(entry))) parameters.push_back(&inside(entry));
    }
    if (parameters.size() != given.size()) {
      scope_.findings.fail(place_, fmt::format("{} takes a row, which is not modelled here", name_),
                           "give its columns one by one");
      return {};
    }
    std::size_t next = 0;
    for (const Tree& arg : child(call_, "args")) {
      std::size_t at = next++;
      const Tree& named = child(arg, "NamedArgExpr");
      if (!named.is_null()) {
        const std::string wanted = text_of(named, "name");
        at = 0;
        while (at < parameters.size() && text_of(*parameters[at], "name") != wanted) ++at;
      }
      if (at >= given.size()) {
        scope_.findings.fail(place_, fmt::format("{} has no such parameter", name_));
        return {};
      }
      given[at] = build_expr(scope_, named.is_null() ? arg : child(named, "arg"));
    }
    std::vector<Expr> values;
    for (std::size_t i = 0; i < given.size() && !scope_.findings.failed(); ++i) {
      const Variable& parameter = function.variables[i];
      if (!given[i] && has(*parameters[i], "defexpr")) {
        Scope apart{.catalog = scope_.catalog,
                    .findings = scope_.findings,
                    .frame = scope_.frame,
                    .where = {.lines = &text_->file->lines}};
        given[i] = build_expr(apart, child(*parameters[i], "defexpr"));
      }
      if (!given[i]) {
        scope_.findings.fail(place_, fmt::format("{} misses an argument", name_));
        return {};
      }
      values.push_back(adapt(scope_, *std::move(given[i]), parameter.type, parameter.is_array,
                             fmt::format("'{}'", parameter.name), parameter.width.bits));
      if (uses_column(values.back())) {
        if (scope_.is_used_inside != nullptr) {
          *scope_.is_used_inside = true;
          values.back() = make_null(parameter.type, place_);
        } else {
          scope_.findings.fail(place_, fmt::format("{} is called for each row here", name_),
                               "a loop with a call inside can be modelled");
        }
      }
    }
    return values;
  }

  Scope& scope_;
  const Tree& call_;
  Place place_;
  std::string name_;
  const FunctionText* text_ = nullptr;
};

bool can_call(const Scope& scope, Place place) {
  if (scope.before != nullptr && scope.frame != nullptr) return true;
  scope.findings.fail(place, "a function of the program cannot be called here",
                      "call it before, into a variable");
  return false;
}

}  // namespace

bool can_fail(const Expr& expr) {
  const bool is_cast =
      (expr.op == ExprOp::Coalesce && expr.args.size() == 1) ||
      (expr.op == ExprOp::Opaque &&
       (expr.text == "integer" || expr.text == "boolean" || expr.text == "numeric"));
  const bool computes = expr.op == ExprOp::Negate || expr.op == ExprOp::Abs ||
                        (expr.op >= ExprOp::Add && expr.op <= ExprOp::Modulo) ||
                        expr.op == ExprOp::ToInteger || expr.op == ExprOp::Round;
  return is_cast || computes || std::ranges::any_of(expr.args, can_fail);
}

bool returns_rows(const Tree& function) {
  if (flag_of(child(function, "returnType"), "setof")) return true;
  return std::ranges::any_of(child(function, "parameters"), [](const Tree& entry) {
    return text_of(inside(entry), "mode") == "FUNC_PARAM_TABLE";
  });
}

void for_each_variable(std::span<Statement> body, const VariableVisit& visit) {
  const auto visit_all = [&](Expr& expr) { visit_expr(expr, visit); };
  for (Statement& s : body) {
    for_each_expr(s, visit_all);
    if (Query* query = s.query(); query != nullptr && query->rows) visit(*query->rows);
    for (VarId& target : s.targets()) visit(target);
    if (auto* select = s.find<Select>(); select != nullptr && select->into_rows)
      visit(*select->into_rows);
    if (Write* write = s.write(); write != nullptr && write->into_rows) visit(*write->into_rows);
    for_each_variable(s.body(), visit);
    for_each_variable(s.otherwise(), visit);
  }
}

InlinedBody copy_body(Frame& frame, const Function& function) {
  InlinedBody inlined{.body = function.body, .function = &function};
  Function& caller = frame.function();
  inlined.first = static_cast<std::uint32_t>(caller.variables.size());
  for (const Variable& variable : function.variables) {
    Variable copy = variable;
    // Hidden ones keep their names, which say what they are for.
    if (!copy.is_hidden) copy.name = fmt::format("{}/{}", function.name, copy.name);
    caller.variables.push_back(std::move(copy));
  }
  if (function.found && !caller.found)
    caller.found = frame.add("found", Type::Boolean, false, function.place);
  if (function.row_count && !caller.row_count)
    caller.row_count = frame.add_hidden("row count", Type::Integer, false, function.place);
  for_each_variable(inlined.body, [&](VarId& var) {
    if (function.found && var == *function.found) {
      var = *caller.found;
    } else if (function.row_count && var == *function.row_count) {
      var = *caller.row_count;
    } else {
      var = VarId{inlined.first + var.index};
    }
  });
  return inlined;
}

void reset_variables(Frame& frame, const InlinedBody& inlined, std::vector<Statement>& to,
                     Place place) {
  const Function& function = *inlined.function;
  const auto set = [&](VarId var, Expr value) {
    to.push_back({.place = place, .kind = Assign{.target = var, .value = std::move(value)}});
  };
  for (std::uint32_t i = function.num_parameters; i < function.variables.size(); ++i) {
    const Variable& variable = function.variables[i];
    const VarId old{i};
    if (variable.is_hidden || old == function.found || old == function.row_count) continue;
    Expr null = make_null(variable.type, place);
    null.is_array = variable.is_array;
    set(VarId{inlined.first + i}, std::move(null));
  }
  if (function.found) set(*frame.function().found, make_boolean(false, place));
  if (function.row_count) set(*frame.function().row_count, make_integer(0, place));
}

void replace_returns(std::vector<Statement>& body, const Give& give, std::uint32_t depth) {
  std::vector<Statement> replaced;
  for (Statement& statement : body) {
    if (const auto* row = statement.find<ReturnRow>()) {
      give(replaced, statement, row->value);
      continue;
    }
    if (const auto* returned = statement.find<Return>()) {
      give(replaced, statement, returned->value);
      Exit leave;
      leave.depth = depth;
      replaced.push_back(
          {.place = statement.place, .text = statement.text, .kind = std::move(leave)});
      continue;
    }
    const bool is_level = statement.is_loop() || statement.is<Block>();
    for_each_body(statement, [&](std::vector<Statement>& inner) {
      replace_returns(inner, give, depth + (is_level ? 1 : 0));
    });
    replaced.push_back(std::move(statement));
  }
  body = std::move(replaced);
}

void keep_found(Frame& frame, std::vector<Statement>& body, Place place) {
  std::vector<Statement> before;
  const auto copy = [&](std::vector<Statement>& to, VarId target, VarId from) {
    to.push_back({.place = place,
                  .kind = Assign{.target = target, .value = make_variable(frame, from, place)}});
  };
  for (const auto& var : {frame.function().found, frame.function().row_count}) {
    if (!var) continue;
    const VarId kept = frame.add_hidden("kept", frame.variable(*var).type, false, place);
    copy(before, kept, *var);
    copy(body, *var, kept);
  }
  body.insert(body.begin(), std::make_move_iterator(before.begin()),
              std::make_move_iterator(before.end()));
}

Expr inline_call(Scope& scope, const Tree& node, Place place) {
  Call call(scope, node, place);
  if (!can_call(scope, place) || !call.find() || scope.findings.failed())
    return make_null(Type::Integer, place);
  if (call.gives_rows()) {
    call.add(std::nullopt, std::nullopt, 0);
    if (!scope.discards)
      scope.findings.fail(place,
                          fmt::format("{} returns rows, and stands as a value here", call.name()),
                          "FROM can have it");
    return make_null(Type::Integer, place);
  }
  const auto columns = call.columns();
  if (scope.findings.failed()) return make_null(Type::Integer, place);
  if (columns.size() > 1 && !scope.discards) {
    scope.findings.fail(place,
                        fmt::format("{} returns a row, and stands as a value here", call.name()),
                        "SELECT … FROM the function gives its columns");
    return make_null(Type::Integer, place);
  }
  if (columns.size() != 1) {
    call.add(std::nullopt, std::nullopt, 0);
    return make_null(Type::Integer, place);
  }
  const VarId value = scope.frame->add_hidden("value", columns[0].type, columns[0].is_array, place,
                                              columns[0].bits);
  Expr null = make_null(columns[0].type, place);
  null.is_array = columns[0].is_array;
  scope.before->push_back(
      model_in(scope, place).with(Assign{.target = value, .value = std::move(null)}));
  call.add(value, std::nullopt, 1);
  return make_variable(*scope.frame, value, place);
}

std::optional<NamedRows> rows_of_call(Scope& scope, const Tree& node, Place place) {
  Call call(scope, node, place);
  if (!scope.catalog.functions.contains(last_name(child(node, "funcname")))) return std::nullopt;
  if (!can_call(scope, place) || !call.find() || scope.findings.failed()) return std::nullopt;
  NamedRows rows{.name = std::string(call.name()), .rows = {}, .columns = call.columns()};
  if (scope.findings.failed()) return std::nullopt;
  rows.rows = add_row_set(scope, "rows", *scope.before, place);
  call.add(std::nullopt, rows.rows, rows.columns.size());
  return rows;
}

}  // namespace isoscope::sql
