#include "sql/read/whole_queries.h"

#include <algorithm>
#include <array>

#include "sql/read/lazy_parts.h"
#include "sql/read/query_parts.h"

namespace isoscope::sql {
namespace {

constexpr std::string_view kPartialLock =
    "the server locks only as many rows of this subquery as it asks for, or none";

bool is_constant(const Tree& node) {
  return kind_of(node) == "A_Const" && !flag_of(inside(node), "isnull");
}

std::string name_of_range(const Tree& range) {
  const std::string alias = text_of(child(range, "alias"), "aliasname");
  return alias.empty() ? text_of(range, "relname") : alias;
}

// q of q.c; empty for other expressions.
std::string qualifier_of(const Tree& node) {
  const Tree& fields = child(child(node, "ColumnRef"), "fields");
  return fields.size() == 2 ? string_node(fields[0]) : "";
}

// Is it surely a column of the table that the statement changes, and no variable?
bool is_column_of(const Scope& scope, const Tree& write, const Tree& node) {
  const Tree& fields = child(child(node, "ColumnRef"), "fields");
  const Tree& relation = child(write, "relation");
  const auto table = scope.catalog.find_table(text_of(relation, "relname"));
  if (!table || fields.empty() || !find_column(scope.catalog.table(*table), last_name(fields)))
    return false;
  return fields.size() == 1 || qualifier_of(node) == name_of_range(relation);
}

// Both sides of a comparison; nothing for other expressions.
struct Sides {
  const Tree* left = nullptr;
  const Tree* right = nullptr;
};
std::optional<Sides> comparison_in(const Tree& expr) {
  const Tree& node = child(expr, "A_Expr");
  if (node.is_null() || text_of(node, "kind") != "AEXPR_OP" || !has(node, "lexpr"))
    return std::nullopt;
  const std::string op = last_name(child(node, "name"));
  constexpr std::string_view kComparisons[] = {"=", "<>", "!=", "<", "<=", ">", ">="};
  if (std::ranges::find(kComparisons, op) == std::end(kComparisons)) return std::nullopt;
  return Sides{&child(node, "lexpr"), &child(node, "rexpr")};
}

bool is_equation(const Tree& expr) {
  return comparison_in(expr) && last_name(child(child(expr, "A_Expr"), "name")) == "=";
}

const Tree* scalar_subquery(const Tree& expr) {
  const Tree& link = child(expr, "SubLink");
  if (link.is_null() || text_of(link, "subLinkType") != "EXPR_SUBLINK") return nullptr;
  return &child(child(link, "subselect"), "SelectStmt");
}

// The only table in a FROM clause; empty if there is something else.
std::string only_table(const Tree& from) {
  if (!from.is_array() || from.size() != 1) return {};
  return text_of(child(from[0], "RangeVar"), "relname");
}

std::string target_of(const Tree& write) { return text_of(child(write, "relation"), "relname"); }

bool has_one_row(const Scope& scope, const Query& query) {
  const bool is_first =
      query.limit && query.limit->op == ExprOp::Integer && query.limit->number <= 1;
  const bool is_bare = !query.rows && query.sources.empty();
  return query.is_aggregate() || is_first || is_bare || names_one_row(scope, query);
}

}  // namespace

bool names_one_row(const Scope& scope, const Query& query) {
  if (query.rows || query.sources.size() != 1 || !query.where) return false;
  const Table& table = scope.catalog.table(query.sources.front());
  std::vector<ColumnId> given;
  const auto look = [&](const Expr& condition) {
    if (condition.op != ExprOp::Equal) return;
    for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t value = 1 - column;
      if (condition.args[column].op == ExprOp::Column && !uses_column(condition.args[value]))
        given.push_back(condition.args[column].column);
    }
  };
  if (query.where->op == ExprOp::And) {
    for (const Expr& condition : query.where->args) look(condition);
  } else {
    look(*query.where);
  }
  const auto is_given = [&](const std::vector<ColumnId>& key) {
    return !key.empty() && std::ranges::all_of(key, [&](ColumnId column) {
      return std::ranges::find(given, column) != given.end();
    });
  };
  return is_given(table.primary_key) || std::ranges::any_of(table.unique, is_given);
}

