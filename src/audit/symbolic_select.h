#pragma once
// Queries on symbols: what a SELECT puts into variables and row sets, and the rounds of a loop over
// a query. Which rows of tables it finds is RowSearch's.
#include "audit/row_search.h"
#include "audit/symbolic_variables.h"

namespace isoscope::audit {

// A round of a loop.
struct Round {
  SmtTerm active;
  std::vector<std::pair<sql::VarId, SymValue>> targets = {};
};

class SymbolicSelect : private SymbolicPart {
 public:
  explicit SymbolicSelect(SymbolicCall& call)
      : SymbolicPart(call), search_(call), variables_(call) {}

  void run(const sql::Select& select);
  std::vector<Round> rounds_of(const sql::ForQuery& loop);

 private:
  void take_advisory(const sql::Select& select);
  void draw(const sql::Select& select);
  void into_variables(const sql::Select& select);
  // A query of the database into a row set. Two rows stand for many: one for each edge of a call.
  void into_rows(const sql::Query& query, sql::VarId rows);
  // A query over a row set: any values, where its rows are not known.
  void of_rows(const sql::Select& select);
  // The rows of the set that meet WHERE, in the order of the query. Nothing where that is not
  // known.
  std::optional<std::vector<KnownRow>> rows_of_set(const sql::Query& query);
  std::optional<std::vector<Round>> rounds_of_set(const sql::ForQuery& loop);

  // One row: that there is one, and its values.
  struct Aggregated {
    SmtTerm is_returned;
    std::vector<SymValue> values;
  };
  Aggregated aggregate(const sql::Query& query);
  SymValue aggregate_of_rows(const sql::Output& output, const Selection& selection,
                             bool is_single_row);
  // No matching row is beyond a minimum or maximum; and with one output, rows beyond it do not
  // matter to the accesses of the statement, which begin at `first`.
  void bound_extreme(const sql::Query& query, const sql::Output& output, const Selection& selection,
                     const SymValue& best, std::size_t first);
  void aggregate_into(const sql::Select& select);
  void put(sql::VarId target, const SymValue& value);
  std::vector<SymValue> outputs_of(const sql::Query& query, const Frame& at);

  RowSearch search_;
  SymbolicVariables variables_;
};

}  // namespace isoscope::audit
