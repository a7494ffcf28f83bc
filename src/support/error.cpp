#include "support/error.h"

#include <fmt/format.h>

#include "support/budget.h"

namespace isoscope {

namespace {

constexpr std::size_t kWidestLineShown = 160;

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
  std::string out = error.file;
  if (error.where.line > 0) {
    out += fmt::format("{}{}", out.empty() ? "line " : ":", error.where.line);
    if (error.where.column > 0) out += fmt::format(":{}", error.where.column);
  }
  out += fmt::format("{}{}: {}", out.empty() ? "" : ": ", error.is_limit ? "unknown" : "error",
                     error.what);
  const bool caret = !error.line.empty() && error.where.column > 0 &&
                     error.where.column <= error.line.size() + 1 &&
                     error.line.size() <= kWidestLineShown;
  if (caret) {
    out += fmt::format("\n  {}\n  {:>{}}", printable(error.line), "^", error.where.column);
    if (!error.hint.empty()) out += " " + error.hint;
  } else if (!error.hint.empty()) {
    out += fmt::format("\n  {}", error.hint);
  }
  return out;
}

}  // namespace isoscope
