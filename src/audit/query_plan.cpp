#include "audit/query_plan.h"

#include <algorithm>

namespace isoscope::audit {

using sql::ExprOp;

namespace {

void add_conjuncts(const sql::Expr& expr, std::vector<const sql::Expr*>& conjuncts) {
  if (expr.op != ExprOp::And) {
    conjuncts.push_back(&expr);
    return;
  }
  for (const sql::Expr& arg : expr.args) add_conjuncts(arg, conjuncts);
}

}  // namespace

void add_columns(const sql::Expr& expr,
                 std::set<std::pair<sql::SourceId, sql::ColumnId>>& columns) {
  if (expr.op == ExprOp::Column) columns.insert({expr.source, expr.column});
  for (const sql::Expr& arg : expr.args) add_columns(arg, columns);
}

std::set<std::pair<sql::SourceId, sql::ColumnId>> columns_of(const sql::Expr& expr) {
  std::set<std::pair<sql::SourceId, sql::ColumnId>> columns;
  add_columns(expr, columns);
  return columns;
}

bool mentions(const std::vector<sql::ColumnId>& constraint,
              const std::set<sql::ColumnId>& columns) {
  return std::ranges::any_of(constraint, [&](sql::ColumnId c) { return columns.contains(c); });
}

Window window_of(const sql::Query& query) {
  const auto is_null = [](const sql::Expr& expr) { return expr.op == sql::ExprOp::Null; };
  Window window;
  window.is_whole = !query.limit && !query.offset && !query.distinct;
  const auto& offset = query.offset;
  if (offset && !is_null(*offset))
    window.has_first = offset->op == sql::ExprOp::Integer && offset->number == 0;
  const auto& limit = query.limit;
  if (!limit || is_null(*limit)) return window;
  if (limit->op == sql::ExprOp::Integer && limit->number > 0) {
    window.max_rows = static_cast<std::size_t>(limit->number);
  } else {
    window.has_first = false;
  }
  return window;
}

QueryPlan plan_of(const Symbols& symbols, const ById<sql::SourceId, sql::TableId>& sources,
                  const std::optional<sql::Expr>& where) {
  QueryPlan plan;
  std::vector<const sql::Expr*> conjuncts;
  if (where) add_conjuncts(*where, conjuncts);
  for (const sql::SourceId s : sources.ids()) {
    SourcePlan source;
    source.table = sources[s];
    for (const sql::Expr* conjunct : conjuncts) {
      bool is_fixed = true;
      for (const auto& [of, column] : columns_of(*conjunct)) {
        const bool may_change = of == s && symbols.may_change(sources[s], Attribute(column));
        is_fixed = is_fixed && of == s && !may_change;
        if (may_change) source.where_columns.insert(column);
      }
      if (is_fixed) source.fixed.push_back(conjunct);
    }
    plan.sources.push_back(std::move(source));
  }
  ById<sql::SourceId, bool> is_placed(sources.size(), false);
  // What the key columns of a source equal, in terms of variables and sources that are placed.
  const auto bind = [&](sql::SourceId s) {
    SourcePlan& source = plan.sources[s];
    const sql::Table& table = symbols.app().table(source.table);
    source.key.assign(table.primary_key.size(), nullptr);
    source.is_fixed = true;
    for (const sql::Expr* conjunct : conjuncts) {
      if (conjunct->op != ExprOp::Equal) continue;
      for (int side = 0; side < 2; ++side) {
        const sql::Expr& column = conjunct->args[static_cast<std::size_t>(side)];
        const sql::Expr& other = conjunct->args[static_cast<std::size_t>(1 - side)];
        if (column.op != ExprOp::Column || column.source != s) continue;
        const auto place = std::ranges::find(table.primary_key, column.column);
        const auto used = columns_of(other);
        const bool is_known =
            std::ranges::all_of(used, [&](const auto& use) { return is_placed[use.first]; });
        const auto k = static_cast<std::size_t>(place - table.primary_key.begin());
        if (place == table.primary_key.end() || !is_known || source.key[k] != nullptr) continue;
        source.key[k] = &other;
        source.is_fixed = source.is_fixed && used.empty();
      }
    }
    source.is_keyed = std::ranges::find(source.key, nullptr) == source.key.end();
    source.is_fixed = source.is_fixed && source.is_keyed;
  };
  while (plan.order.size() < sources.size()) {
    std::optional<sql::SourceId> next;
    for (const sql::SourceId s : sources.ids()) {
      if (next || is_placed[s]) continue;
      bind(s);
      if (plan.sources[s].is_keyed) next = s;
    }
    for (const sql::SourceId s : sources.ids()) {
      if (!next && !is_placed[s]) next = s;
    }
    is_placed[*next] = true;
    plan.order.push_back(*next);
    plan.is_fixed = plan.is_fixed && plan.sources[*next].is_fixed;
  }
  return plan;
}

}  // namespace isoscope::audit
