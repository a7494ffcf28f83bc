#pragma once
// Blanks, and texts without those at their ends. Languages differ in which characters are blank:
// who trims a text says of which language it is.
#include <string_view>

namespace isoscope {

namespace blanks {

// Of ASCII, whatever the locale.
inline constexpr auto space = [](char c) { return c == ' '; };
// Of a language that counts its lines.
inline constexpr auto in_line = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
// Of one that does not.
inline constexpr auto in_text = [](char c) { return in_line(c) || c == '\n'; };
// Of SQL, as PostgreSQL reads it, and of C.
inline constexpr auto in_sql = [](char c) { return in_text(c) || c == '\v' || c == '\f'; };

}  // namespace blanks

template <class IsBlank>
constexpr std::string_view trimmed_front(std::string_view text, const IsBlank& is_blank) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

template <class IsBlank>
constexpr std::string_view trimmed_back(std::string_view text, const IsBlank& is_blank) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

template <class IsBlank>
constexpr std::string_view trimmed(std::string_view text, const IsBlank& is_blank) {
  return trimmed_back(trimmed_front(text, is_blank), is_blank);
}

}  // namespace isoscope
