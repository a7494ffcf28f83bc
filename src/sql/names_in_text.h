#pragma once
// Names in the text of a statement or a function.
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace isoscope::sql {

// How often the text has each name, in small letters; not in strings and comments of one line.
std::map<std::string, std::size_t> names_in(std::string_view text);

}  // namespace isoscope::sql
