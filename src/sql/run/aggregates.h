#pragma once
// MIN, MAX, COUNT, SUM, AVG and others over the values of an expression.
#include <set>
#include <vector>

#include "sql/statement.h"
#include "sql/value.h"
#include "support/result.h"

namespace isoscope::sql {

class Accumulator {
 public:
  explicit Accumulator(const Output& output) : output_(output) {}

  bool counts_rows() const {
    return output_.aggregate == Aggregate::Count && output_.expr.op == ExprOp::Null;
  }
  // Takes the value of one more row. NULL counts for nothing, except in COUNT(*).
  Result<void> add(const Value& value);
  // Of no values at all, COUNT is 0 and all others are NULL.
  Result<Value> result() const;

 private:
  const Output& output_;
  std::int64_t count_ = 0;
  Value value_;  // the smallest or greatest so far, or the sum
  std::set<Value> seen_;
  std::vector<Value> list_;  // of Array and Other
};

// The one row that a query of aggregates gives.
Result<std::vector<Value>> results_of(const std::vector<Accumulator>& accumulators);

}  // namespace isoscope::sql
