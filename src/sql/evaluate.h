#pragma once
// The value of an expression, as SQL computes it.
//
// Logic is three-valued: a comparison with NULL is NULL, and so is `NULL AND true`, but not
// `NULL AND false`. Whole numbers have as many bits as their types, at most 64; `/` rounds towards
// zero and `%` goes with it. Numerics are exact (decimal.h). AND, OR, If and COALESCE look at their
// arguments from left to right, and no further than they must.
//
// An Error is one that SQL raises: an overflow, a division by zero. It says why in words, and ends
// the transaction that meets it.
#include <cstdint>
#include <optional>
#include <span>

#include "sql/expr.h"
#include "sql/value.h"
#include "support/result.h"

namespace isoscope::sql {

// The rows that an expression may mention: one for each source of its statement.
class RowsInScope {
 public:
  virtual ~RowsInScope() = default;
  virtual Value column(SourceId source, ColumnId column) = 0;
};

Result<Value> evaluate(const Expr& expr, std::span<const Value> variables, RowsInScope& rows);
// Of an expression without columns.
Result<Value> evaluate(const Expr& expr, std::span<const Value> variables);

inline bool is_true(const Value& value) { return value == Value(true); }

// a < b is negative, and so on; nothing if one of them is NULL. Texts compare by their bytes.
std::optional<std::strong_ordering> compare(const Value& a, const Value& b);

// The operators that aggregates share with expressions.
Result<Value> add(const Value& a, const Value& b);
// Of a sum by the number of its values: a numeric.
Result<Value> average(const Value& sum, std::int64_t count);

// The error that SQL raises when a value is given to a column or variable that it does not fit
// into; nothing if it does.
std::optional<Error> why_not_in(const Width& width, const Value& value);
// What it keeps of a value that fits: a text loses blanks at its end that find no room.
Value kept_in(const Width& width, Value value);

}  // namespace isoscope::sql
