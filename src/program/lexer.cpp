#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "program/token.h"

namespace isoscope::txn {

namespace {

constexpr std::array<std::string_view, 14> kKeywords = {
    "init", "txn", "session", "assert", "read",      "write", "if",
    "else", "for", "in",      "abort",  "committed", "min",   "max"};

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 29> kSigns = {
    ":=", "==", "!=", "<=", ">=", "&&", "||", "..", "(", ")", "[", "]", "{", "}", ",",
    ";",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%", "&", "^", "|", "!", "."};

struct ForeignSign {
  std::string_view sign;
  std::string_view hint;
};

// What people type who come from other languages; longest first.
constexpr std::array<ForeignSign, 11> kForeignSigns = {{
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

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }
bool belongs_to_level(char c) { return continues_name(c) || c == '-' || c == '+'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c)) {
        ++at_;
      } else if (c == '\n') {
        take_newline();
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (starts_name(c)) {
        take_word();
      } else if (is_digit(c)) {
        if (auto error = take_number()) return *error;
      } else if (c == '@') {
        if (auto error = take_level()) return *error;
      } else if (auto foreign = foreign_sign()) {
        return *foreign;
      } else if (const std::size_t length = sign_length(); length > 0) {
        take_sign(length);
      } else {
        return unexpected();
      }
    }
    tokens_.push_back({TokenKind::End, {}, at_, place()});
    return std::move(tokens_);
  }

 private:
  Place place() const { return {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }
  std::string_view rest() const { return text_.substr(at_); }
  std::size_t span_of(bool (*belongs)(char)) const {
    const std::string_view here = rest();
    return static_cast<std::size_t>(std::find_if_not(here.begin(), here.end(), belongs) -
                                    here.begin());
  }

  void take(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), at_, place()});
    at_ += length;
  }

  void take_newline() {
    if (open_ == 0) {
      take(TokenKind::Newline, 1);
    } else {
      ++at_;
    }
    ++line_;
    line_begin_ = at_;
  }

  void take_word() {
    const std::size_t length = span_of(continues_name);
    const std::string_view word = text_.substr(at_, length);
    const bool is_keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
    take(is_keyword ? TokenKind::Keyword : TokenKind::Name, length);
  }

  void take_sign(std::size_t length) {
    const char c = text_[at_];
    if (c == '(' || c == '[') ++open_;
    if ((c == ')' || c == ']') && open_ > 0) --open_;
    if (c == '{' || c == '}') open_ = 0;  // whatever was left open ends with the block
    take(TokenKind::Sign, length);
  }

  std::optional<Error> take_number() {
    const std::size_t length = span_of(is_digit);
    std::uint64_t magnitude = 0;
    for (const char c : text_.substr(at_, length)) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (magnitude > (kLargestMagnitude - digit) / 10)
        return Error{.where = place(),
                     .what = "this number does not fit into 64 bits",
                     .hint = "the largest is 9223372036854775807"};
      magnitude = magnitude * 10 + digit;
    }
    if (at_ + length < text_.size() && starts_name(text_[at_ + length]))
      return Error{.where = place(),
                   .what = "a name cannot begin with a digit",
                   .hint = "numbers are decimal"};
    take(TokenKind::Number, length);
    tokens_.back().magnitude = magnitude;
    return std::nullopt;
  }

  // @ser, @update-ser, @si@vis
  std::optional<Error> take_level() {
    const Place sign = place();
    ++at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    std::size_t length = span_of(belongs_to_level);
    if (length == 0)
      return Error{.where = sign,
                   .what = "expected a level after '@'",
                   .hint = "for example @ser; 'isoscope levels' lists them"};
    for (const std::string_view framework : {"@co", "@vis"}) {
      const std::string_view after = rest().substr(length);
      if (!after.starts_with(framework)) continue;
      if (after.size() > framework.size() && belongs_to_level(after[framework.size()])) continue;
      length += framework.size();
      break;
    }
    take(TokenKind::Level, length);
    return std::nullopt;
  }

  std::size_t sign_length() const {
    for (const std::string_view sign : kSigns) {
      if (rest().starts_with(sign)) return sign.size();
    }
    return 0;
  }

  std::optional<Error> foreign_sign() const {
    for (const auto& [sign, hint] : kForeignSigns) {
      if (rest().starts_with(sign))
        return Error{.where = place(),
                     .what = fmt::format("'{}' is not a sign of the language", sign),
                     .hint = std::string(hint)};
    }
    return std::nullopt;
  }

  Error unexpected() const {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (text_[at_] == ':')
      return Error{.where = place(),
                   .what = "unexpected character ':'",
                   .hint = "an assignment is written x := 1"};
    if (std::isprint(byte) != 0)
      return Error{.where = place(),
                   .what = fmt::format("unexpected character '{}'", text_[at_]),
                   .hint = ""};
    return Error{.where = place(),
                 .what = fmt::format("unexpected byte 0x{:02x}", byte),
                 .hint = "outside comments a program is plain ASCII"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  std::size_t open_ = 0;  // parentheses and brackets
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace isoscope::txn
