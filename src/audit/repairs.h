#pragma once
// Changes of an application that might make a weak level enough, each as a copy with one change.
// Who suggests one audits the copy first (advise.h).
//
// Cheapest first:
//
//   guarded      SELECT c INTO v …; IF v > 0 THEN UPDATE SET c = v - 1 … becomes one
//                UPDATE … WHERE … AND c > 0 and IF FOUND: at READ COMMITTED it looks at the row
//                again, as it is
//   atomic       SELECT c INTO v; UPDATE SET c = v + e becomes UPDATE SET c = c + e
//   lock         a SELECT becomes SELECT … FOR UPDATE; where other tables refer to the rows, FOR NO
//                KEY UPDATE, which does not keep others from referring to them
//   unique       a table gets a UNIQUE constraint on columns that some function looks for before it
//                inserts, if no call that runs alone would be refused by it: the solver is asked
//                for a call that inserts such values though it sees them
//   materialize  the functions of the anomaly begin with a write of one row that they share
//
// A change keeps what every call does that runs alone, and its text is SQL that the server takes:
// where that is not known, there is no candidate.
#include <string>
#include <string_view>
#include <vector>

#include "audit/open_world.h"

namespace isoscope::audit {

enum class RepairKind : std::uint8_t { Lock, Unique, Atomic, Guarded, Materialize };
std::string_view name_of(RepairKind kind);

struct Repair {
  RepairKind kind = RepairKind::Lock;
  std::string function = {};  // empty for a constraint
  Place place = {};
  // Statements as they are and as they become, one a line; `before` is empty if something is added.
  std::string before = {};
  std::string what = {};   // "SELECT bal … FOR UPDATE"; "-- …" says where the next one belongs
  bool is_proved = false;  // else: no anomaly up to the bound
};

// A copy of the application with one change, and what it is.
struct Candidate {
  sql::Application app;
  Repair repair;
};

// `anomaly`: the functions of one that is known; may be empty.
std::vector<Candidate> repairs_of(const Problem& problem,
                                  const std::vector<sql::FunctionId>& anomaly, Budget& budget);

// One UPDATE in place of a look, a test and a change, or of a look and a change; nothing where a
// function has none.
void add_guarded(const sql::Application& app, std::vector<Candidate>& candidates);

// Does a function of the program call this one? Its copies there would have to change with it, so
// that it is left as it is.
bool is_called(const sql::Application& app, const std::string& name);

bool is_same_expr(const sql::Expr& a, const sql::Expr& b);

// May the query have FOR UPDATE? The server refuses it with DISTINCT, groups and aggregates.
bool can_lock(const sql::Select& select);

// The text of a statement with the clause ("FOR UPDATE") at its query, which may be a subquery of
// an expression; empty if it is not known where it belongs.
std::string with_lock(const sql::Statement& statement, std::string_view clause);

// Does WHERE name at most one row, by its primary key?
bool names_one_row(const sql::Table& table, const sql::Expr& where);

// No call that runs alone inserts a row whose values in these columns some row has that it sees.
bool refuses_nothing(const Problem& problem, sql::TableId table,
                     const std::vector<sql::ColumnId>& columns, Budget& budget);

}  // namespace isoscope::audit
