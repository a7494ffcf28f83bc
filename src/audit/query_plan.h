#pragma once
// How the rows of a statement are found, as its text says: by key, or by looking at many.
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "audit/symbols.h"
#include "support/by_id.h"

namespace isoscope::audit {

// The columns that an expression names: source and column.
void add_columns(const sql::Expr& expr, std::set<std::pair<sql::SourceId, sql::ColumnId>>& columns);
std::set<std::pair<sql::SourceId, sql::ColumnId>> columns_of(const sql::Expr& expr);

// Does a constraint over these columns look at one of the others?
bool mentions(const std::vector<sql::ColumnId>& constraint, const std::set<sql::ColumnId>& columns);

// What LIMIT, OFFSET and DISTINCT leave of the rows that match.
struct Window {
  bool is_whole = true;   // all
  bool has_first = true;  // at least one, if there is one
  std::size_t max_rows = std::numeric_limits<std::size_t>::max();
};
Window window_of(const sql::Query& query);

struct SourcePlan {
  sql::TableId table = {};
  std::vector<const sql::Expr*> key = {};  // what each key column equals, or null
  bool is_keyed = false;                   // all of them
  bool is_fixed = false;                   // and by nothing but variables
  // What WHERE says about its columns that never change, and about no other source.
  std::vector<const sql::Expr*> fixed = {};
  std::set<sql::ColumnId> where_columns = {};  // of WHERE, those that change
};

struct QueryPlan {
  ById<sql::SourceId, SourcePlan> sources;
  std::vector<sql::SourceId> order;  // in which their rows are found
  bool is_fixed = true;              // every source is: there is but one candidate
};
QueryPlan plan_of(const Symbols& symbols, const ById<sql::SourceId, sql::TableId>& sources,
                  const std::optional<sql::Expr>& where);

}  // namespace isoscope::audit
