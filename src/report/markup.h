#pragma once
// Text from outside as text of HTML and SVG: it can never become markup or script.
#include <string>
#include <string_view>

#include "support/printable.h"

namespace isoscope {

// For contents and for attributes in double quotes. Newlines and tabs stay.
inline std::string markup(std::string_view text) {
  std::string out;
  for (const char c : printable_lines(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace isoscope
