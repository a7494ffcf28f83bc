// EDN into forms, by recursive descent with bounded depth.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "formats/forms.h"
#include "formats/scan.h"

namespace isoscope {

namespace {

constexpr bool is_blank_sign(char c) { return is_blank(c) || c == ','; }

// By byte, since every byte of a token is asked.
constexpr auto kEndsToken = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c < ends.size(); ++c) ends[c] = is_blank_sign(static_cast<char>(c));
  for (const char c : std::string_view("()[]{}\";\\")) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

}  // namespace

class EdnParser {
 public:
  EdnParser(Forms& forms, std::string_view text, std::uint32_t line, const Budget& budget)
      : forms_(forms), text_(text), line_(line), budget_(budget) {}

  Result<void> parse() {
    for (;;) {
      if (auto done = skip_blanks(0); !done) return done;
      if (at_ == text_.size()) return {};
      if (auto done = form(0); !done) return done;
    }
  }

 private:
  Place place() const { return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)}; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  static bool ends_token(char c) { return kEndsToken[static_cast<unsigned char>(c)]; }

  // Blanks, comments and discarded forms.
  Result<void> skip_blanks(int depth) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c == ';') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (c == '#' && text_.substr(at_).starts_with("#_")) {
        at_ += 2;
        const auto kept = forms_.size();
        if (auto done = form(depth + 1); !done) return done;
        forms_.forms_.resize(kept);
        --at_;
      } else if (!is_blank_sign(c)) {
        return {};
      }
    }
    return {};
  }

  Result<void> form(int depth) {
    if (depth > kMaxFormDepth)
      return Error{.where = place(),
                   .what = fmt::format("this form nests deeper than {}", kMaxFormDepth)};
    if (budget_.expired()) return limit_error("reading the input");
    if (auto done = skip_blanks(depth); !done) return done;
    if (at_ == text_.size())
      return Error{.where = place(), .what = "expected a form before the end of the text"};
    const char c = text_[at_];
    switch (c) {
      case '(':
      case '[': return sequence(Form::Kind::Sequence, c == '(' ? ')' : ']', depth);
      case '{': return sequence(Form::Kind::Map, '}', depth);
      case ')':
      case ']':
      case '}': return Error{.where = place(), .what = fmt::format("unexpected '{}'", c)};
      case '"': return string();
      case '\\': return character();
      case '#':
        ++at_;
        if (peek() == '{') return sequence(Form::Kind::Set, '}', depth);
        while (at_ < text_.size() && !ends_token(text_[at_])) ++at_;  // the tag
        return form(depth + 1);
      default: return token();
    }
  }

  std::uint32_t add(Form::Kind kind) {
    const auto self = forms_.size();
    forms_.forms_.push_back({.kind = kind, .end = self + 1, .place = place()});
    return self;
  }

  Result<void> sequence(Form::Kind kind, char closing, int depth) {
    const auto self = add(kind);
    const Place opening = place();
    std::size_t children = 0;
    for (++at_;; ++children) {
      if (auto done = skip_blanks(depth); !done) return done;
      if (at_ == text_.size())
        return Error{.where = opening, .what = fmt::format("'{}' is missing", closing)};
      if (text_[at_] == closing) break;
      if (auto done = form(depth + 1); !done) return done;
    }
    ++at_;
    if (kind == Form::Kind::Map && children % 2 != 0)
      return Error{.where = opening, .what = "this map has a key without a value"};
    forms_.forms_[self].end = forms_.size();
    return {};
  }

  Result<void> string() {
    const auto self = add(Form::Kind::String);
    const Place opening = place();
    const std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') count_line(at_++);
    if (peek() == '"') {
      forms_.forms_[self].text = text_.substr(start, at_++ - start);
      return {};
    }
    std::string unescaped(text_.substr(start, at_ - start));
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        count_line(at_);
        unescaped.push_back(text_[at_]);
      } else if (auto done = escape(unescaped); !done) {
        return done;
      }
    }
    if (at_ == text_.size()) return Error{.where = opening, .what = "this string does not end"};
    ++at_;
    forms_.forms_[self].text = forms_.keep(std::move(unescaped));
    return {};
  }

  void count_line(std::size_t at) {
    if (text_[at] != '\n') return;
    ++line_;
    line_start_ = at + 1;
  }

  // Leaves `at_` on the last sign of the escape.
  Result<void> escape(std::string& out) {
    const Error unknown{
        .where = place(),
        .what = "unknown escape in a string",
        .hint = R"(known: \" \\ \b \f \n \r \t, and \u with four hexadecimal digits)"};
    ++at_;
    constexpr std::string_view kLetters = "\"\\bfnrt/";
    constexpr std::string_view kMeaning = "\"\\\b\f\n\r\t/";
    if (const auto found = kLetters.find(peek());
        peek() != '\0' && found != std::string_view::npos) {
      out.push_back(kMeaning[found]);
      return {};
    }
    if (peek() != 'u' || text_.size() - at_ < 5) return unknown;
    unsigned code = 0;
    const char* digits = text_.data() + at_ + 1;
    if (std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4) return unknown;
    at_ += 4;
    if (code < 0x80) {
      out.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out.push_back(static_cast<char>(0xc0 | code >> 6U));
      out.push_back(static_cast<char>(0x80 | (code & 0x3fU)));
    } else {
      out.push_back(static_cast<char>(0xe0 | code >> 12U));
      out.push_back(static_cast<char>(0x80 | (code >> 6U & 0x3fU)));
      out.push_back(static_cast<char>(0x80 | (code & 0x3fU)));
    }
    return {};
  }

  Result<void> character() {
    const auto self = add(Form::Kind::Symbol);
    const std::size_t start = at_;
    at_ = std::min(at_ + 2, text_.size());  // the sign behind the backslash may be a bracket
    while (at_ < text_.size() && !ends_token(text_[at_])) ++at_;
    forms_.forms_[self].text = text_.substr(start, at_ - start);
    return {};
  }

  static bool is_integer(std::string_view text, std::int64_t& number) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    return parsed.ec == std::errc{} && parsed.ptr == end;
  }

  Result<void> token() {
    const std::size_t start = at_;
    const Place begin = place();
    while (at_ < text_.size() && !ends_token(text_[at_])) ++at_;
    std::string_view text = text_.substr(start, at_ - start);
    Form form{.kind = Form::Kind::Symbol, .end = forms_.size() + 1, .text = text, .place = begin};
    if (text == "nil") {
      form.kind = Form::Kind::Nil;
    } else if (text[0] == ':') {
      if (text.size() == 1) return Error{.where = begin, .what = "a keyword has no name"};
      form.kind = Form::Kind::Keyword;
      form.text.remove_prefix(1);
    } else if (is_integer(text, form.number)) {
      form.kind = Form::Kind::Int;
    }
    forms_.forms_.push_back(form);
    return {};
  }

  Forms& forms_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_;
  Budget budget_;
};

Result<void> Forms::read_edn(std::string_view text, std::uint32_t line, const Budget& budget) {
  return EdnParser(*this, text, line, budget).parse();
}

}  // namespace isoscope
