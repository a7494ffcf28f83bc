#pragma once
// Queries over a row set: a hidden variable whose value is an array of rows, each an array of
// values. They do not go to the database, so they are the same for every one of them.
#include "sql/run/query.h"

namespace isoscope::sql {

// The rows of a query with `rows`, in its order: WHERE, GROUP BY, ORDER BY, DISTINCT, OFFSET,
// LIMIT. Groups come in the order of their first rows.
Result<std::vector<std::vector<Value>>> run_row_query(CallState& call, const Query& query,
                                                      const QueryNeeds& needs);

// Adds a row to a row set.
void append_row(Value& row_set, std::vector<Value> row);

// NULL is greater than everything by default, as in PostgreSQL.
std::strong_ordering order_of(const OrderBy& by, const Value& a, const Value& b);

}  // namespace isoscope::sql
