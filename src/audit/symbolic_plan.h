#pragma once
// How the rows of a statement are found: by key, or by looking at many.
#include <limits>

#include "audit/symbolic_run.h"

namespace isoscope::audit {

// The columns that an expression names: source and column.
void add_columns(const sql::Expr& expr, std::set<std::pair<std::uint32_t, std::uint32_t>>& columns);
std::set<std::pair<std::uint32_t, std::uint32_t>> columns_of(const sql::Expr& expr);

// Does a constraint over these columns look at one of the others?
bool mentions(const std::vector<std::uint32_t>& constraint, const std::set<std::uint32_t>& columns);

// What LIMIT, OFFSET and DISTINCT leave of the rows that match.
struct Window {
  bool is_whole = true;   // all
  bool has_first = true;  // at least one, if there is one
  std::size_t max_rows = std::numeric_limits<std::size_t>::max();
};
Window window_of(const sql::Query& query);

struct SymbolicRun::Plan {
  struct OfSource {
    sql::TableId table;
    std::vector<const sql::Expr*> key;  // what each key column equals, or null
    bool is_keyed = false;              // all of them
    bool is_fixed = false;              // and by nothing but variables
    // What WHERE says about its columns that never change, and about no other source.
    std::vector<const sql::Expr*> fixed;
    std::set<std::uint32_t> where_columns;  // of WHERE, those that change
  };
  std::vector<OfSource> sources;
  std::vector<std::uint32_t> order;
  bool is_fixed = true;  // every source is: there is but one candidate
};

// How the rows of one table are looked for, by an UPDATE, a DELETE or a SELECT.
struct SymbolicRun::Search {
  sql::TableId table;
  std::shared_ptr<const Plan> plan;
  std::uint32_t source = 0;     // of the plan
  std::optional<Row> row = {};  // the one of a key; else all that match
  SmtTerm guard = {};
  bool locks = false;  // at a snapshot per statement: found in the snapshot, then looked at again
  ConditionId is_candidate = {};  // by what never changes
  ConditionId is_there = {};      // and is there, in the snapshot
  ConditionId is_found = {};      // and meets WHERE, in the snapshot
  // With `locks`: and is no other row under the same key by now; and is still there.
  ConditionId is_followed = {};
  ConditionId is_left = {};
  ConditionId matches = {};  // and meets WHERE as it is
};

// Rows that an UPDATE or DELETE is about: the one of a key, or all that match.
struct SymbolicRun::Target {
  Search search;
  Frame frame;    // the row as it is when it is changed
  Row row;        // of the key; else some row
  SmtTerm found;  // it is there and matches; else some row does

  bool is_fixed() const { return search.plan->is_fixed; }
  const std::set<std::uint32_t>& where_columns() const {
    return search.plan->sources.front().where_columns;
  }
};

// Rows that a query is about: a few that it finds, and the condition for all.
struct SymbolicRun::Selection {
  std::vector<std::vector<Source>> rows;  // each a row a source
  std::vector<SmtTerm> found;             // by row
  Frame frame;                            // of what it returns
  Frame search;                           // of what ORDER BY looks at
  // Over a single source: the row meets WHERE, and is there.
  std::optional<ConditionId> matches = {};
};

}  // namespace isoscope::audit
