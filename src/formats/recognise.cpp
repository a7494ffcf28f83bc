// Which format is it? Each has a first line that no other could have.
#include <array>

#include "formats/form_stream.h"
#include "formats/formats.h"
#include "formats/hist_lexer.h"
#include "formats/scan.h"

namespace isoscope {

namespace {

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  for (std::string_view candidate : words) {
    if (candidate == word) return true;
  }
  return false;
}

// JSON: the name of the first member tells. `text` begins with a brace or a bracket.
std::optional<Format> recognise_json(std::string_view text) {
  constexpr std::array<std::string_view, 9> kJsonlNames = {
      "format", "init", "session", "id", "status", "ops", "level", "sql", "at"};
  constexpr std::array<std::string_view, 7> kDbcopNames = {"params", "info",   "start",    "end",
                                                           "data",   "events", "committed"};
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('"', open + 1);
  const std::string_view name = text.substr(open + 1, close - open - 1);
  if (is_one_of(name, kDbcopNames)) return Format::Dbcop;
  if (text[0] == '{' && is_one_of(name, kJsonlNames)) return Format::Jsonl;
  return Format::Elle;
}

// Little-endian numbers that are far from using all their bytes, and strings that fit.
bool looks_like_bincode(std::string_view head) {
  if (head.size() < 64) return false;
  for (std::size_t number = 0; number < 5; ++number) {
    for (std::size_t byte = 5; byte < 8; ++byte) {
      if (head[number * 8 + byte] != '\0') return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Format> recognise(std::string_view head) {
  if (looks_like_bincode(head)) return Format::DbcopBincode;
  const std::string_view text = trimmed(head);
  if (text.empty()) return {};
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with("#jepsen.") || line[0] == ';') return Format::Elle;
  if (line[0] == '#') return Format::Hist;
  if (line[0] == '{' || line[0] == '[' || line[0] == '(')
    return looks_like_json(text) ? recognise_json(text) : Format::Elle;
  if (line.starts_with("r(") || line.starts_with("w(")) return Format::Plume;
  const bool is_operation = line.starts_with("r ") || line.starts_with("w ");
  const bool is_separator = line[0] == '-' || line[0] == '=';
  if (is_operation || is_separator) return Format::AwditTest;
  for (std::string_view word : {"READ KEY[", "WRITE KEY[", "INSERT[", "DELETE[", "CONTAINS["}) {
    if (line.starts_with(word)) return Format::IsoPredict;
  }
  // hist: `init x=0` or `s1: …`, where blanks and newlines may stand anywhere.
  HistLexer lexer(text);
  HistToken name;
  HistToken sign;
  if (!lexer.next(name) || !name.is_name() || !lexer.next(sign)) return {};
  if (name.text == "init" || sign.is(':')) return Format::Hist;
  return {};
}

}  // namespace isoscope
