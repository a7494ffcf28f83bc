#include "sql/query_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {
namespace {

// Fails for parts of a SELECT that we do not model.
void refuse_parts(const Scope& scope, const Tree& select, Place place) {
  Findings& findings = scope.findings;
  const std::string op = text_of(select, "op");
  if (!op.empty() && op != "SETOP_NONE")
    findings.fail(place, "UNION, INTERSECT and EXCEPT are not modelled",
                  "use one statement for each part");
  if (has(select, "withClause"))
    findings.fail(scope.place(child(select, "withClause")), "WITH is not modelled",
                  "use one statement for each part");
  if (has(select, "groupClause") || has(select, "havingClause"))
    findings.fail(place, "GROUP BY and HAVING are not modelled",
                  "a loop over the groups, with an aggregate inside, can be");
  if (has(select, "windowClause")) findings.fail(place, "WINDOW is not modelled");
  if (has(select, "valuesLists"))
    findings.fail(place, "VALUES is modelled only in INSERT", "use SELECT");
  if (has(select, "intoClause")) findings.fail(place, "SELECT INTO a new table is not modelled");
  if (text_of(select, "limitOption") == "LIMIT_OPTION_WITH_TIES")
    findings.fail(place, "WITH TIES is not modelled");
}

// USING (c, …): equalities, and the column of the new source is the same as that before.
std::optional<Expr> merge_columns(Scope& scope, const std::vector<std::string>& names,
                                  std::size_t first_right, Place place) {
  std::optional<Expr> equalities;
  for (const std::string& name : names) {
    for (std::uint32_t right = static_cast<std::uint32_t>(first_right);
         right < scope.sources.size(); ++right) {
      const auto right_column = find_column(scope.table(right), name);
      if (!right_column) continue;
      for (std::uint32_t left = 0; left < first_right; ++left) {
        const auto left_column = find_column(scope.table(left), name);
        if (!left_column) continue;
        equalities =
            both(std::move(equalities), make(ExprOp::Equal, Type::Boolean,
                                             {make_column(scope, left, *left_column, place),
                                              make_column(scope, right, *right_column, place)},
                                             place));
        scope.sources[right].merged.push_back(name);
        break;
      }
    }
  }
  if (!names.empty() && !equalities)
    scope.findings.fail(place, fmt::format("no column '{}' on both sides of JOIN", names.front()));
  return equalities;
}

void add_source(Scope& scope, const Tree& range, Place place) {
  const std::string name = text_of(range, "relname");
  const auto table = scope.catalog.expect_table(name, place, scope.findings);
  if (!table) return;
  const std::string alias = text_of(child(range, "alias"), "aliasname");
  if (has(child(range, "alias"), "colnames"))
    scope.findings.fail(place, "new names for columns in FROM are not modelled");
  scope.sources.push_back({.table = *table, .name = alias.empty() ? name : alias});
  for (std::size_t i = 0; i + 1 < scope.sources.size(); ++i) {
    if (scope.sources[i].name == scope.sources.back().name)
      scope.findings.fail(place,
                          fmt::format("two tables are called '{}' here", scope.sources.back().name),
                          "give one of them another name with AS");
  }
}

// Adds the tables of an entry of FROM; returns the condition of its joins.
std::optional<Expr> add_from(Scope& scope, const Tree& entry, int depth) {
  const std::string kind = kind_of(entry);
  const Tree& node = inside(entry);
  const Place place = scope.place(node);
  if (kind == "RangeVar") {
    add_source(scope, node, place);
    return std::nullopt;
  }
  if (kind != "JoinExpr" || depth > 50) {
    scope.findings.fail(place, "only tables can stand in FROM",
                        "put the subquery or function into a statement or loop of its own");
    return std::nullopt;
  }
  auto condition = add_from(scope, child(node, "larg"), depth + 1);
  const std::size_t first_right = scope.sources.size();
  condition = both(std::move(condition), add_from(scope, child(node, "rarg"), depth + 1));
  const Place at = scope.place(inside(child(node, "rarg")));
  if (text_of(node, "jointype") != "JOIN_INNER")
    scope.findings.fail(at, "LEFT, RIGHT and FULL joins are not modelled",
                        "inner joins are; or use two statements");
  if (has(node, "alias")) scope.findings.fail(at, "a name for a join is not modelled");
  std::vector<std::string> shared;
  for (const Tree& name : child(node, "usingClause")) shared.push_back(string_node(name));
  if (flag_of(node, "isNatural")) {
    for (std::size_t right = first_right; right < scope.sources.size(); ++right) {
      for (const Column& column : scope.table(static_cast<std::uint32_t>(right)).columns) {
        for (std::uint32_t left = 0; left < first_right; ++left) {
          if (!column.is_hidden && find_column(scope.table(left), column.name))
            shared.push_back(column.name);
        }
      }
    }
  }
  condition = both(std::move(condition), merge_columns(scope, shared, first_right, at));
  if (has(node, "quals"))
    condition = both(std::move(condition), build_condition(scope, child(node, "quals")));
  return condition;
}

// The name that SQL gives to a column of a result.
std::string column_name(const Tree& node) {
  const std::string kind = kind_of(node);
  const Tree& inner = inside(node);
  if (kind == "ColumnRef") return last_name(child(inner, "fields"));
  if (kind == "FuncCall") return last_name(child(inner, "funcname"));
  if (kind == "TypeCast") return column_name(child(inner, "arg"));
  if (kind == "CoalesceExpr") return "coalesce";
  if (kind == "CaseExpr") return "case";
  if (kind == "MinMaxExpr") return text_of(inner, "op") == "IS_LEAST" ? "least" : "greatest";
  if (kind == "SubLink" && text_of(inner, "subLinkType") == "EXISTS_SUBLINK") return "exists";
  return "?column?";
}

bool is_star(const Tree& node) {
  const Tree& fields = child(child(node, "ColumnRef"), "fields");
  return fields.is_array() && !fields.empty() && has(fields.back(), "A_Star");
}

void add_star(Scope& scope, const Tree& node, BuiltQuery& built) {
  const Place place = scope.place(inside(node));
  const Tree& fields = child(inside(node), "fields");
  const std::string qualifier = fields.size() > 1 ? string_node(fields[fields.size() - 2]) : "";
  bool any = false;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    const Source& source = scope.sources[i];
    if (!qualifier.empty() && source.name != qualifier) continue;
    any = true;
    const auto& columns = scope.table(i).columns;
    for (std::uint32_t c = 0; c < columns.size(); ++c) {
      const bool is_merged =
          qualifier.empty() &&
          std::ranges::find(source.merged, columns[c].name) != source.merged.end();
      if (columns[c].is_hidden || is_merged) continue;
      built.query.outputs.push_back({.expr = make_column(scope, i, c, place)});
      built.columns.push_back({columns[c].name, columns[c].type, false});
    }
  }
  if (!any) scope.findings.fail(place, "there is no table for this *");
}

