#include <fmt/format.h>

#include <algorithm>

#include "sql/read/query_parts.h"
#include "sql/read/whole_queries.h"

namespace isoscope::sql {
namespace {

// Fails for parts of a SELECT that we do not model.
void refuse_parts(const Scope& scope, const Tree& select, Place place) {
  Findings& findings = scope.findings;
  if (has(select, "windowClause")) findings.fail(place, "WINDOW is not modelled");
  if (has(select, "intoClause")) findings.fail(place, "SELECT INTO a new table is not modelled");
  if (text_of(select, "limitOption") == "LIMIT_OPTION_WITH_TIES")
    findings.fail(place, "WITH TIES is not modelled");
}

// Does some part of the query need rows of its own: groups, FILTER, DISTINCT ON, or something in
// FROM that is no table?
bool needs_rows(const Scope& scope, const Tree& select) {
  if (has(select, "groupClause") || has(select, "havingClause")) return true;
  const Tree& distinct = child(select, "distinctClause");
  if (distinct.is_array() && !distinct.empty() && !distinct[0].is_null() && !distinct[0].empty())
    return true;
  if (contains_key(child(select, "targetList"), "agg_filter") ||
      contains_key(child(select, "targetList"), "agg_order"))
    return true;
  const Tree& from = child(select, "fromClause");
  return !std::ranges::all_of(from, [&](const Tree& entry) { return is_native(scope, entry, 0); });
}

}  // namespace

std::string column_name(const Tree& node) {
  const std::string kind = kind_of(node);
  const Tree& inner = inside(node);
  if (kind == "ColumnRef") return last_name(child(inner, "fields"));
  if (kind == "FuncCall") return last_name(child(inner, "funcname"));
  if (kind == "TypeCast") {
    const std::string of = column_name(child(inner, "arg"));
    return of == "?column?" ? last_name(child(child(inner, "typeName"), "names")) : of;
  }
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

namespace {

// Columns as * has them: those that a join merges come first in it.
struct StarColumns {
  std::vector<NamedExpr> columns;
  std::vector<std::uint32_t> sources;  // whose column each is

  std::size_t begin_of(std::uint32_t source) const {
    const auto is_in = [&](std::uint32_t other) { return other >= source; };
    return static_cast<std::size_t>(std::ranges::find_if(sources, is_in) - sources.begin());
  }
  void insert(std::size_t at, NamedExpr column, std::uint32_t source) {
    columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(at), std::move(column));
    sources.insert(sources.begin() + static_cast<std::ptrdiff_t>(at), source);
  }
  // Moves the first column of this name behind `begin` to `at`.
  void move_up(std::size_t begin, std::size_t at, const std::string& name) {
    std::size_t from = begin;
    while (from < columns.size() && columns[from].name != name) ++from;
    if (from <= at || from == columns.size()) return;
    NamedExpr column = std::move(columns[from]);
    const std::uint32_t source = sources[from];
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(from));
    sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(from));
    insert(at, std::move(column), source);
  }
};

// r.* of a variable that is a row of a table.
bool add_fields(const Scope& scope, const std::string& name, Place place,
                std::vector<NamedExpr>& columns) {
  const NamedVariable* record = scope.frame != nullptr ? scope.frame->find(name) : nullptr;
  if (record == nullptr || !record->is_row) return false;
  for (const FieldVariable& field : record->fields) {
    if (!field.is_hidden)
      columns.push_back({field.name, make_variable(*scope.frame, field.var, place)});
  }
  return true;
}

}  // namespace

std::vector<NamedExpr> star_columns(const Scope& scope, const Tree& node) {
  const Place place = scope.place(inside(node));
  const Tree& fields = child(inside(node), "fields");
  const std::string qualifier = fields.size() > 1 ? string_node(fields[fields.size() - 2]) : "";
  StarColumns star;
  bool any = false;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    const Source& source = scope.sources[i];
    if (!qualifier.empty() && source.name != qualifier) continue;
    any = true;
    const bool is_first = qualifier.empty() && source.is_shown_first;
    std::size_t at = is_first ? star.begin_of(source.joins_from) : star.columns.size();
    for (const ColumnName& column : columns_of_source(scope, i)) {
      const bool is_merged =
          qualifier.empty() && std::ranges::find(source.merged, column.name) != source.merged.end();
      if (is_merged) continue;
      star.insert(at++, {std::string(column.name), make_column(scope, i, column.number, place)}, i);
    }
    if (!qualifier.empty()) continue;
    const std::size_t begin = star.begin_of(source.joins_from);
    for (std::size_t k = 0; k < source.merged.size(); ++k)
      star.move_up(begin, begin + k, source.merged[k]);
  }
  if (!any && add_fields(scope, qualifier, place, star.columns)) return std::move(star.columns);
  if (!any) scope.findings.fail(place, "there is no table for this *");
  return std::move(star.columns);
}

