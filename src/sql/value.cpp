#include "sql/value.h"

#include <fmt/format.h>

namespace isoscope::sql {

std::string print(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *number);
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
