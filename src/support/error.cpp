#include "support/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/budget.h"
#include "support/printable.h"
#include "support/shorten.h"

namespace isoscope {

namespace {

constexpr std::size_t kWidestLineShown = 160;
// Of what is wrong, and what to do about it: both may quote what users wrote.
constexpr std::size_t kLongestTextShown = 1000;

// The line with this number, counted from 1, without its newline.
std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (std::uint32_t current = 1; current < number; ++current) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The line as it is shown; tabs are blanks, so that the caret stands below its place.
std::string shown_line(std::string_view line) {
  std::string shown(line);
  std::ranges::replace(shown, '\t', ' ');
  return printable(shown);
}

// How many characters stand before this place of the line when it is shown.
std::size_t shown_column(std::string_view line, std::size_t column) {
  const std::string before = shown_line(line.substr(0, column - 1));
  return static_cast<std::size_t>(std::ranges::count_if(before, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // no later byte of a character
  }));
}

}  // namespace

Error Error::in(std::string_view file_name) const {
  Error copy = *this;
  // As an argument "-" is standard input, but a reader of the message would not find that file.
  if (copy.file.empty()) copy.file = file_name == "-" ? "<stdin>" : file_name;
  return copy;
}

Error Error::quoting(std::string_view text) const {
  Error copy = *this;
  if (copy.line.empty() && where.line > 0) copy.line = line_of(text, where.line);
  return copy;
}

Error limit_error(std::string_view doing) {
  return {.what = fmt::format("{} was reached while {}", limit_reached(), doing), .is_limit = true};
}

std::string render(const Error& error) {
  std::string out = printable(error.file);
  if (error.where.line > 0) {
    out += fmt::format("{}{}", out.empty() ? "line " : ":", error.where.line);
    if (error.where.column > 0) out += fmt::format(":{}", error.where.column);
  }
  out += fmt::format("{}{}: {}", out.empty() ? "" : ": ", error.is_limit ? "unknown" : "error",
                     printable(shortened(error.what, kLongestTextShown)));
  const std::string hint = printable(shortened(error.hint, kLongestTextShown));
  const bool caret =
      !error.line.empty() && error.where.column > 0 && error.where.column <= error.line.size() + 1;
  if (caret) {
    const Excerpt line = excerpt_around(error.line, error.where.column - 1, kWidestLineShown);
    out += fmt::format("\n  {}\n  {:>{}}", shown_line(line.text), "^",
                       shown_column(line.text, line.offset + 1) + 1);
    if (!hint.empty()) out += " " + hint;
  } else if (!hint.empty()) {
    out += fmt::format("\n  {}", hint);
  }
  return out;
}

}  // namespace isoscope