void add_plain_outputs(Scope& scope, const Tree& targets, BuiltQuery& built) {
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    const Tree& value = child(target, "val");
    if (is_star(value)) {
      add_star(scope, value, built);
      continue;
    }
    const std::string name = text_of(target, "name");
    Expr expr = build_expr(scope, value);
    built.columns.push_back({name.empty() ? column_name(value) : name, expr.type, expr.is_array});
    built.query.outputs.push_back({.expr = std::move(expr)});
  }
}

bool is_computed(const Expr& expr, const AggregateCall& call) {
  return expr.op != ExprOp::Variable || expr.var != call.var;
}

void add_aggregate_outputs(Scope& scope, const Tree& targets, BuiltQuery& built) {
  std::vector<AggregateCall> calls;
  scope.aggregates = &calls;
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    const Tree& value = child(target, "val");
    const std::string name = text_of(target, "name");
    Expr expr = build_expr(scope, value);
    if (uses_column(expr))
      scope.findings.fail(expr.place, "a column stands beside an aggregate without GROUP BY",
                          "select it in a statement of its own");
    built.columns.push_back({name.empty() ? column_name(value) : name, expr.type, expr.is_array});
    built.computed.push_back(std::move(expr));
  }
  scope.aggregates = nullptr;
  bool computes = calls.size() != built.computed.size();
  for (std::size_t i = 0; !computes && i < calls.size(); ++i)
    computes = is_computed(built.computed[i], calls[i]);
  for (AggregateCall& call : calls) {
    built.query.outputs.push_back(std::move(call.output));
    built.hidden.push_back(call.var);
  }
  if (!computes) {
    built.hidden.clear();
    built.computed.clear();
  }
}

