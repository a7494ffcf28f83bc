#pragma once
// What the builders of queries share. Only their sources include this; others use query_builder.h.
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/query_builder.h"

namespace isoscope::sql {

struct NamedExpr {
  std::string name;
  Expr expr;
};

// The name that SQL gives to a column of a result.
std::string column_name(const Tree& node);
bool is_star(const Tree& node);
// The columns that a * stands for.
std::vector<NamedExpr> star_columns(const Scope& scope, const Tree& node);
// The columns of a list of targets without aggregates, * written out.
std::vector<NamedExpr> target_columns(Scope& scope, const Tree& targets);

// Of an entry of ORDER BY: all but the expression.
OrderBy order_direction(const Tree& sort);
// The output that ORDER BY or GROUP BY names by its number or by its name.
std::optional<std::size_t> output_position(const Scope& scope, const Tree& key,
                                           const Tree& targets);
// LIMIT and OFFSET.
std::optional<Expr> build_count(Scope& scope, const Tree& node, std::string_view what);
Place place_of_select(const Scope& scope, const Tree& select);
bool contains_key(const Tree& node, std::string_view key);
// A row set of its own, empty, and the statement that makes it so.
VarId add_row_set(const Scope& scope, std::string_view purpose, std::vector<Statement>& to,
                  Place place);
Statement model_in(const Scope& scope, Place place);

// FROM as tables and joins of the query itself: from_builder.cpp. A view and a subquery that are
// nothing but a choice of rows and columns are written out.
bool is_native(const Scope& scope, const Tree& entry, int depth);
// Adds the tables of an entry of FROM; returns the condition of its joins.
std::optional<Expr> add_from(Scope& scope, const Tree& entry, int depth);
// USING and NATURAL: equalities of columns on both sides; those of the right side are merged. The
// sources of the left side begin with `first_left`.
std::optional<Expr> merge_columns(Scope& scope, const Tree& join, std::size_t first_left,
                                  std::size_t first_right, Place place);
void check_name(const Scope& scope, Place place);

// Everything else goes through a row set: row_builder.cpp.
BuiltQuery build_by_rows(const Scope& scope, const Tree& select);

// WITH, UNION, VALUES: set_builder.cpp. The queries of WITH are asked first; `around` is the
// statement that it stands in.
void add_with(Scope& scope, const Tree& around);
const NamedRows* find_with(const Scope& scope, std::string_view name);
BuiltQuery build_set_operation(const Scope& scope, const Tree& select);
BuiltQuery build_values(const Scope& scope, const Tree& select);
// Puts all rows of a query into a row set of its own.
NamedRows rows_of(const Scope& scope, BuiltQuery built, std::string name, Place place);
// A query over a row set that gives its columns as they are.
BuiltQuery query_of_rows(const NamedRows& rows, Place place);

// A function of the program or a known one in FROM: its rows, if they can be had as a row set.
std::optional<NamedRows> rows_of_call(Scope& scope, const Tree& call, Place place);

// Reports that the table is a catalog of the system, if it is: its rows are not known.
void note_catalog(const Scope& scope, TableId table, Place place);

}  // namespace isoscope::sql
