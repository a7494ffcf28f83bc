#include "formats/hist_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/scan.h"
#include "support/spelling.h"

namespace isoscope {

namespace {

using lexical::continues_name;
using lexical::starts_name;

constexpr std::string_view kSigns = ":=[](),!?@|<>.";

}  // namespace

void HistLexer::skip_blanks() {
  while (!at_.at_end()) {
    const char c = at_.here();
    if (c == '\n') {
      at_.step_line();
    } else if (c == '#') {
      at_.step_to_line_end();
    } else if (lexical::is_blank(c)) {
      at_.step();
    } else {
      return;
    }
  }
}

char HistLexer::peek() {
  skip_blanks();
  return at_.at_end() ? '\0' : at_.here();
}

bool HistLexer::has_bar() {
  if (!has_bars_) return false;
  int depth = 1;
  const std::string_view text = at_.text();
  for (std::size_t i = at_.offset(); i < text.size(); ++i) {
    const char c = text[i];
    if (c == '|') return true;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return false;
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (c != '"') continue;
    for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
      if (text[i] == '\\') ++i;
    }
  }
  return false;
}

std::string_view HistLexer::take_name() {
  if (at_.at_end() || !starts_name(at_.here())) return {};
  return at_.take(at_.span_of(continues_name));
}

Result<void> HistLexer::next(HistToken& token) {
  skip_blanks();
  token.place = place();
  if (at_.at_end()) {
    token.kind = HistToken::Kind::End;
    token.text = {};
    return {};
  }
  const char c = at_.here();
  if (starts_name(c)) {
    token.kind = HistToken::Kind::Name;
    token.text = take_name();
    return {};
  }
  if (is_digit(c) || c == '-' || c == '+') return read_int(token);
  if (c == '"') return read_string(token);
  if (kSigns.find(c) != std::string_view::npos) {
    token.kind = HistToken::Kind::Sign;
    token.text = at_.take(1);
    return {};
  }
  return Error{.where = token.place,
               .what = fmt::format("unexpected {}", show_byte(c)),
               .hint = "keys other than names stand in double quotes"};
}

Result<void> HistLexer::read_int(HistToken& token) {
  const std::size_t start = at_.offset();
  at_.step();  // a digit or a sign
  at_.step(at_.span_of(continues_name));
  token.kind = HistToken::Kind::Int;
  token.text = at_.text().substr(start, at_.offset() - start);
  const char* end = token.text.data() + token.text.size();
  const auto parsed = std::from_chars(token.text.data(), end, token.number);
  if (parsed.ec == std::errc::result_out_of_range)
    return Error{.where = token.place,
                 .what = fmt::format("{} does not fit in 64 bits", token.text),
                 .hint = "write it as a string, in double quotes"};
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return Error{.where = token.place, .what = fmt::format("'{}' is no integer", token.text)};
  return {};
}

Result<void> HistLexer::read_string(HistToken& token) {
  const std::size_t start = at_.offset();
  at_.step();
  token.kind = HistToken::Kind::String;
  token.string.clear();
  const Error unterminated{.where = token.place, .what = "this string does not end on its line"};
  for (; !at_.at_end(); at_.step()) {
    char c = at_.here();
    if (c == '\n') return unterminated;
    if (c == '"') {
      at_.step();
      token.text = at_.text().substr(start, at_.offset() - start);
      return {};
    }
    if (c == '\\') {
      const Place escape = place();
      at_.step();
      if (at_.at_end()) return unterminated;
      const Error unknown{.where = escape,
                          .what = "unknown escape in a string",
                          .hint = "known: \\\" \\\\ \\n \\r \\t \\xHH"};
      switch (at_.here()) {
        case '"':
        case '\\': c = at_.here(); break;
        case 'n': c = '\n'; break;
        case 'r': c = '\r'; break;
        case 't': c = '\t'; break;
        case 'x': {
          unsigned byte = 0;
          const char* digits = at_.rest().data() + 1;
          if (at_.rest().size() < 3 ||
              std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
            return unknown;
          c = static_cast<char>(byte);
          at_.step(2);
          break;
        }
        default: return unknown;
      }
    }
    token.string.push_back(c);
  }
  return unterminated;
}

Result<std::string> HistLexer::level() {
  const Place start = place();
  std::string name(take_name());
  const Error malformed{.where = start,
                        .what = "expected the name of a level behind '@'",
                        .hint = "for example [r(x,0)]@si or [r(x,0)]@cc@vis"};
  if (name.empty()) return malformed;
  constexpr std::string_view kJoints = "-+.";
  while (!at_.at_end() && kJoints.find(at_.here()) != std::string_view::npos) {
    const char joint = at_.take(1).front();
    name.push_back(joint);
    const std::string_view part = at_.take(at_.span_of(continues_name));
    name.append(part);
    if (!part.empty()) continue;
    if (joint != '+') return malformed;
    break;  // a plus may be the last sign
  }
  if (!at_.at_end() && at_.here() == '@') {
    const Place at_sign = place();
    at_.step();
    const std::string framework = lower_case(take_name());
    if (framework != "co" && framework != "vis" && framework != "snap")
      return Error{.where = at_sign,
                   .what = fmt::format("'{}' is no framework", framework),
                   .hint = "a level ends with @co, @vis, @snap or without any"};
    name.append("@").append(framework);
  }
  return lower_case(name);
}

bool is_hist_name(std::string_view text) {
  if (text.empty() || !starts_name(text[0])) return false;
  for (char c : text) {
    if (!continues_name(c)) return false;
  }
  return true;
}

bool is_bare_hist_key(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return is_hist_name(text);
  if (!is_hist_name(text.substr(0, bracket))) return false;
  const std::size_t closing = text.find(']', bracket);
  if (closing == std::string_view::npos) return false;
  const std::string_view column = text.substr(closing + 1);
  if (!column.empty() && (column[0] != '.' || !is_hist_name(column.substr(1)))) return false;
  text = text.substr(0, closing + 1);
  std::string_view indices = text.substr(bracket + 1, text.size() - bracket - 2);
  for (;;) {
    const std::size_t comma = indices.find(',');
    if (!canonical_int(indices.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    indices.remove_prefix(comma + 1);
  }
}

bool is_level_name(std::string_view text) {
  HistLexer lexer(text);
  return lexer.level().ok() && lexer.place().column == text.size() + 1;
}

}  // namespace isoscope
