#include <fmt/format.h>

#include <algorithm>

#include "sql/read/row_builder.h"
#include "sql/read/whole_queries.h"
#include "sql/statement_walk.h"

namespace isoscope::sql {
namespace {

// Functions in FROM whose rows are one value each, which we know nothing about.
bool gives_unknown_values(std::string_view function) {
  static constexpr std::string_view kKnown[] = {
      "jsonb_array_elements",     "json_array_elements", "jsonb_array_elements_text",
      "json_array_elements_text", "jsonb_object_keys",   "json_object_keys",
      "regexp_split_to_table",    "string_to_table"};
  return std::ranges::find(kKnown, function) != std::end(kKnown);
}

}  // namespace

bool mentions_variable(const Expr& expr, const std::set<VarId>& variables) {
  if (expr.op == ExprOp::Variable && variables.contains(expr.var)) return true;
  return std::ranges::any_of(expr.args,
                             [&](const Expr& arg) { return mentions_variable(arg, variables); });
}

bool mentions_variable(std::span<const Statement> statements, const std::set<VarId>& variables) {
  return std::ranges::any_of(statements, [&](const Statement& s) {
    const Query* query = s.query();
    bool found = query != nullptr && query->rows && variables.contains(*query->rows);
    for_each_expr(s,
                  [&](const Expr& expr) { found = found || mentions_variable(expr, variables); });
    return found || mentions_variable(s.body(), variables) ||
           mentions_variable(s.otherwise(), variables);
  });
}

RelationLoops::RelationLoops(Scope& scope, Place place)
    : scope_(scope), once_(*scope.before), mark_(once_.size()), place_(place) {}

std::vector<VarId> RelationLoops::variables_of(std::size_t num_inputs) const {
  std::vector<VarId> variables;
  for (std::size_t i = 0; i < num_inputs; ++i) {
    for (const auto& [column, var] : scope_.sources[inputs_[i].source].bound->columns)
      variables.push_back(var);
  }
  return variables;
}

std::vector<VarId> RelationLoops::bound_variables() const { return variables_of(inputs_.size()); }

bool RelationLoops::uses_rows(const Body& statements) const {
  const auto bound = bound_variables();
  return mentions_variable(statements, std::set<VarId>(bound.begin(), bound.end()));
}

template <class Build>
Expr RelationLoops::build(const Build& build, Body& each) {
  Body asked;
  scope_.before = &asked;
  Expr made = build();
  scope_.before = &once_;
  std::ranges::move(asked, std::back_inserter(uses_rows(asked) ? each : once_));
  return made;
}

Expr RelationLoops::value(const Tree& node) {
  return build([&] { return build_expr(scope_, node); }, each_);
}

Expr RelationLoops::condition(const Tree& node) {
  return build([&] { return build_condition(scope_, node); }, each_);
}

void RelationLoops::add_source(Source source, Place place) {
  source.bound = std::make_shared<BoundRow>();
  inputs_.back().source = static_cast<std::uint32_t>(scope_.sources.size());
  scope_.sources.push_back(std::move(source));
  check_name(scope_, place);
}

std::uint32_t RelationLoops::add_table(TableId table, std::string name) {
  inputs_.push_back({.kind = Kind::Table});
  add_source({.table = table, .name = std::move(name)}, place_);
  return inputs_.back().source;
}

void RelationLoops::add_rows(const NamedRows& rows, std::string name, const Tree& alias,
                             Place place) {
  Source source{.name = std::move(name), .columns = Source::Columns(rows.columns)};
  const Tree& names = child(alias, "colnames");
  for (std::uint32_t i = 0; i < names.size() && i < source.columns->size(); ++i)
    (*source.columns)[ColumnId{i}].name = string_node(names[i]);
  inputs_.push_back({.kind = Kind::Rows, .rows = rows.rows});
  add_source(std::move(source), place);
}

void RelationLoops::add_entry(const Tree& entry, int depth) {
  if (scope_.findings.failed()) return;
  const std::string kind = kind_of(entry);
  const Tree& node = inside(entry);
  const Place place = scope_.place(node);
  if (depth > 50) {
    scope_.findings.fail(place, "these joins nest too deeply");
  } else if (kind == "RangeVar") {
    add_range(node, place);
  } else if (kind == "RangeSubselect") {
    add_subquery(node, place);
  } else if (kind == "RangeFunction") {
    add_function(node, place);
  } else if (kind == "JoinExpr") {
    add_join(node, depth);
  } else {
    scope_.findings.fail(place, "only tables, queries and functions can stand in FROM");
  }
}

void RelationLoops::add_range(const Tree& range, Place place) {
  const std::string name = text_of(range, "relname");
  const Tree& alias = child(range, "alias");
  const std::string called =
      text_of(alias, "aliasname").empty() ? name : text_of(alias, "aliasname");
  if (const NamedRows* rows = find_with(scope_, name)) {
    add_rows(NamedRows(*rows), called, alias, place);
    return;
  }
  if (const View* view = scope_.catalog.find_view(name)) {
    view->check(name, place, scope_.findings);
    Scope inner = scope_;
    inner.where = view->where;
    inner.names_may_clash = false;  // it was read when the view was made
    inner.outer = nullptr;
    inner.is_subquery = true;
    inner.with.clear();
    inner.before = &once_;
    BuiltQuery built = build_query(inner, *view->select);
    note_unused_failures(scope_, built);
    NamedRows rows = rows_of(inner, std::move(built), called, place);
    for (std::size_t i = 0; i < view->names.size() && i < rows.columns.size(); ++i)
      rows.columns[i].name = view->names[i];
    if (!scope_.findings.failed()) add_rows(rows, called, alias, place);
    return;
  }
  const auto table = scope_.catalog.expect_table(name, place, scope_.findings);
  if (!table) return;
  note_catalog(scope_, *table, place);
  if (has(alias, "colnames"))
    scope_.findings.fail(place, "new names for columns in FROM are not modelled here");
  inputs_.push_back({.kind = Kind::Table});
  add_source({.table = *table, .name = called}, place);
}

void RelationLoops::add_subquery(const Tree& node, Place place) {
  const Tree& alias = child(node, "alias");
  Scope inner = scope_;
  Body asked;
  inner.before = &asked;
  inner.is_subquery = true;
  if (flag_of(node, "lateral")) inner.outer = &scope_;
  const std::string name = text_of(alias, "aliasname");
  BuiltQuery built = build_query(inner, child(child(node, "subquery"), "SelectStmt"));
  note_unused_failures(scope_, built);
  const NamedRows rows = rows_of(inner, std::move(built), name, place);
  if (scope_.findings.failed()) return;
  const bool is_lateral = uses_rows(asked);
  if (!is_lateral) std::ranges::move(asked, std::back_inserter(once_));
  add_rows(rows, name, alias, place);
  if (is_lateral) inputs_.back().ahead = std::move(asked);
}

// A loop counts down by a positive number.
void RelationLoops::set_step(Input& input, Expr step) {
  const bool is_negated = step.op == ExprOp::Negate && step.args[0].op == ExprOp::Integer;
  const std::int64_t number = is_negated ? -step.args[0].number : step.number;
  input.descending = (is_negated || step.op == ExprOp::Integer) && number < 0;
  if (!is_negated && step.op != ExprOp::Integer)
    scope_.findings.note(step.place, "the step of generate_series is taken to be positive",
                         NoteKind::Gap);
  input.step = input.descending ? make_integer(-number, step.place) : std::move(step);
}

void RelationLoops::calls_may_not_run() {
  mark_calls_as_rough({once_.begin() + static_cast<std::ptrdiff_t>(mark_), once_.end()});
}

void RelationLoops::add_function(const Tree& node, Place place) {
  const Tree& alias = child(node, "alias");
  const Tree& functions = child(node, "functions");
  const Tree& parts =
      functions.size() == 1 ? child(child(functions[0], "List"), "items") : no_tree();
  const Tree& call = parts.empty() ? no_tree() : child(parts[0], "FuncCall");
  if (call.is_null() || flag_of(node, "ordinality") || has(node, "coldeflist")) {
    scope_.findings.fail(place, "this function in FROM is not modelled");
    return;
  }
  const std::string function = last_name(child(call, "funcname"));
  const std::string name =
      text_of(alias, "aliasname").empty() ? function : text_of(alias, "aliasname");
  Body asked;
  scope_.before = &asked;
  const auto rows = rows_of_call(scope_, call, place);
  std::vector<Expr> args;
  if (!rows && !scope_.findings.failed()) {
    for (const Tree& arg : child(call, "args")) args.push_back(build_expr(scope_, arg));
  }
  scope_.before = &once_;
  if (scope_.findings.failed()) return;
  const bool is_lateral = uses_rows(asked);
  // Only for the rows that are asked for.
  if (is_lateral) mark_calls_as_rough(asked);
  if (!is_lateral) std::ranges::move(asked, std::back_inserter(once_));
  if (rows) {
    add_rows(*rows, name, alias, place);
  } else {
    const bool is_range = function == "generate_series" && args.size() >= 2;
    const bool is_unknown = gives_unknown_values(function) && !args.empty();
    if (is_unknown) {
      scope_.findings.note(place, fmt::format("{} gives some rows, by its arguments", function),
                           NoteKind::Gap);
      Expr values = make(ExprOp::Opaque, Type::Text, std::move(args), place);
      values.text = function;
      values.is_array = true;
      args = {std::move(values)};
    }
    const bool is_list =
        is_unknown || (function == "unnest" && args.size() == 1 && args[0].is_array);
    if (!is_range && !is_list) {
      scope_.findings.fail(place, fmt::format("{} in FROM is not modelled", function),
                           "generate_series, unnest of an array and functions of the program are");
      return;
    }
    Input input{.kind = is_range ? Kind::Range : Kind::Array};
    input.from = args[0];
    if (is_range) {
      for (Expr& arg : args) arg = adapt(scope_, std::move(arg), Type::Integer, false, function);
      input.from = args[0];
      input.to = args[1];
      if (args.size() > 2) set_step(input, args[2]);
    }
    inputs_.push_back(std::move(input));
    const Tree& names = child(alias, "colnames");
    Source source{.name = name};
    // The rows of JSON functions have a column called value.
    const bool is_named = !names.empty() || !text_of(alias, "aliasname").empty();
    const std::string column = !names.empty()            ? string_node(names[0])
                               : is_unknown && !is_named ? "value"
                                                         : name;
    std::uint8_t bits = 16;
    for (const Expr& arg : args) bits = std::max(bits, arg.bits);
    source.columns = {{column, args[0].type, false, bits, {}}};
    add_source(std::move(source), place);
    // The variable of the loop.
    (void)make_column(scope_, inputs_.back().source, ColumnId{0}, place);
  }
  if (is_lateral) inputs_.back().ahead = std::move(asked);
}

void RelationLoops::add_join(const Tree& join, int depth) {
  const std::string type = text_of(join, "jointype");
  const Place place = scope_.place(inside(child(join, "rarg")));
  const bool is_right = type == "JOIN_RIGHT";
  if (type != "JOIN_INNER" && type != "JOIN_LEFT" && !is_right) {
    scope_.findings.fail(place, "FULL joins are not modelled", "a UNION of two LEFT JOINs can be");
    return;
  }
  if (has(join, "alias")) scope_.findings.fail(place, "a name for a join is not modelled");
  const std::size_t first_left = scope_.sources.size();
  add_entry(child(join, is_right ? "rarg" : "larg"), depth + 1);
  const std::size_t first_right = scope_.sources.size();
  const std::size_t first_input = inputs_.size();
  add_entry(child(join, is_right ? "larg" : "rarg"), depth + 1);
  if (scope_.findings.failed()) return;
  const bool is_outer = type != "JOIN_INNER";
  if (is_outer && inputs_.size() != first_input + 1) {
    scope_.findings.fail(place, "an outer join with a join on its other side is not modelled");
    return;
  }
  if (is_outer) inputs_.back().is_left = true;
  if (is_right) {
    scope_.sources.back().joins_from = static_cast<std::uint32_t>(first_left);
    scope_.sources.back().is_shown_first = true;
  }
  const bool is_merged = has(join, "usingClause") || flag_of(join, "isNatural");
  if (is_merged) {
    if (auto same = merge_columns(scope_, join, first_left, first_right, place))
      add_condition(std::move(*same), true);
  }
  if (!has(join, "quals")) return;
  Body each;
  Expr on = build([&] { return build_condition(scope_, child(join, "quals")); }, each);
  if (!each.empty()) {
    scope_.findings.fail(place, "a subquery that uses columns cannot stand in ON here");
    return;
  }
  add_condition(std::move(on), true);
}

void RelationLoops::add_where(const Tree& where) {
  const Tree& logic = child(where, "BoolExpr");
  if (text_of(logic, "boolop") == "AND_EXPR") {
    for (const Tree& part : child(logic, "args")) add_where(part);
    return;
  }
  if (scope_.findings.failed()) return;
  Body each;
  Expr part = build([&] { return build_filter(scope_, where); }, each);
  all_conditions_.push_back(part);
  if (each.empty()) {
    add_condition(std::move(part), false);
    return;
  }
  last_.push_back({std::move(each), std::move(part)});
}

// A condition goes to the first input that knows all its columns. What ON says about an outer join
// belongs to it; what WHERE says about its columns is asked when it is done.
void RelationLoops::add_condition(Expr condition, bool is_on) {
  const bool is_of_left = is_on && inputs_.back().is_left;
  std::size_t at = is_of_left ? inputs_.size() - 1 : 0;
  for (std::size_t i = is_of_left ? inputs_.size() : 0; i < inputs_.size(); ++i) {
    std::set<VarId> variables;
    for (const auto& [column, var] : scope_.sources[inputs_[i].source].bound->columns)
      variables.insert(var);
    if (mentions_variable(condition, variables)) at = i;
  }
  if (inputs_.empty() || (inputs_[at].is_left && !is_of_left)) {
    last_.push_back({{}, std::move(condition)});
    return;
  }
  Input& input = inputs_[at];
  const bool can_say = input.kind == Kind::Table || input.kind == Kind::Rows;
  std::optional<Expr>& to = can_say ? input.where : input.guard;
  to = both(std::move(to), std::move(condition));
}

Expr RelationLoops::as_columns(Expr expr, std::uint32_t source) const {
  if (expr.op == ExprOp::Variable) {
    for (const auto& [column, var] : scope_.sources[source].bound->columns) {
      if (var != expr.var) continue;
      return {.op = ExprOp::Column,
              .type = expr.type,
              .is_array = expr.is_array,
              .bits = expr.bits,
              .column = column,
              .place = expr.place};
    }
    return expr;
  }
  for (Expr& arg : expr.args) arg = as_columns(std::move(arg), source);
  return expr;
}

Statement RelationLoops::assign(VarId var, Expr value) const {
  return model_in(scope_, place_).with(Assign{.target = var, .value = std::move(value)});
}

Statement RelationLoops::append(VarId rows, const std::vector<VarId>& variables) const {
  std::vector<Expr> values;
  for (const VarId var : variables) values.push_back(make_variable(*scope_.frame, var, place_));
  return model_in(scope_, place_).with(Append{.rows = rows, .values = std::move(values)});
}

Statement RelationLoops::if_true(Expr condition, Body body) const {
  return model_in(scope_, place_)
      .with(If{.condition = std::move(condition), .body = std::move(body), .otherwise = {}});
}

Statement RelationLoops::loop_of(Input& input, Body body) {
  Statement model = model_in(scope_, place_);
  const Source& source = scope_.sources[input.source];
  if (input.kind == Kind::Range)
    return model.with(ForRange{.target = source.bound->columns.front().second,
                               .from = *input.from,
                               .to = *input.to,
                               .step = input.step,
                               .descending = input.descending,
                               .of_rows = true,
                               .body = std::move(body)});
  if (input.kind == Kind::Array)
    return model.with(ForArray{.target = source.bound->columns.front().second,
                               .array = *input.from,
                               .of_rows = true,
                               .body = std::move(body)});
  ForQuery loop;
  if (input.kind == Kind::Table) {
    loop.query.sources = {source.table};
  } else {
    loop.query.rows = input.rows;
  }
  if (input.where) loop.query.where = as_columns(std::move(*input.where), input.source);
  loop.body = std::move(body);
  for (const auto& [column, var] : source.bound->columns) {
    // A value that SET computes is one of the row that is changed by then, and not read here.
    if (!mentions_variable(loop.body, {var})) continue;
    loop.query.outputs.push_back(
        {.expr = as_columns(make_variable(*scope_.frame, var, place_), input.source)});
    loop.targets.push_back(var);
  }
  model.continues = true;
  return model.with(std::move(loop));
}

RelationLoops::Body RelationLoops::around(std::size_t count, Body body) {
  if (count == 0) return body;
  Input& input = inputs_[count - 1];
  Body made = std::move(input.ahead);
  const auto guarded = [&](Body found) {
    if (!input.guard) return found;
    Body tested;
    tested.push_back(if_true(std::move(*input.guard), std::move(found)));
    return tested;
  };
  if (!input.is_left) {
    made.push_back(loop_of(input, guarded(std::move(body))));
    return around(count - 1, std::move(made));
  }
  const std::vector<VarId> variables = variables_of(count);
  Body all;
  const VarId rows = add_row_set(scope_, "joined", all, place_);
  const VarId matched = scope_.frame->add_hidden("matched", Type::Boolean, false, place_);
  made.push_back(assign(matched, make_boolean(false, place_)));
  Body found = {assign(matched, make_boolean(true, place_)), append(rows, variables)};
  made.push_back(loop_of(input, guarded(std::move(found))));
  Body missing;
  for (const auto& [column, var] : scope_.sources[input.source].bound->columns) {
    const Variable& variable = scope_.frame->variable(var);
    Expr null = make_null(variable.type, place_);
    null.is_array = variable.is_array;
    missing.push_back(assign(var, std::move(null)));
  }
  missing.push_back(append(rows, variables));
  made.push_back(if_true(
      make(ExprOp::Not, Type::Boolean, {make_variable(*scope_.frame, matched, place_)}, place_),
      std::move(missing)));
  Body joined = around(count - 1, std::move(made));
  std::ranges::move(joined, std::back_inserter(all));
  ForQuery next;
  next.query.rows = rows;
  for (std::uint32_t c = 0; c < variables.size(); ++c) {
    const Variable& variable = scope_.frame->variable(variables[c]);
    Expr column{.op = ExprOp::Column,
                .type = variable.type,
                .is_array = variable.is_array,
                .bits = variable.width.bits,
                .column = {c},
                .place = place_};
    next.query.outputs.push_back({.expr = std::move(column)});
  }
  next.targets = variables;
  next.body = std::move(body);
  all.push_back(model_in(scope_, place_).with(std::move(next)));
  return all;
}

RelationLoops::Body RelationLoops::around(Body body) {
  if (uses_rows({once_.begin() + static_cast<std::ptrdiff_t>(mark_), once_.end()}))
    scope_.findings.fail(place_, "a subquery uses columns where it cannot be asked for each row");
  Body inner = std::move(each_);
  std::ranges::move(body, std::back_inserter(inner));
  // Conditions without subqueries go first.
  std::stable_partition(last_.begin(), last_.end(),
                        [](const Last& last) { return last.each.empty(); });
  for (auto last = last_.rbegin(); last != last_.rend(); ++last) {
    Body guarded = std::move(last->each);
    guarded.push_back(if_true(std::move(last->condition), std::move(inner)));
    inner = std::move(guarded);
  }
  return around(inputs_.size(), std::move(inner));
}

}  // namespace isoscope::sql
