// Views that are changed: which table they stand for.
#include <fmt/format.h>

#include <set>

#include "sql/read/write_builder.h"

namespace isoscope::sql {
namespace {

constexpr int kMaxViews = 50;

// Why the server, or we, cannot change the view; empty if we can. ORDER BY says nothing about a
// change.
std::string why_fixed(const View& view) {
  if (!view.refusal.empty()) return "it has " + view.refusal;
  const Tree& select = *view.select;
  const std::string op = text_of(select, "op");
  if (!op.empty() && op != "SETOP_NONE") return "it is made of several queries";
  for (const char* part :
       {"withClause", "groupClause", "havingClause", "distinctClause", "limitCount", "limitOffset",
        "lockingClause", "valuesLists", "windowClause"}) {
    if (has(select, part)) return "it is more than a choice of rows and columns";
  }
  const Tree& from = child(select, "fromClause");
  if (from.size() != 1 || kind_of(from[0]) != "RangeVar") return "it is not of one table";
  const Tree& targets = child(select, "targetList");
  if (contains_aggregate(targets) || contains_key(targets, "over"))
    return "it is more than a choice of rows and columns";
  for (const char* part : {"targetList", "whereClause"}) {
    if (contains_key(child(select, part), "SubLink")) return "it has a subquery";
  }
  return "";
}

}  // namespace

std::optional<ColumnId> ViewTarget::find(std::string_view name) const {
  std::set<ColumnId> seen;
  for (const Source::Column& column : columns) {
    if (!column.value || column.value->op != ExprOp::Column) continue;
    // A second name for one column would let a statement set it twice.
    if (!seen.insert(column.value->column).second) continue;
    if (column.name == name) return column.value->column;
  }
  return std::nullopt;
}

std::optional<ViewTarget> view_target(const Scope& scope, const std::string& name, Place place,
                                      int depth) {
  const View& view = *scope.catalog.find_view(name);
  const std::string why = depth > kMaxViews ? "it is one of too many views" : why_fixed(view);
  if (!why.empty()) {
    scope.findings.fail(place,
                        fmt::format("a change of the view '{}' is not modelled: {}", name, why),
                        "change its table");
    return std::nullopt;
  }
  const Tree& range = inside(child(*view.select, "fromClause")[0]);
  const std::string of = text_of(range, "relname");
  const std::string alias = text_of(child(range, "alias"), "aliasname");
  Scope inner = scope;
  inner.where = view.where;
  inner.names_may_clash = false;  // it was read when the view was made
  inner.outer = nullptr;
  inner.with.clear();
  inner.before = nullptr;
  Source source{.name = alias.empty() ? of : alias};
  ViewTarget target;
  if (scope.catalog.find_view(of) != nullptr) {
    auto below = view_target(scope, of, place, depth + 1);
    if (!below) return std::nullopt;
    target = *std::move(below);
    source.columns = target.columns;
  } else {
    const auto table = scope.catalog.expect_table(of, place, scope.findings);
    if (!table) return std::nullopt;
    target.table = *table;
  }
  if (has(child(range, "alias"), "colnames")) {
    scope.findings.fail(place,
                        fmt::format("a change of the view '{}', which renames columns in FROM, is "
                                    "not modelled",
                                    name),
                        "change its table");
    return std::nullopt;
  }
  source.table = target.table;
  inner.sources = {std::move(source)};
  inner.first_source_only = false;
  if (has(*view.select, "whereClause"))
    target.where =
        both(std::move(target.where), build_condition(inner, child(*view.select, "whereClause")));
  target.columns.clear();
  for (NamedExpr& column : target_columns(inner, child(*view.select, "targetList"))) {
    const std::size_t number = target.columns.size();
    target.columns.push_back({number < view.names.size() ? view.names[number] : column.name,
                              column.expr.type, column.expr.is_array, column.expr.bits,
                              std::move(column.expr)});
  }
  return target;
}

}  // namespace isoscope::sql
