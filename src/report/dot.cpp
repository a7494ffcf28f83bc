#include "report/dot.h"

#include "support/printable.h"

namespace isoscope {

std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable_lines(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string_view dot_colour(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::So:
      return "gray40";
    case EdgeKind::Rt:
      return "purple";
    case EdgeKind::Wr:
      return "forestgreen";
    case EdgeKind::Ww:
      return "royalblue";
    case EdgeKind::Rw:
      return "firebrick";
    case EdgeKind::Co:
    case EdgeKind::Vis:
    case EdgeKind::Ar:
      break;
  }
  return "darkorange";
}

}  // namespace isoscope
