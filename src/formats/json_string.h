#pragma once
// Strings in double quotes, as formats write them.
#include <string>
#include <string_view>

#include "support/printable.h"

namespace isoscope {

// In double quotes; `escaped` says how a character is written that is not fit to be shown.
template <class Escaped>
std::string quoted(std::string_view text, const Escaped& escaped) {
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
      out += escaped(text.substr(0, c.size), c.code);
    }
    text.remove_prefix(c.size);
  }
  out.push_back('"');
  return out;
}

// As JSON and EDN both understand it. Requires: UTF-8.
inline std::string json_quoted(std::string_view text) {
  return quoted(text, [](std::string_view, auto code) { return json_escape(code); });
}

}  // namespace isoscope
