#include "support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace isoscope {

namespace {

constexpr bool is_plain(unsigned char byte) { return byte >= 0x20 && byte < 0x7f; }

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Controls, marks that turn the direction of writing or hide in a text, separators of lines. All of
// them fit into the four digits of an escape.
constexpr std::array kHidden = {CodeRange{0x00, 0x1f},     CodeRange{0x7f, 0x9f},
                                CodeRange{0x61c, 0x61c},   CodeRange{0x200e, 0x200f},
                                CodeRange{0x2028, 0x202e}, CodeRange{0x2066, 0x206f},
                                CodeRange{0xfeff, 0xfeff}, CodeRange{0xfff9, 0xfffb}};

bool is_visible_code(char32_t code) {
  return std::ranges::none_of(
      kHidden, [&](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

// How many bytes a character that begins with this byte has; 0 if none begins with it.
std::size_t length_after(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
}

std::string escaped(const FirstCharacter& c) {
  if (c.code == '\n') return "\\n";
  if (c.code == '\r') return "\\r";
  if (c.code == '\t') return "\\t";
  if (!c.is_utf8 || c.code < 0x80) return fmt::format("\\x{:02x}", static_cast<unsigned>(c.code));
  return json_escape(c.code);
}

// The length of a sequence ESC [ digits and semicolons m, or 0.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Copies the text; `escape` replaces what is not plain, from where it stands, and returns how many
// bytes that were.
template <class Escape>
std::string copy_plain(std::string_view text, Escape escape) {
  std::string out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t plain = i;
    while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain]))) ++plain;
    out += text.substr(i, plain - i);
    i = plain;
    if (i < text.size()) i += escape(text.substr(i), out);
  }
  return out;
}

std::size_t copy_character(std::string_view rest, std::string& out) {
  const FirstCharacter c = first_character(rest);
  out += c.is_visible ? std::string(rest.substr(0, c.size)) : escaped(c);
  return c.size;
}

}  // namespace

FirstCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const FirstCharacter broken{.size = 1, .code = byte(0), .is_utf8 = false, .is_visible = false};
  const std::size_t size = length_after(byte(0));
  if (size == 0 || size > text.size()) return broken;
  constexpr std::array<unsigned, 5> kFirstBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = byte(0) & kFirstBits[size];
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return broken;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool is_overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (is_overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return broken;
  return {.size = size, .code = code, .is_utf8 = true, .is_visible = is_visible_code(code)};
}

std::string printable(std::string_view text) { return copy_plain(text, copy_character); }

std::string printable_lines(std::string_view text, bool colours) {
  return copy_plain(text, [&](std::string_view rest, std::string& out) {
    std::size_t kept = rest[0] == '\n' || rest[0] == '\t' ? 1 : 0;
    if (colours && kept == 0) kept = colour_length(rest);
    if (kept == 0) return copy_character(rest, out);
    out += rest.substr(0, kept);
    return kept;
  });
}

std::string json_escape(char32_t code) {
  return fmt::format("\\u{:04x}", static_cast<unsigned>(code));
}

std::string printable_json(std::string_view json) {
  return copy_plain(json, [](std::string_view rest, std::string& out) {
    const FirstCharacter c = first_character(rest);
    out +=
        c.is_visible || c.code == '\n' ? std::string(rest.substr(0, c.size)) : json_escape(c.code);
    return c.size;
  });
}

}  // namespace isoscope
