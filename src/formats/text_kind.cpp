#include "formats/text_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/formats.h"
#include "formats/scan.h"

namespace isoscope {

namespace {

struct KindInfo {
  std::string_view name;
  std::string_view use;
};

constexpr std::array<KindInfo, 5> kKinds = {{
    {"", ""},
    {"a history", "isoscope check, predict, stats and convert read histories"},
    {"a .txn program", "isoscope explore and run execute it"},
    {"an SQL program", "isoscope audit analyses it; explore and run execute it"},
    {"a text that declares levels", "name it by --spec FILE, and a level of it by --level"},
}};

// The text without comments, its words one blank apart.
std::string essence_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "--" || text[i] == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 1;
    } else if (!is_blank(text[i])) {
      out += text[i];
      continue;
    }
    if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool declares_sql(std::string_view capitals) {
  return has_any(capitals, {"CREATE TABLE", "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION",
                            "CREATE PROCEDURE", "CREATE OR REPLACE PROCEDURE"});
}

// The words that begin an item: "txn name(" and "session name {", also behind a closing brace.
bool declares_transactions(std::string_view words) {
  if (words.starts_with("txn ") || words.starts_with("session ")) return true;
  return has_any(words, {" txn ", " session "}) &&
         has_any(words, {"read(", "write(", ") {", "{ {"});
}

// recognise() distinguishes formats from each other; this, formats from other texts.
bool is_history(std::string_view words) {
  const auto format = recognise(words);
  if (format == Format::Hist)
    return has_any(words, {":[", ": [", "=["}) && has_any(words, {"r(", "w(", "d("});
  if (format == Format::Elle) return has_any(words, {":type", "\"type\"", "jepsen"});
  return format.has_value();
}

}  // namespace

bool is_sql_program(std::string_view text) { return declares_sql(in_capitals(essence_of(text))); }

TextKind kind_of_text(std::string_view text) {
  const std::string words = essence_of(text.substr(0, kRecognisedBytes));
  if (words.starts_with("level ") && words.find(" over ") != std::string::npos)
    return TextKind::Levels;
  if (declares_sql(in_capitals(words))) return TextKind::Sql;
  // `init x = 1` begins programs and histories; a history has no braces.
  if (declares_transactions(words)) return TextKind::Program;
  return is_history(words) ? TextKind::History : TextKind::Unknown;
}

Error explain_kind(const Error& error, TextKind wanted, std::string_view text) {
  if (error.is_limit) return error;
  const TextKind kind = kind_of_text(text);
  if (kind == TextKind::Unknown || kind == wanted) return error;
  const KindInfo& is = kKinds[static_cast<std::size_t>(kind)];
  return Error{.what = fmt::format("this is {}, not {}", is.name,
                                   kKinds[static_cast<std::size_t>(wanted)].name),
               .hint = std::string(is.use),
               .file = error.file};
}

}  // namespace isoscope