void add_order(Scope& scope, const Tree& sort, const Tree& targets, BuiltQuery& built) {
  for (const Tree& entry : sort) {
    const Tree& key = child(inside(entry), "node");
    OrderBy order{.expr = {}, .descending = text_of(inside(entry), "sortby_dir") == "SORTBY_DESC"};
    const Tree& constant = child(child(key, "A_Const"), "ival");
    const Tree& fields = child(child(key, "ColumnRef"), "fields");
    const std::string name = fields.size() == 1 ? last_name(fields) : "";
    std::optional<std::size_t> position;
    if (!constant.is_null()) position = static_cast<std::size_t>(number_of(constant, "ival") - 1);
    for (std::size_t i = 0; !name.empty() && i < targets.size(); ++i) {
      if (text_of(inside(targets[i]), "name") == name) position = i;
    }
    if (position && *position >= built.query.outputs.size()) {
      scope.findings.fail(scope.place(inside(key)), "ORDER BY has no such column");
      continue;
    }
    order.expr = position ? built.query.outputs[*position].expr : build_expr(scope, key);
    built.query.order_by.push_back(std::move(order));
  }
}

bool mentions_column(const Expr& expr) {
  return expr.op == ExprOp::Column ||
         std::any_of(expr.args.begin(), expr.args.end(), mentions_column);
}

// There is one for all rows, so no column can be in it.
std::optional<Expr> build_count(Scope& scope, const Tree& node, std::string_view what) {
  if (node.is_null() || flag_of(child(node, "A_Const"), "isnull")) return std::nullopt;
  std::optional<Expr> count = adapt(scope, build_expr(scope, node), Type::Integer, false, what);
  if (count && mentions_column(*count))
    scope.findings.fail(scope.where.place(0), fmt::format("{} cannot depend on a column", what));
  return count;
}

Lock build_lock(const Scope& scope, const Tree& clauses) {
  Lock lock = Lock::None;
  for (const Tree& entry : clauses) {
    const Tree& clause = inside(entry);
    const std::string strength = text_of(clause, "strength");
    const Lock asked = strength == "LCS_FORKEYSHARE"      ? Lock::KeyShare
                       : strength == "LCS_FORSHARE"       ? Lock::Share
                       : strength == "LCS_FORNOKEYUPDATE" ? Lock::NoKeyUpdate
                                                          : Lock::Update;
    lock = std::max(lock, asked);
    const std::string wait = text_of(clause, "waitPolicy");
    // Who does not wait fails instead; who skips goes on with other rows.
    if (wait == "LockWaitError")
      scope.findings.note(scope.where.place(0), "NOWAIT is treated as waiting", NoteKind::Free);
    if (wait == "LockWaitSkip")
      scope.findings.note(scope.where.place(0), "SKIP LOCKED is treated as waiting", NoteKind::Gap);
    // FOR UPDATE OF names some of the tables.
    if (has(clause, "lockedRels") && scope.sources.size() > 1)
      scope.findings.note(scope.where.place(0), "a lock OF some tables is treated as one of all",
                          NoteKind::Gap);
  }
  return lock;
}

Place place_of_select(const Scope& scope, const Tree& select) {
  const Tree& targets = child(select, "targetList");
  return scope.where.place(targets.empty() ? 0 : number_of(inside(targets[0]), "location"));
}

}  // namespace

BuiltQuery build_query(const Scope& given, const Tree& select) {
  Scope scope = given;
  scope.sources.clear();
  scope.aggregates = nullptr;
  BuiltQuery built;
  refuse_parts(scope, select, place_of_select(scope, select));
  if (scope.findings.failed()) return built;
  for (const Tree& entry : child(select, "fromClause"))
    built.query.where = both(std::move(built.query.where), add_from(scope, entry, 0));
  for (const Source& source : scope.sources) built.query.sources.push_back(source.table);
  if (scope.findings.failed()) return built;
  if (has(select, "whereClause"))
    built.query.where =
        both(std::move(built.query.where), build_condition(scope, child(select, "whereClause")));
  const Tree& targets = child(select, "targetList");
  if (contains_aggregate(targets)) {
    add_aggregate_outputs(scope, targets, built);
  } else {
    add_plain_outputs(scope, targets, built);
    add_order(scope, child(select, "sortClause"), targets, built);
  }
  const Tree& distinct = child(select, "distinctClause");
  built.query.distinct = distinct.is_array() && !distinct.empty();
  if (built.query.distinct && !distinct[0].is_null() && !distinct[0].empty())
    scope.findings.fail(place_of_select(scope, select), "DISTINCT ON is not modelled",
                        "ORDER BY … LIMIT 1 is");
  built.query.limit = build_count(scope, child(select, "limitCount"), "LIMIT");
  built.query.offset = build_count(scope, child(select, "limitOffset"), "OFFSET");
  built.query.lock = build_lock(scope, child(select, "lockingClause"));
  return built;
}

