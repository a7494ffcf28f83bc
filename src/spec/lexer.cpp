#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spec/token.h"
#include "support/text_cursor.h"

namespace isoscope {

namespace {

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 18> kSigns = {
    "^-1", "!=", "(", ")", "[", "]", ",", ":", ".", "=", "|", "\\", "&", ";", "+", "*", "?", "-"};

// What people type who come from other notations; longest first.
constexpr std::array<lexical::ForeignSign, 20> kForeignSigns = {{
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

// What a comment says.
std::string_view words_of(std::string_view comment) {
  comment = trimmed_front(comment, [](char c) { return blanks::in_text(c) || c == '#'; });
  return trimmed_back(comment, blanks::in_text);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : at_(text) {}

  Result<Tokens> run() {
    while (!at_.at_end()) {
      const char c = at_.here();
      if (c == '\n') {
        at_.step_line();
      } else if (lexical::is_blank(c)) {
        at_.step();
      } else if (c == '#') {
        take_comment();
      } else if (lexical::starts_name(c) || continues_level_name(c)) {
        take(TokenKind::Name, at_.span_of(lexical::continues_name));
      } else if (auto foreign = foreign_sign()) {
        return *foreign;
      } else if (const std::size_t length = at_.sign_length(kSigns); length > 0) {
        take(TokenKind::Sign, length);
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
    tokens_.all.push_back({kind, at_.take(length), offset, place});
  }

  void take_comment() {
    const std::size_t begin = at_.offset();
    const Place place = at_.place();
    const std::string_view before = at_.text().substr(at_.line_begin(), begin - at_.line_begin());
    at_.step_to_line_end();
    tokens_.comments.push_back({words_of(at_.text().substr(begin, at_.offset() - begin)), begin,
                                at_.offset(), place, std::ranges::all_of(before, blanks::in_text)});
  }

  // Names of levels have parts such as the 2 and the 99 of PL-2.99.
  bool continues_level_name(char c) const {
    if (!lexical::is_digit(c) || tokens_.all.size() < 2) return false;
    const Token& sign = tokens_.all.back();
    const Token& before = tokens_.all[tokens_.all.size() - 2];
    return (sign.is("-") || sign.is("+") || sign.is(".")) && sign.end() == at_.offset() &&
           before.is_name() && before.end() == sign.offset;
  }

  std::optional<Error> foreign_sign() const {
    const auto* foreign = at_.foreign_sign(kForeignSigns);
    if (foreign == nullptr) return std::nullopt;
    // '!' of '!=', '^' of '^-1'
    if (foreign->sign.size() == 1 && at_.sign_length(kSigns) > 1) return std::nullopt;
    return Error{.where = at_.place(),
                 .what = fmt::format("'{}' is not a sign of the level language", foreign->sign),
                 .hint = std::string(foreign->hint)};
  }

  Error unexpected() const {
    if (lexical::is_digit(at_.here()))
      return Error{.where = at_.place(),
                   .what = "a number cannot stand here",
                   .hint = "names begin with a letter; the only number is the one of '^-1'"};
    return at_.unexpected("outside comments the level language is plain ASCII");
  }

  TextCursor at_;
  Tokens tokens_;
};

}  // namespace

Result<Tokens> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace isoscope
