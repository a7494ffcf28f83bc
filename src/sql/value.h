#pragma once
// Values of SQL programs: whole numbers, decimal numbers, texts, truth values, NULL, and arrays of
// these.
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sql/decimal.h"

namespace isoscope::sql {

// A boolean is kept as its own alternative, so that values print as they were written.
struct Value {
  std::variant<std::monostate, std::int64_t, std::string, bool, std::vector<Value>, Decimal> data =
      {};

  Value() = default;
  explicit Value(std::int64_t number) : data(number) {}
  explicit Value(std::string text) : data(std::move(text)) {}
  explicit Value(bool truth) : data(truth) {}
  explicit Value(std::vector<Value> elements) : data(std::move(elements)) {}
  explicit Value(Decimal number) : data(number) {}

  bool is_null() const { return data.index() == 0; }
  // A total order, for sets and keys: NULL first. Numbers compare by what they are, 1 with 1.00
  // too. SQL's comparisons are in evaluate.h.
  friend std::strong_ordering operator<=>(const Value& a, const Value& b);
  friend bool operator==(const Value& a, const Value& b) { return (a <=> b) == 0; }
};

// Which values a declared type has: smallint, integer, numeric(p, s), varchar(n), an enum.
struct Width {
  std::uint8_t bits = 64;      // of a numeric its scale, or kAnyScale
  std::uint8_t precision = 0;  // p of numeric(p, s); 0: any
  bool is_number = false;      // declared as a whole number, no moment
  bool is_uuid = false;        // which the server writes in one way, however it was given
  bool has_rules = false;      // of a domain, which variables of it do not ask here
  std::uint32_t length = 0;    // characters; 0: any number
  std::shared_ptr<std::vector<std::string>> labels = {};  // null: any texts
};

// In place of a number of bits: a numeric that may have any number of digits behind the point.
inline constexpr std::uint8_t kAnyScale = 64;

inline bool fits(std::uint8_t bits, std::int64_t number) {
  return number >> (bits - 1) == 0 || number >> (bits - 1) == -1;
}

// As SQL writes it: 1, 1.50, 'BC', true, NULL, ARRAY[1, 2].
std::string print(const Value& value);

}  // namespace isoscope::sql
