#include "formats/scan.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace isoscope {

std::optional<std::int64_t> canonical_int(std::string_view text) {
  if (!is_canonical_unsigned(text.starts_with('-') ? text.substr(1) : text) || text == "-0")
    return {};
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{}) return {};
  return number;
}

bool is_canonical_unsigned(std::string_view text) {
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return false;
  for (char c : text) {
    if (!is_digit(c)) return false;
  }
  return true;
}

bool is_large_unsigned(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return is_canonical_unsigned(text) && parsed.ec == std::errc{} &&
         number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

std::string show_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte >= 0x7f) return fmt::format("byte 0x{:02x}", byte);
  return fmt::format("'{}'", c);
}

}  // namespace isoscope
