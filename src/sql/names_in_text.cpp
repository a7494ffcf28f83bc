#include "sql/names_in_text.h"

#include <algorithm>
#include <cctype>

#include "support/spelling.h"

namespace isoscope::sql {
namespace {

bool is_in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

}  // namespace

std::map<std::string, std::size_t> names_in(std::string_view text) {
  std::map<std::string, std::size_t> names;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\'') {
      at = std::min(text.find('\'', at + 1), text.size() - 1) + 1;
    } else if (text.substr(at).starts_with("--")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (is_in_name(text[at])) {
      std::size_t end = at;
      while (end < text.size() && is_in_name(text[end])) ++end;
      ++names[lower_case(text.substr(at, end - at))];
      at = end;
    } else {
      ++at;
    }
  }
  return names;
}

}  // namespace isoscope::sql
