#pragma once
// Values as numbers, for engines that know nothing else.
//
// A whole number is itself, and a truth value 1 or 0 where truth values are expected. NULL and
// everything else have numbers of their own, in the order of first use, at the far end of the
// negative ones.
//
// Several threads may use one table.
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "sql/expr.h"
#include "sql/value.h"

namespace isoscope::sql {

class ValueNumbers {
 public:
  static constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();

  // Does the number stand for itself, or for a truth value?
  static bool is_plain(std::int64_t number) { return number >= kFirstPlain; }

  std::int64_t number_of(Type type, const Value& value);
  // Requires: `number` is one that number_of(type, …) returned.
  Value value_of(Type type, std::int64_t number) const;

 private:
  // Numbers below this one stand for something else.
  static constexpr std::int64_t kFirstPlain = kNull + (std::int64_t{1} << 32);

  mutable std::mutex mutex_;
  std::deque<Value> values_;  // that of the number kNull + 1 first
  std::map<Value, std::int64_t> numbers_;
};

}  // namespace isoscope::sql
