#pragma once
// What every command's JSON object begins with.
#include <nlohmann/json.hpp>
#include <string_view>

namespace isoscope {

using Json = nlohmann::ordered_json;

// {"tool":"isoscope","version":…,"command":…,"verdict":…,"seconds":…,"stats":{}}
Json json_header(std::string_view command, std::string_view verdict, double seconds);

// One line of text; bytes that are no UTF-8 become replacement characters, and characters that are
// not fit to be shown become escapes.
std::string dump(const Json& json);

}  // namespace isoscope
