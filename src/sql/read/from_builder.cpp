// FROM of tables, inner joins, and of views and subqueries that can be written out.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

constexpr int kMaxJoins = 50;

// SELECT columns FROM … WHERE …, and nothing else: its rows are rows of the tables.
bool is_flat(const Scope& scope, const Tree& select, int depth) {
  const std::string op = text_of(select, "op");
  if (!op.empty() && op != "SETOP_NONE") return false;
  for (const char* part :
       {"withClause", "groupClause", "havingClause", "distinctClause", "limitCount", "limitOffset",
        "lockingClause", "valuesLists", "windowClause", "sortClause"}) {
    if (has(select, part)) return false;
  }
  const Tree& targets = child(select, "targetList");
  if (contains_aggregate(targets) || contains_key(targets, "over")) return false;
  const Tree& from = child(select, "fromClause");
  return !from.empty() && std::ranges::all_of(from, [&](const Tree& entry) {
    return is_native(scope, entry, depth + 1);
  });
}

// The scope of a query that sees none of the tables beside it.
Scope scope_apart(const Scope& scope) {
  Scope inner = scope;
  inner.sources.clear();
  inner.first_source_only = false;
  return inner;
}

// Writes out a flat query: its tables become those of the query around it.
std::optional<Expr> add_flat(Scope& scope, Scope inner, const Tree& select,
                             const std::vector<std::string>& names, std::string name, int depth) {
  std::optional<Expr> condition;
  for (const Tree& entry : child(select, "fromClause"))
    condition = both(std::move(condition), add_from(inner, entry, depth + 1));
  if (has(select, "whereClause"))
    condition = both(std::move(condition), build_filter(inner, child(select, "whereClause")));
  Source source{.name = std::move(name)};
  source.columns.emplace();
  for (NamedExpr& column : target_columns(inner, child(select, "targetList"))) {
    const std::size_t number = source.columns->size();
    source.columns->push_back({number < names.size() ? names[number] : column.name,
                               column.expr.type, column.expr.is_array, column.expr.bits,
                               std::move(column.expr)});
  }
  scope.sources.push_back(std::move(source));
  return condition;
}

std::vector<std::string> names_of(const Tree& alias) {
  std::vector<std::string> names;
  for (const Tree& name : child(alias, "colnames")) names.push_back(string_node(name));
  return names;
}

std::optional<Expr> add_range(Scope& scope, const Tree& range, Place place, int depth) {
  const std::string name = text_of(range, "relname");
  const Tree& alias = child(range, "alias");
  const std::string called =
      text_of(alias, "aliasname").empty() ? name : text_of(alias, "aliasname");
  if (const View* view = scope.catalog.find_view(name)) {
    view->check(name, place, scope.findings);
    Scope inner = scope_apart(scope);
    inner.where = view->where;
    inner.names_may_clash = false;  // it was read when the view was made
    inner.outer = nullptr;
    inner.with.clear();
    std::vector<std::string> names = names_of(alias);
    if (names.empty()) names = view->names;
    return add_flat(scope, std::move(inner), *view->select, names, called, depth);
  }
  const auto table = scope.catalog.expect_table(name, place, scope.findings);
  if (!table) return std::nullopt;
  note_catalog(scope, *table, place);
  Source source{.table = *table, .name = called, .number = scope.tables->next_id()};
  scope.tables->push_back(*table);
  scope.sources.push_back(std::move(source));
  const std::vector<std::string> names = names_of(alias);
  if (names.empty()) return std::nullopt;
  Source::Columns columns;
  const auto number = static_cast<std::uint32_t>(scope.sources.size() - 1);
  for (const ColumnName& column : columns_of_source(scope, number)) {
    Expr value = make_column(scope, number, column.number, place);
    columns.push_back(
        {columns.size() < names.size() ? names[columns.size()] : std::string(column.name),
         value.type, false, value.bits, std::move(value)});
  }
  scope.sources.back().columns = std::move(columns);
  return std::nullopt;
}

}  // namespace

bool contains_key(const Tree& node, std::string_view key) {
  if (node.is_array())
    return std::ranges::any_of(node, [&](const Tree& each) { return contains_key(each, key); });
  if (!node.is_object()) return false;
  for (const auto& [name, value] : node.items()) {
    if (name == key || (name != "SubLink" && contains_key(value, key))) return true;
  }
  return false;
}

