#pragma once
// What a program claims about its rows (sql/read/assertions.h), asked of a committed state.
#include <optional>
#include <string>
#include <vector>

#include "sql/read/assertions.h"
#include "sql/server/machine.h"

namespace isoscope::sql::server {

// A row as people see it.
struct ShownRow {
  TableId table;
  std::vector<Value> values;  // without hidden columns
};

struct ClaimAnswer {
  bool holds = true;
  std::string error = {};           // the query failed: then it does not hold
  std::optional<Error> limit = {};  // the query was not executed: nothing is known
  // Rows that break it: of a query with one truth value a row those that have another, of an
  // aggregate all rows that it looked at.
  std::vector<ShownRow> rows = {};
};

// The claims of a `.txn` program, inside of transactions and about the finished run.
std::vector<RowAssertion> claims_of(const Program& program);

ClaimAnswer ask(const Machine& machine, const State& state, const RowAssertion& claim);

}  // namespace isoscope::sql::server
