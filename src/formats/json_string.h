#pragma once
// Strings as JSON and EDN both understand them.
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace isoscope {

// In double quotes; control characters as \u00XX. Requires: UTF-8.
inline std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace isoscope
