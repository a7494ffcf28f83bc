#include "support/error.h"

#include <fmt/format.h>

#include "support/budget.h"
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
  return text.substr(0, text.find('\n'));
}

// Bytes that would upset a terminal become question marks; tabs keep the caret's column as blanks.
std::string printable(std::string_view line) {
  std::string shown(line);
  for (char& c : shown) {
    if (c == '\t') c = ' ';
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return shown;
}

}  // namespace

Error Error::in(std::string_view file_name) const {
  Error copy = *this;
  if (copy.file.empty()) copy.file = file_name;
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
  std::string out = error.file;
  if (error.where.line > 0) {
    out += fmt::format("{}{}", out.empty() ? "line " : ":", error.where.line);
    if (error.where.column > 0) out += fmt::format(":{}", error.where.column);
  }
  out += fmt::format("{}{}: {}", out.empty() ? "" : ": ", error.is_limit ? "unknown" : "error",
                     shortened(error.what, kLongestTextShown));
  const std::string hint = shortened(error.hint, kLongestTextShown);
  const bool caret =
      !error.line.empty() && error.where.column > 0 && error.where.column <= error.line.size() + 1;
  if (caret) {
    const Excerpt line = excerpt_around(error.line, error.where.column - 1, kWidestLineShown);
    out += fmt::format("\n  {}\n  {:>{}}", printable(line.text), "^", line.offset + 1);
    if (!hint.empty()) out += " " + hint;
  } else if (!hint.empty()) {
    out += fmt::format("\n  {}", hint);
  }
  return out;
}

}  // namespace isoscope