std::vector<VarId> bind_targets(const Scope& scope, const std::vector<ResultColumn>& columns,
                                const std::vector<std::size_t>& named, Place place) {
  Frame& frame = *scope.frame;
  std::vector<VarId> targets;
  if (named.size() == 1 && frame.named(named[0]).is_record) {
    const bool is_row = frame.named(named[0]).is_row;
    if (is_row && frame.named(named[0]).fields.size() != columns.size()) {
      scope.findings.fail(
          place, fmt::format("{} values for the {} fields of '{}'", columns.size(),
                             frame.named(named[0]).fields.size(), frame.named(named[0]).name));
      return targets;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      targets.push_back(is_row ? frame.named(named[0]).fields[i].second
                               : frame.field(named[0], columns[i].name, columns[i].type,
                                             columns[i].is_array, place));
    }
    return targets;
  }
  for (const std::size_t number : named) {
    if (frame.named(number).is_record) {
      scope.findings.fail(place, fmt::format("the record '{}' is one of several targets",
                                             frame.named(number).name));
      return targets;
    }
    targets.push_back(frame.named(number).var);
  }
  if (targets.size() != columns.size())
    scope.findings.fail(place,
                        fmt::format("{} values for {} variables", columns.size(), targets.size()));
  return targets;
}

namespace {

// Makes the results fit the variables that get them.
void fit(const Scope& given, BuiltQuery& built, const std::vector<VarId>& targets) {
  Scope scope = given;
  for (std::size_t i = 0; i < targets.size() && i < built.columns.size(); ++i) {
    const Variable& variable = scope.frame->variable(targets[i]);
    const std::string what = fmt::format("'{}'", variable.name);
    const auto fitted = [&](Expr& expr) {
      expr = adapt(scope, std::move(expr), variable.type, variable.is_array, what);
    };
    if (!built.computed.empty()) {
      fitted(built.computed[i]);
    } else if (built.query.outputs[i].aggregate == Aggregate::None) {
      fitted(built.query.outputs[i].expr);
    } else if (variable.type != built.columns[i].type || variable.is_array) {
      scope.findings.fail(built.query.outputs[i].expr.place,
                          fmt::format("{} is {}, but gets {}", what, a_type(variable.type),
                                      a_type(built.columns[i].type)));
    }
  }
}

// target := result, for results that are computed of aggregates.
void add_computed(std::vector<Statement>& to, const BuiltQuery& built,
                  const std::vector<VarId>& targets, const Statement& model) {
  for (std::size_t i = 0; i < built.computed.size() && i < targets.size(); ++i) {
    Statement assign = model;
    assign.op = StatementOp::Assign;
    assign.targets = {targets[i]};
    assign.expr = built.computed[i];
    to.push_back(std::move(assign));
  }
}

}  // namespace

void make_one_statement(std::vector<Statement>& before, std::vector<Statement>& made) {
  bool has_begun = false;
  for (std::vector<Statement>* list : {&before, &made}) {
    for (Statement& statement : *list) {
      if (!statement.is_sql()) continue;
      statement.continues = has_begun;
      has_begun = true;
    }
  }
}

void add_select(std::vector<Statement>& to, const Scope& scope, BuiltQuery built,
                std::vector<VarId> targets, bool strict, const Statement& model) {
  if (scope.findings.failed()) return;
  fit(scope, built, targets);
  Statement select = model;
  select.op = StatementOp::Select;
  select.query = std::move(built.query);
  select.strict = strict;
  select.targets = built.computed.empty() ? targets : built.hidden;
  to.push_back(std::move(select));
  add_computed(to, built, targets, model);
}

Statement make_loop(const Scope& scope, BuiltQuery built, std::vector<VarId> targets,
                    const Statement& model) {
  Statement loop = model;
  loop.op = StatementOp::ForQuery;
  if (scope.findings.failed()) return loop;
  fit(scope, built, targets);
  loop.query = std::move(built.query);
  loop.targets = built.computed.empty() ? targets : built.hidden;
  add_computed(loop.body, built, targets, model);
  return loop;
}

}  // namespace isoscope::sql
