#include "sql/value.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope::sql {

std::strong_ordering operator<=>(const Value& a, const Value& b) {
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
