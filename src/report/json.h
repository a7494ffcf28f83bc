#pragma once
// JSON as it is printed: members in the order in which they were added, one object a line.
#include <nlohmann/json.hpp>
#include <string>

namespace isoscope {

using Json = nlohmann::ordered_json;

// One line of text; bytes that are no UTF-8 become replacement characters, and characters that are
// not fit to be shown become escapes.
std::string dump(const Json& json);

}  // namespace isoscope
