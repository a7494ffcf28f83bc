#pragma once
// Strings as JSON and EDN both understand them.
#include <string>
#include <string_view>

#include "support/printable.h"

namespace isoscope {

// In double quotes; characters that are not fit to be shown as \uXXXX. Requires: UTF-8.
inline std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (;;) {
    const std::size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const FirstCharacter c = first_character(text);
    if (c.code == '"' || c.code == '\\') {
      out += {'\\', text[0]};
    } else if (c.code == '\n') {
      out += "\\n";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (c.is_visible) {
      out += text.substr(0, c.size);
    } else {
      out += json_escape(c.code);
    }
    text.remove_prefix(c.size);
  }
  out.push_back('"');
  return out;
}

}  // namespace isoscope