std::vector<NamedExpr> target_columns(Scope& scope, const Tree& targets) {
  std::vector<NamedExpr> columns;
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    const Tree& value = child(target, "val");
    if (is_star(value)) {
      for (NamedExpr& column : star_columns(scope, value)) columns.push_back(std::move(column));
      continue;
    }
    const std::string name = text_of(target, "name");
    Expr expr = build_expr(scope, value);
    columns.push_back({name.empty() ? column_name(value) : name, std::move(expr)});
  }
  return columns;
}

namespace {

void add_plain_outputs(Scope& scope, const Tree& targets, BuiltQuery& built) {
  for (NamedExpr& column : target_columns(scope, targets)) {
    built.columns.push_back(
        {column.name, column.expr.type, column.expr.is_array, column.expr.bits});
    built.query.outputs.push_back({.expr = std::move(column.expr)});
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
    built.columns.push_back(
        {name.empty() ? column_name(value) : name, expr.type, expr.is_array, expr.bits});
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

void add_order(Scope scope, const Tree& sort, const Tree& targets, BuiltQuery& built) {
  scope.names_may_clash = false;  // a name may be that of an output, which comes first
  for (const Tree& entry : sort) {
    const Tree& key = child(inside(entry), "node");
    OrderBy order = order_direction(inside(entry));
    const auto position = output_position(scope, key, targets);
    if (position && *position >= built.query.outputs.size()) {
      scope.findings.fail(scope.place(inside(key)), "ORDER BY has no such column");
      continue;
    }
    order.expr = position ? built.query.outputs[*position].expr : build_expr(scope, key);
    note_order(scope, order.expr, order.expr.place);
    built.query.order_by.push_back(std::move(order));
  }
}

}  // namespace

OrderBy order_direction(const Tree& sort) {
  OrderBy order{.expr = {}, .descending = text_of(sort, "sortby_dir") == "SORTBY_DESC"};
  const std::string nulls = text_of(sort, "sortby_nulls");
  if (nulls == "SORTBY_NULLS_FIRST") order.nulls_first = true;
  if (nulls == "SORTBY_NULLS_LAST") order.nulls_first = false;
  return order;
}

std::optional<std::size_t> output_position(const Scope& scope, const Tree& key,
                                           const Tree& targets) {
  const Tree& constant = child(child(key, "A_Const"), "ival");
  if (!constant.is_null()) return static_cast<std::size_t>(number_of(constant, "ival") - 1);
  const Tree& fields = child(child(key, "ColumnRef"), "fields");
  const std::string name = fields.size() == 1 ? last_name(fields) : "";
  if (name.empty()) return std::nullopt;
  std::size_t position = 0;
  for (const Tree& entry : targets) {
    const Tree& target = inside(entry);
    if (text_of(target, "name") == name) return position;
    const Tree& value = child(target, "val");
    position += is_star(value) ? star_columns(scope, value).size() : 1;
  }
  return std::nullopt;
}

// There is one for all rows, so no column can be in it.
std::optional<Expr> build_count(Scope& scope, const Tree& node, std::string_view what) {
  if (node.is_null() || flag_of(child(node, "A_Const"), "isnull")) return std::nullopt;
  std::optional<Expr> count = adapt(scope, build_expr(scope, node), Type::Integer, false, what);
  if (count && uses_column(*count))
    scope.findings.fail(scope.where.place(0), fmt::format("{} cannot depend on a column", what));
  return count;
}

namespace {

void build_lock(const Scope& scope, const Tree& clauses, Query& query) {
  Lock& lock = query.lock;
  for (const Tree& entry : clauses) {
    const Tree& clause = inside(entry);
    const std::string strength = text_of(clause, "strength");
    const Lock asked = strength == "LCS_FORKEYSHARE"      ? Lock::KeyShare
                       : strength == "LCS_FORSHARE"       ? Lock::Share
                       : strength == "LCS_FORNOKEYUPDATE" ? Lock::NoKeyUpdate
                                                          : Lock::Update;
    lock = std::max(lock, asked);
    const std::string wait = text_of(clause, "waitPolicy");
    if (wait == "LockWaitError") query.wait = LockWait::Fail;
    if (wait == "LockWaitSkip") query.wait = LockWait::Skip;
    // FOR UPDATE OF names some of the tables.
    if (has(clause, "lockedRels") && scope.sources.size() > 1)
      scope.findings.note(scope.where.place(0), "a lock OF some tables is treated as one of all",
                          NoteKind::Gap);
  }
}

}  // namespace

Place place_of_select(const Scope& scope, const Tree& select) {
  const Tree& targets = child(select, "targetList");
  return scope.where.place(targets.empty() ? 0 : number_of(inside(targets[0]), "location"));
}

namespace {

// A query of tables, inner joins and conditions: as it is.
BuiltQuery build_native(Scope& scope, const Tree& select) {
  BuiltQuery built;
  scope.tables = &built.query.sources;
  for (const Tree& entry : child(select, "fromClause"))
    built.query.where = both(std::move(built.query.where), add_from(scope, entry, 0));
  if (scope.findings.failed()) return built;
  if (has(select, "whereClause"))
    built.query.where =
        both(std::move(built.query.where), build_filter(scope, child(select, "whereClause")));
  const Tree& targets = child(select, "targetList");
  if (contains_aggregate(targets)) {
    add_aggregate_outputs(scope, targets, built);
  } else {
    add_plain_outputs(scope, targets, built);
    add_order(scope, child(select, "sortClause"), targets, built);
  }
  const Tree& distinct = child(select, "distinctClause");
  built.query.distinct = distinct.is_array() && !distinct.empty();
  built.query.limit = build_count(scope, child(select, "limitCount"), "LIMIT");
  built.query.offset = build_count(scope, child(select, "limitOffset"), "OFFSET");
  // Some are computed before the rows are sorted and counted, others after.
  if (built.query.limit || !built.query.order_by.empty()) note_unused_failures(scope, built);
  build_lock(scope, child(select, "lockingClause"), built.query);
  if (has(select, "lockingClause") && (built.query.distinct || built.query.is_aggregate()))
    scope.findings.fail(
        place_of_select(scope, select),
        "the server refuses FOR UPDATE and FOR SHARE beside DISTINCT and aggregates",
        "lock the rows by a query before");
  return built;
}

}  // namespace

BuiltQuery build_query(const Scope& given, const Tree& select) {
  Scope scope = given;
  note_partial_locks(scope, select);
  // What is built from here on is a part of it.
  const bool runs_whole = !scope.is_subquery || scope.runs_whole == &select;
  scope.is_subquery = true;
  scope.runs_whole = runs_whole ? &select : nullptr;
  scope.sources.clear();
  scope.first_source_only = false;
  scope.aggregates = nullptr;
  const std::string op = text_of(select, "op");
  for (const char* part : {"fromClause", "whereClause", "withClause", "limitCount", "limitOffset"})
    scope.may_not_run = scope.may_not_run || has(select, part);
  scope.may_not_run = scope.may_not_run || (!op.empty() && op != "SETOP_NONE");
  if (has(select, "withClause")) add_with(scope, select);
  if (!scope.findings.failed() && !op.empty() && op != "SETOP_NONE")
    return build_set_operation(scope, select);
  if (!scope.findings.failed() && has(select, "valuesLists")) return build_values(scope, select);
  refuse_parts(scope, select, place_of_select(scope, select));
  if (scope.findings.failed()) return {};
  bool is_used_inside = needs_rows(scope, select);
  if (!is_used_inside) {
    const std::size_t mark = scope.before != nullptr ? scope.before->size() : 0;
    Scope native = scope;
    native.is_used_inside = scope.before != nullptr ? &is_used_inside : nullptr;
    BuiltQuery built = build_native(native, select);
    if (!is_used_inside || scope.findings.failed()) return built;
    scope.before->resize(mark);
  }
  return build_by_rows(scope, select);
}

}  // namespace isoscope::sql
