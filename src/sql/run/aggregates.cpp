#include "sql/run/aggregates.h"

#include <algorithm>

#include "sql/evaluate.h"
#include "sql/functions.h"

namespace isoscope::sql {

Result<void> Accumulator::add(const Value& value) {
  if (!counts_rows()) {
    if (value.is_null() && output_.aggregate != Aggregate::Array) return {};
    if (output_.distinct && !seen_.insert(value).second) return {};
  }
  ++count_;
  switch (output_.aggregate) {
    case Aggregate::Min:
      if (value_.is_null() || value < value_) value_ = value;
      break;
    case Aggregate::Max:
      if (value_.is_null() || value_ < value) value_ = value;
      break;
    case Aggregate::Sum:
    case Aggregate::Avg: {
      if (value_.is_null()) {
        value_ = value;
        break;
      }
      auto sum = sql::add(value_, value);
      if (!sum) return sum.error();
      value_ = *std::move(sum);
      break;
    }
    case Aggregate::Array:
    case Aggregate::Other: list_.push_back(value); break;
    case Aggregate::Count:
    case Aggregate::None: break;
  }
  return {};
}

Result<Value> Accumulator::result() const {
  if (output_.aggregate == Aggregate::Count) return Value(count_);
  if (output_.aggregate == Aggregate::Array) return list_.empty() ? Value() : Value(list_);
  if (output_.aggregate == Aggregate::Other) {
    // The order of the rows must not matter: SQL does not define it.
    std::vector<Value> sorted = list_;
    std::ranges::sort(sorted);
    auto made = call_function(output_.name, output_.expr.type, sorted);
    return list_.empty() || !made ? Value() : *std::move(made);
  }
  if (output_.aggregate != Aggregate::Avg) return value_;
  return average(value_, count_);
}

Result<std::vector<Value>> results_of(const std::vector<Accumulator>& accumulators) {
  std::vector<Value> row;
  for (const Accumulator& accumulator : accumulators) {
    auto value = accumulator.result();
    if (!value) return value.error();
    row.push_back(*std::move(value));
  }
  return row;
}

}  // namespace isoscope::sql
