#include "formats/hist_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/scan.h"

namespace isoscope {

namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool continues_name(char c) { return starts_name(c) || is_digit(c); }

constexpr std::string_view kSigns = ":=[](),!?@|<>.";

}  // namespace

void HistLexer::skip_blanks() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (c == '#') {
      while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

char HistLexer::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool HistLexer::has_bar() {
  if (!has_bars_) return false;
  int depth = 1;
  for (std::size_t i = at_; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '|') return true;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return false;
    if (c == '#') i = std::min(text_.find('\n', i), text_.size());
    if (c != '"') continue;
    for (++i; i < text_.size() && text_[i] != '"' && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\') ++i;
    }
  }
  return false;
}

std::string_view HistLexer::take_name() {
  const std::size_t start = at_;
  if (at_ < text_.size() && starts_name(text_[at_])) {
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
  }
  return text_.substr(start, at_ - start);
}

Result<void> HistLexer::next(HistToken& token) {
  skip_blanks();
  token.place = place();
  if (at_ == text_.size()) {
    token.kind = HistToken::Kind::End;
    token.text = {};
    return {};
  }
  const char c = text_[at_];
  if (starts_name(c)) {
    token.kind = HistToken::Kind::Name;
    token.text = take_name();
    return {};
  }
  if (is_digit(c) || c == '-' || c == '+') return read_int(token);
  if (c == '"') return read_string(token);
  if (kSigns.find(c) != std::string_view::npos) {
    token.kind = HistToken::Kind::Sign;
    token.text = text_.substr(at_++, 1);
    return {};
  }
  return Error{.where = token.place,
               .what = fmt::format("unexpected {}", show_byte(c)),
               .hint = "keys other than names stand in double quotes"};
}

Result<void> HistLexer::read_int(HistToken& token) {
  const std::size_t start = at_++;
  while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
  token.kind = HistToken::Kind::Int;
  token.text = text_.substr(start, at_ - start);
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
  const std::size_t start = at_++;
  token.kind = HistToken::Kind::String;
  token.string.clear();
  const Error unterminated{.where = token.place, .what = "this string does not end on its line"};
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '\n') return unterminated;
    if (c == '"') {
      ++at_;
      token.text = text_.substr(start, at_ - start);
      return {};
    }
    if (c == '\\') {
      const Place escape = place();
      if (++at_ == text_.size()) return unterminated;
      const Error unknown{.where = escape,
                          .what = "unknown escape in a string",
                          .hint = "known: \\\" \\\\ \\n \\r \\t \\xHH"};
      switch (text_[at_]) {
        case '"':
        case '\\':
          c = text_[at_];
          break;
        case 'n':
          c = '\n';
          break;
        case 'r':
          c = '\r';
          break;
        case 't':
          c = '\t';
          break;
        case 'x': {
          unsigned byte = 0;
          const char* digits = text_.data() + at_ + 1;
          if (text_.size() - at_ < 3 ||
              std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
            return unknown;
          c = static_cast<char>(byte);
          at_ += 2;
          break;
        }
        default:
          return unknown;
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
  while (at_ < text_.size() && kJoints.find(text_[at_]) != std::string_view::npos) {
    const char joint = text_[at_++];
    name.push_back(joint);
    const std::size_t start_of_part = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    name.append(text_.substr(start_of_part, at_ - start_of_part));
    if (at_ > start_of_part) continue;
    if (joint != '+') return malformed;
    break;  // a plus may be the last sign
  }
  if (at_ < text_.size() && text_[at_] == '@') {
    const Place at_sign = place();
    ++at_;
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
