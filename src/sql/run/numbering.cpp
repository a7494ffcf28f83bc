#include "sql/run/numbering.h"

#include "support/assert.h"

namespace isoscope::sql {

std::int64_t ValueNumbers::number_of(Type type, const Value& value) {
  if (value.is_null()) return kNull;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    if (*number >= kFirstPlain && type != Type::Boolean) return *number;
  }
  if (const auto* truth = std::get_if<bool>(&value.data)) {
    if (type == Type::Boolean) return *truth ? 1 : 0;
  }
  const std::scoped_lock lock(mutex_);
  const auto next = kNull + 1 + static_cast<std::int64_t>(values_.size());
  ISO_ASSERT(next < kFirstPlain);
  // 1.5 and 1.50 are equal, but not the same.
  const bool is_decimal = std::holds_alternative<Decimal>(value.data);
  const auto [at, is_new] = numbers_.try_emplace(
      is_decimal ? Value(std::vector{value, Value(print(value))}) : value, next);
  if (is_new) values_.push_back(value);
  return at->second;
}

Value ValueNumbers::value_of(Type type, std::int64_t number) const {
  if (number == kNull) return {};
  if (number >= kFirstPlain) return type == Type::Boolean ? Value(number != 0) : Value(number);
  const std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number - kNull - 1);
  ISO_ASSERT(index < values_.size());
  return values_[index];
}

}  // namespace isoscope::sql
