#include "audit/symbolic_plan.h"

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
                 std::set<std::pair<std::uint32_t, std::uint32_t>>& columns) {
  if (expr.op == ExprOp::Column) columns.insert({expr.source, expr.column});
  for (const sql::Expr& arg : expr.args) add_columns(arg, columns);
}

std::set<std::pair<std::uint32_t, std::uint32_t>> columns_of(const sql::Expr& expr) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> columns;
  add_columns(expr, columns);
  return columns;
}

SymbolicRun::Plan SymbolicRun::plan(std::span<const sql::TableId> sources,
                                    const std::optional<sql::Expr>& where) const {
  Plan plan;
  std::vector<const sql::Expr*> conjuncts;
  if (where) add_conjuncts(*where, conjuncts);
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    Plan::OfSource source;
    source.table = sources[s];
    for (const sql::Expr* conjunct : conjuncts) {
      bool is_fixed = true;
      for (const auto& [of, column] : columns_of(*conjunct)) {
        is_fixed = is_fixed && of == s && !changes(sources[s], column);
        if (of == s && changes(sources[s], column)) source.where_columns.insert(column);
      }
      if (is_fixed) source.fixed.push_back(conjunct);
    }
    plan.sources.push_back(std::move(source));
  }
  std::vector<bool> is_placed(sources.size(), false);
  // What the key columns of a source equal, in terms of variables and sources that are placed.
  const auto bind = [&](std::uint32_t s) {
    Plan::OfSource& source = plan.sources[s];
    const sql::Table& table = symbols_.app().table(source.table);
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
    std::optional<std::uint32_t> next;
    for (std::uint32_t s = 0; s < sources.size() && !next; ++s) {
      if (is_placed[s]) continue;
      bind(s);
      if (plan.sources[s].is_keyed) next = s;
    }
    for (std::uint32_t s = 0; s < sources.size() && !next; ++s) {
      if (!is_placed[s]) next = s;
    }
    is_placed[*next] = true;
    plan.order.push_back(*next);
    plan.is_fixed = plan.is_fixed && plan.sources[*next].is_fixed;
  }
  return plan;
}

std::vector<Source> SymbolicRun::rows_of(const Plan& plan, const Frame& frame) {
  std::vector<Source> rows(plan.sources.size());
  for (std::uint32_t s = 0; s < rows.size(); ++s) rows[s].table = plan.sources[s].table;
  for (const std::uint32_t s : plan.order) {
    for (const sql::Expr* key : plan.sources[s].key) {
      rows[s].row.push_back(key != nullptr ? terms_.eval(*key, frame.with(rows)).number
                                           : symbols_.fresh_number("row"));
    }
    instance_.named_rows.emplace_back(rows[s].table, rows[s].row);
  }
  return rows;
}

}  // namespace isoscope::audit