bool is_native(const Scope& scope, const Tree& entry, int depth) {
  if (depth > kMaxJoins) return false;
  const std::string kind = kind_of(entry);
  const Tree& node = inside(entry);
  if (kind == "RangeVar") {
    const std::string name = text_of(node, "relname");
    if (find_with(scope, name) != nullptr) return false;
    const View* view = scope.catalog.find_view(name);
    return view == nullptr || is_flat(scope, *view->select, depth);
  }
  if (kind == "RangeSubselect")
    return !flag_of(node, "lateral") &&
           is_flat(scope, child(child(node, "subquery"), "SelectStmt"), depth);
  if (kind != "JoinExpr" || text_of(node, "jointype") != "JOIN_INNER" || has(node, "alias"))
    return false;
  return is_native(scope, child(node, "larg"), depth + 1) &&
         is_native(scope, child(node, "rarg"), depth + 1);
}

void check_name(const Scope& scope, Place place) {
  for (std::size_t i = 0; i + 1 < scope.sources.size(); ++i) {
    if (!scope.sources[i].name.empty() && scope.sources[i].name == scope.sources.back().name)
      scope.findings.fail(place,
                          fmt::format("two tables are called '{}' here", scope.sources.back().name),
                          "give one of them another name with AS");
  }
}

namespace {

// The columns of USING, or those that both sides have, in the order of the left one.
std::vector<std::string> common_columns(const Scope& scope, const Tree& join, std::uint32_t first,
                                        std::uint32_t first_right) {
  std::vector<std::string> names;
  for (const Tree& name : child(join, "usingClause")) names.push_back(string_node(name));
  if (!flag_of(join, "isNatural")) return names;
  for (std::uint32_t left = first; left < first_right; ++left) {
    for (const ColumnName& column : columns_of_source(scope, left)) {
      if (std::ranges::find(names, column.name) != names.end()) continue;
      for (std::uint32_t right = first_right; right < scope.sources.size(); ++right) {
        if (!find_source_column(scope, right, column.name)) continue;
        names.emplace_back(column.name);
        break;
      }
    }
  }
  return names;
}

}  // namespace

std::optional<Expr> merge_columns(Scope& scope, const Tree& join, std::size_t first_left,
                                  std::size_t first_right, Place place) {
  const auto first = static_cast<std::uint32_t>(first_left);
  const auto middle = static_cast<std::uint32_t>(first_right);
  const std::vector<std::string> names = common_columns(scope, join, first, middle);
  std::optional<Expr> equalities;
  for (const std::string& name : names) {
    for (std::uint32_t right = middle; right < scope.sources.size(); ++right) {
      const auto right_column = find_source_column(scope, right, name);
      if (!right_column) continue;
      for (std::uint32_t left = first; left < middle; ++left) {
        const auto left_column = find_source_column(scope, left, name);
        if (!left_column) continue;
        equalities =
            both(std::move(equalities), make(ExprOp::Equal, Type::Boolean,
                                             {make_column(scope, left, *left_column, place),
                                              make_column(scope, right, *right_column, place)},
                                             place));
        scope.sources[right].merged.push_back(name);
        scope.sources[right].joins_from = first;
        break;
      }
    }
  }
  if (!names.empty() && !equalities)
    scope.findings.fail(place, fmt::format("no column '{}' on both sides of JOIN", names.front()));
  return equalities;
}

std::optional<Expr> add_from(Scope& scope, const Tree& entry, int depth) {
  const std::string kind = kind_of(entry);
  const Tree& node = inside(entry);
  const Place place = scope.place(node);
  std::optional<Expr> condition;
  if (kind == "RangeVar") {
    condition = add_range(scope, node, place, depth);
    if (!scope.findings.failed()) check_name(scope, place);
    return condition;
  }
  if (kind == "RangeSubselect") {
    const Tree& alias = child(node, "alias");
    condition = add_flat(scope, scope_apart(scope), child(child(node, "subquery"), "SelectStmt"),
                         names_of(alias), text_of(alias, "aliasname"), depth);
    if (!scope.findings.failed()) check_name(scope, place);
    return condition;
  }
  const std::size_t first_left = scope.sources.size();
  condition = add_from(scope, child(node, "larg"), depth + 1);
  const std::size_t first_right = scope.sources.size();
  condition = both(std::move(condition), add_from(scope, child(node, "rarg"), depth + 1));
  if (scope.findings.failed()) return condition;
  const Place at = scope.place(inside(child(node, "rarg")));
  condition = both(std::move(condition), merge_columns(scope, node, first_left, first_right, at));
  if (has(node, "quals"))
    condition = both(std::move(condition), build_filter(scope, child(node, "quals")));
  return condition;
}

void note_catalog(const Scope& scope, TableId table, Place place) {
  const Table& declared = scope.catalog.table(table);
  if (declared.place.line != 0) return;
  scope.findings.note(place,
                      fmt::format("rows of the system catalog {} are not known, and taken to stay "
                                  "as they are",
                                  declared.name),
                      NoteKind::Gap);
}

}  // namespace isoscope::sql