const Tree* asked_by_expression(const Tree& expr) {
  const Tree& logic = child(expr, "BoolExpr");
  if (text_of(logic, "boolop") == "NOT_EXPR") return asked_by_expression(child(logic, "args")[0]);
  const Tree& link = child(expr, "SubLink");
  if (text_of(link, "subLinkType") == "EXISTS_SUBLINK")
    return &child(child(link, "subselect"), "SelectStmt");
  if (const Tree* select = scalar_subquery(expr)) return select;
  if (const Tree& test = child(expr, "NullTest"); !test.is_null())
    return scalar_subquery(child(test, "arg"));
  const auto sides = comparison_in(expr);
  if (!sides) return nullptr;
  if (is_constant(*sides->right)) return scalar_subquery(*sides->left);
  return is_constant(*sides->left) ? scalar_subquery(*sides->right) : nullptr;
}

const Tree* asked_by_write(const Scope& scope, const Tree& write) {
  const Tree& where = child(write, "whereClause");
  if (!is_equation(where) || has(write, "fromClause") || has(write, "usingClause")) return nullptr;
  const auto sides = comparison_in(where);
  const bool is_left = is_column_of(scope, write, *sides->left);
  if (!is_left && !is_column_of(scope, write, *sides->right)) return nullptr;
  const Tree* select = scalar_subquery(is_left ? *sides->right : *sides->left);
  if (select == nullptr || only_table(child(*select, "fromClause")) != target_of(write))
    return nullptr;
  return select;
}

const Tree* asked_of_with(const Scope& scope, const Tree& write, const Tree& with_query,
                          const std::string& name) {
  const bool deletes = has(write, "usingClause");
  const Tree& joined = child(write, deletes ? "usingClause" : "fromClause");
  const Tree& where = child(write, "whereClause");
  if (target_of(write).empty() || only_table(joined) != name || !is_equation(where)) return nullptr;
  const std::string alias = name_of_range(child(joined[0], "RangeVar"));
  const auto sides = comparison_in(where);
  const auto joins = [&](const Tree& target, const Tree& other) {
    return is_column_of(scope, write, target) && qualifier_of(other) == alias;
  };
  const bool is_joined = joins(*sides->left, *sides->right) || joins(*sides->right, *sides->left);
  const bool is_alone = child(child(write, "withClause"), "ctes").size() == 1;
  return is_joined && is_alone && only_table(child(with_query, "fromClause")) == target_of(write)
             ? &with_query
             : nullptr;
}

bool asks_all_of_from(const Scope& scope, const Tree& select) {
  if (scope.runs_whole != &select || child(select, "fromClause").size() != 1) return false;
  const Tree& from = child(select, "fromClause")[0];
  const auto has_part = [&](const char* part) { return has(select, part); };
  return kind_of(from) == "RangeFunction" &&
         std::ranges::none_of(
             std::array{"whereClause", "havingClause", "limitCount", "limitOffset"}, has_part);
}

void note_partial_locks(Scope& scope, const Tree& select) {
  if (!scope.is_subquery || scope.runs_whole == &select || !has(select, "lockingClause")) return;
  scope.findings.note(place_of_select(scope, select), std::string(kPartialLock), NoteKind::Gap);
}

void note_first_row(Scope& scope, const Tree& select, const Query& query) {
  if (query.lock == Lock::None || names_one_row(scope, query)) return;
  scope.findings.note(place_of_select(scope, select), std::string(kPartialLock), NoteKind::Gap);
}

void note_unused_failures(Scope& scope, const BuiltQuery& built) {
  const auto note = [&](const Expr& output) {
    if (may_be_refused(output))
      scope.findings.note(output.place, "the server computes this only where its value is needed",
                          NoteKind::Free);
  };
  for (const Output& output : built.query.outputs) note(output.expr);
  for (const Expr& expr : built.computed) note(expr);
}

void note_second_row(Scope& scope, const Tree& select, const Query& query, Place place) {
  if (scope.runs_whole == &select || has_one_row(scope, query)) return;
  scope.findings.note(place,
                      "a second row of this subquery is an error only where the server asks for it",
                      NoteKind::Gap);
}

}  // namespace isoscope::sql
