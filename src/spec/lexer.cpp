#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "spec/token.h"

namespace isoscope {

namespace {

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 18> kSigns = {
    "^-1", "!=", "(", ")", "[", "]", ",", ":", ".", "=", "|", "\\", "&", ";", "+", "*", "?", "-"};

struct ForeignSign {
  std::string_view sign;
  std::string_view hint;
};

// What people type who come from other notations; longest first.
constexpr std::array<ForeignSign, 20> kForeignSigns = {{
    {"<=>", "write 'iff'"},
    {"<->", "write 'iff'"},
    {"=>", "write 'implies'"},
    {"->", "write 'implies'"},
    {"&&", "write 'and'"},
    {"||", "write 'or'"},
    {"==", "write '='"},
    {"<>", "write '!='"},
    {"//", "a comment begins with '#'"},
    {"--", "a comment begins with '#'"},
    {"^+", "write the closure as a postfix '+'"},
    {"^*", "write the closure as a postfix '*'"},
    {"!", "write 'not'"},
    {"~", "write 'not', or '^-1' for the inverse"},
    {"^", "the inverse is '^-1'"},
    {"\xe2\x88\x80", "write 'forall'"},
    {"\xe2\x88\x83", "write 'exists'"},
    {"\xe2\x87\x92", "write 'implies'"},
    {"\xe2\x88\xaa", "write '|'"},
    {"\xe2\x88\xa9", "write '&'"},
}};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '#')) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Tokens> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c)) {
        step_over_blank(c);
      } else if (c == '#') {
        take_comment();
      } else if (starts_name(c) || continues_level_name(c)) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && continues_name(text_[end])) ++end;
        take(TokenKind::Name, end - at_);
      } else if (auto foreign = foreign_sign()) {
        return *foreign;
      } else if (const std::size_t length = sign_length(); length > 0) {
        take(TokenKind::Sign, length);
      } else {
        return unexpected();
      }
    }
    tokens_.all.push_back({TokenKind::End, {}, at_, place()});
    return std::move(tokens_);
  }

 private:
  Place place() const { return {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }
  std::string_view rest() const { return text_.substr(at_); }

  void step_over_blank(char c) {
    ++at_;
    if (c != '\n') return;
    ++line_;
    line_begin_ = at_;
  }

  void take(TokenKind kind, std::size_t length) {
    tokens_.all.push_back({kind, text_.substr(at_, length), at_, place()});
    at_ += length;
  }

  void take_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view before = text_.substr(line_begin_, at_ - line_begin_);
    tokens_.comments.push_back({trim(text_.substr(at_, end - at_)), at_, end, place(),
                                std::all_of(before.begin(), before.end(), is_blank)});
    at_ = end;
  }

  // Names of levels have parts such as the 2 and the 99 of PL-2.99.
  bool continues_level_name(char c) const {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || tokens_.all.size() < 2) return false;
    const Token& sign = tokens_.all.back();
    const Token& before = tokens_.all[tokens_.all.size() - 2];
    return (sign.is("-") || sign.is("+") || sign.is(".")) && sign.end() == at_ &&
           before.is_name() && before.end() == sign.offset;
  }

  std::size_t sign_length() const {
    for (std::string_view sign : kSigns) {
      if (rest().starts_with(sign)) return sign.size();
    }
    return 0;
  }

  std::optional<Error> foreign_sign() const {
    for (const auto& [sign, hint] : kForeignSigns) {
      const bool ours = sign.size() == 1 && sign_length() > 1;  // '!' of '!=', '^' of '^-1'
      if (rest().starts_with(sign) && !ours)
        return Error{.where = place(),
                     .what = fmt::format("'{}' is not a sign of the level language", sign),
                     .hint = std::string(hint)};
    }
    return std::nullopt;
  }

  Error unexpected() const {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(byte) != 0)
      return Error{.where = place(),
                   .what = "a number cannot stand here",
                   .hint = "names begin with a letter; the only number is the one of '^-1'"};
    if (std::isprint(byte) != 0)
      return Error{.where = place(),
                   .what = fmt::format("unexpected character '{}'", text_[at_]),
                   .hint = ""};
    return Error{.where = place(),
                 .what = fmt::format("unexpected byte 0x{:02x}", byte),
                 .hint = "outside comments the level language is plain ASCII"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  Tokens tokens_;
};

}  // namespace

Result<Tokens> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace isoscope
