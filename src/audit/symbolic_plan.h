#pragma once
// How the rows of a statement are found: by key, or by looking at many.
#include "audit/symbolic_run.h"

namespace isoscope::audit {

// The columns that an expression names: source and column.
void add_columns(const sql::Expr& expr, std::set<std::pair<std::uint32_t, std::uint32_t>>& columns);
std::set<std::pair<std::uint32_t, std::uint32_t>> columns_of(const sql::Expr& expr);

// Does a constraint over these columns look at one of the others?
bool mentions(const std::vector<std::uint32_t>& constraint, const std::set<std::uint32_t>& columns);

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

// Rows that an UPDATE or DELETE is about: the one of a key, or all that match.
struct SymbolicRun::Target {
  std::shared_ptr<const Plan> plan;
  Frame frame;
  Row row;                                          // of the key; else some row
  SmtTerm found;                                    // it is there and matches; else some row does
  std::function<SmtTerm(const Row&)> is_candidate;  // by what never changes
  std::function<SmtTerm(const Row&)> is_there;      // and is there
  std::function<SmtTerm(const Row&)> matches;

  bool is_fixed() const { return plan->is_fixed; }
};

// Rows that a query is about: a few that it finds, and the condition for all.
struct SymbolicRun::Selection {
  std::vector<std::vector<Source>> rows;  // each a row a source
  std::vector<SmtTerm> found;             // by row
  Frame frame;
  // Over a single source: the row meets WHERE, and is there.
  std::function<SmtTerm(const Row&)> matches;
};

}  // namespace isoscope::audit
