#pragma once
// Names of rows in keys: student[bob], stock[1, 7], course['two words'].
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/value.h"

namespace isoscope::sql {

// A value between the brackets: words as they are, other texts in quotes.
std::string index_name(const Value& value);

struct KeyName {
  std::string family;  // before the brackets
  std::vector<Value> indices;
};

// The inverse. Nothing for a name that does not have this form.
std::optional<KeyName> parse_key_name(std::string_view name);

}  // namespace isoscope::sql
