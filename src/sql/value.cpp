#include "sql/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace isoscope::sql {
namespace {

std::optional<Decimal> decimal_of(const Value& value) {
  if (const auto* decimal = std::get_if<Decimal>(&value.data)) return *decimal;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return Decimal{*number, 0};
  return std::nullopt;
}

// Among the kinds of values; all numbers have one place.
std::size_t place_of(const Value& value) {
  return std::holds_alternative<Decimal>(value.data) ? 1 : value.data.index();
}

}  // namespace

std::strong_ordering operator<=>(const Value& a, const Value& b) {
  if (std::holds_alternative<Decimal>(a.data) || std::holds_alternative<Decimal>(b.data)) {
    const auto left = decimal_of(a);
    const auto right = decimal_of(b);
    if (left && right) return *left <=> *right;
    return place_of(a) <=> place_of(b);
  }
  if (a.data.index() != b.data.index()) return a.data.index() <=> b.data.index();
  if (const auto* number = std::get_if<std::int64_t>(&a.data))
    return *number <=> std::get<std::int64_t>(b.data);
  if (const auto* truth = std::get_if<bool>(&a.data)) return *truth <=> std::get<bool>(b.data);
  if (const auto* text = std::get_if<std::string>(&a.data))
    return *text <=> std::get<std::string>(b.data);
  if (const auto* elements = std::get_if<std::vector<Value>>(&a.data)) {
    const auto& others = std::get<std::vector<Value>>(b.data);
    return std::lexicographical_compare_three_way(elements->begin(), elements->end(),
                                                  others.begin(), others.end());
  }
  return std::strong_ordering::equal;
}

std::string print(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data))
    return fmt::format("{}", *number);
  if (const auto* number = std::get_if<Decimal>(&value.data)) return print(*number);
  if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    std::string quoted = "'";
    for (const char c : *text) {
      if (c == '\'') quoted += '\'';
      quoted += c;
    }
    return quoted + "'";
  }
  if (const auto* elements = std::get_if<std::vector<Value>>(&value.data)) {
    std::string list = "ARRAY[";
    for (const Value& element : *elements) {
      if (list.back() != '[') list += ", ";
      list += print(element);
    }
    return list + "]";
  }
  return "NULL";
}

}  // namespace isoscope::sql
