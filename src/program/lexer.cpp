#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "program/token.h"
#include "support/text_cursor.h"

namespace isoscope::txn {

namespace {

constexpr std::array<std::string_view, 14> kKeywords = {
    "init", "txn", "session", "assert", "read",      "write", "if",
    "else", "for", "in",      "abort",  "committed", "min",   "max"};

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 29> kSigns = {
    ":=", "==", "!=", "<=", ">=", "&&", "||", "..", "(", ")", "[", "]", "{", "}", ",",
    ";",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%", "&", "^", "|", "!", "."};

// What people type who come from other languages; longest first.
constexpr std::array<lexical::ForeignSign, 11> kForeignSigns = {{
    {"...", "a range is written 1..3; both ends belong to it"},
    {"//", "a comment begins with '#'"},
    {"/*", "a comment begins with '#'"},
    {"<>", "write '!='"},
    {"<<", "multiply by a power of two"},
    {">>", "divide by a power of two"},
    {"**", "there is no power"},
    {"+=", "write x := x + 1"},
    {"++", "write x := x + 1"},
    {"-=", "write x := x - 1"},
    {"~", "the complement of x is -x - 1"},
}};

constexpr std::uint64_t kLargestMagnitude = std::uint64_t{1} << 63;

using lexical::continues_name;
using lexical::is_blank;
using lexical::is_digit;
using lexical::starts_name;

bool belongs_to_level(char c) { return continues_name(c) || c == '-' || c == '+'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : at_(text) {}

  Result<std::vector<Token>> run() {
    while (!at_.at_end()) {
      const char c = at_.here();
      if (is_blank(c)) {
        at_.step();
      } else if (c == '\n') {
        take_newline();
      } else if (c == '#') {
        at_.step_to_line_end();
      } else if (starts_name(c)) {
        take_word();
      } else if (is_digit(c)) {
        if (auto error = take_number()) return *error;
      } else if (c == '@') {
        if (auto error = take_level()) return *error;
      } else if (const auto* foreign = at_.foreign_sign(kForeignSigns)) {
        return Error{.where = at_.place(),
                     .what = fmt::format("'{}' is not a sign of the language", foreign->sign),
                     .hint = std::string(foreign->hint)};
      } else if (const std::size_t length = at_.sign_length(kSigns); length > 0) {
        take_sign(length);
      } else {
        return unexpected();
      }
    }
    take(TokenKind::End, 0);
    return std::move(tokens_);
  }

 private:
  void take(TokenKind kind, std::size_t length) {
    const std::size_t offset = at_.offset();
    const Place place = at_.place();
    tokens_.push_back({kind, at_.take(length), offset, place});
  }

  void take_newline() {
    if (open_ == 0)
      tokens_.push_back({TokenKind::Newline, at_.rest().substr(0, 1), at_.offset(), at_.place()});
    at_.step_line();
  }

  void take_word() {
    const std::size_t length = at_.span_of(continues_name);
    const std::string_view word = at_.rest().substr(0, length);
    const bool is_keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
    take(is_keyword ? TokenKind::Keyword : TokenKind::Name, length);
  }

  void take_sign(std::size_t length) {
    const char c = at_.here();
    if (c == '(' || c == '[') ++open_;
    if ((c == ')' || c == ']') && open_ > 0) --open_;
    if (c == '{' || c == '}') open_ = 0;  // whatever was left open ends with the block
    take(TokenKind::Sign, length);
  }

  std::optional<Error> take_number() {
    const std::size_t length = at_.span_of(is_digit);
    std::uint64_t magnitude = 0;
    for (const char c : at_.rest().substr(0, length)) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (magnitude > (kLargestMagnitude - digit) / 10)
        return Error{.where = at_.place(),
                     .what = "this number does not fit into 64 bits",
                     .hint = "the largest is 9223372036854775807"};
      magnitude = magnitude * 10 + digit;
    }
    const std::string_view after = at_.rest().substr(length);
    if (!after.empty() && starts_name(after.front()))
      return Error{.where = at_.place(),
                   .what = "a name cannot begin with a digit",
                   .hint = "numbers are decimal"};
    take(TokenKind::Number, length);
    tokens_.back().magnitude = magnitude;
    return std::nullopt;
  }

  // @ser, @update-ser, @si@vis
  std::optional<Error> take_level() {
    const Place sign = at_.place();
    at_.step();
    at_.step(at_.span_of(is_blank));
    std::size_t length = at_.span_of(belongs_to_level);
    if (length == 0)
      return Error{.where = sign,
                   .what = "expected a level after '@'",
                   .hint = "for example @ser; 'isoscope levels' lists them"};
    for (const std::string_view framework : {"@co", "@vis"}) {
      const std::string_view after = at_.rest().substr(length);
      if (!after.starts_with(framework)) continue;
      if (after.size() > framework.size() && belongs_to_level(after[framework.size()])) continue;
      length += framework.size();
      break;
    }
    take(TokenKind::Level, length);
    return std::nullopt;
  }

  Error unexpected() const {
    Error error = at_.unexpected("outside comments a program is plain ASCII");
    if (at_.here() == ':') error.hint = "an assignment is written x := 1";
    return error;
  }

  TextCursor at_;
  std::size_t open_ = 0;  // parentheses and brackets
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace isoscope::txn
