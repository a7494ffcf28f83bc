#pragma once
// Runs queries: matching, aggregates, ORDER BY, DISTINCT, LIMIT and locks.
#include <limits>
#include <vector>

#include "sql/run/call_state.h"

namespace isoscope::sql {

struct QueryNeeds {
  std::size_t max_rows = std::numeric_limits<std::size_t>::max();
  bool outputs = true;  // false: only how many rows there are; the rows come without values
};

// The rows of the query in its order, at most as many as needed. Where the order is known before a
// row is looked at (no ORDER BY, or one over key columns of one table), no row after the last that
// is needed is looked at; and so MIN and MAX over a key column look at no row behind the minimum.
Result<std::vector<std::vector<Value>>> run_query(CallState& call, const Query& query,
                                                  const QueryNeeds& needs);

}  // namespace isoscope::sql
