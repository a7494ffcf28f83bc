#pragma once
// Where a lexer stands in a text. The languages of programs, of levels and of histories share it,
// so that names, lines and columns, and what is said of bytes that fit nowhere are the same in all.
//
//     TextCursor at(text);
//     if (lexical::starts_name(at.here())) token = at.take(at.span_of(lexical::continues_name));
//
// Cost  O(1) a step; all of it is inline, for histories have millions of tokens.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/blanks.h"
#include "support/error.h"

namespace isoscope {

namespace lexical {

// Of ASCII, whatever the locale.
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool continues_name(char c) { return starts_name(c) || is_digit(c); }
inline bool is_blank(char c) { return blanks::in_line(c); }
inline std::string_view trimmed(std::string_view text) {
  return isoscope::trimmed(text, blanks::in_line);
}

// What people type who come from other languages, and what to write instead.
struct ForeignSign {
  std::string_view sign;
  std::string_view hint;
};

}  // namespace lexical

class TextCursor {
 public:
  // The caller keeps `text` alive.
  explicit TextCursor(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  bool at_end() const { return at_ >= text_.size(); }
  char here() const { return text_[at_]; }  // requires: not at the end
  std::size_t offset() const { return at_; }
  std::size_t line_begin() const { return line_begin_; }
  std::string_view rest() const { return text_.substr(at_); }
  Place place() const { return {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }

  // Requires: no newline among what is stepped over.
  void step(std::size_t length = 1) { at_ += length; }
  std::string_view take(std::size_t length) {
    const std::string_view taken = text_.substr(at_, length);
    at_ += length;
    return taken;
  }
  // Over the newline that stands here.
  void step_line() {
    ++at_;
    ++line_;
    line_begin_ = at_;
  }
  // To the newline, or to the end.
  void step_to_line_end() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  // How many characters from here on belong together.
  template <class Belongs>
  std::size_t span_of(const Belongs& belongs) const {
    std::size_t end = at_;
    while (end < text_.size() && belongs(text_[end])) ++end;
    return end - at_;
  }
  // The length of the sign that stands here, 0 if there is none. `signs`: the longest first.
  std::size_t sign_length(std::span<const std::string_view> signs) const {
    for (const std::string_view sign : signs) {
      if (rest().starts_with(sign)) return sign.size();
    }
    return 0;
  }
  const lexical::ForeignSign* foreign_sign(std::span<const lexical::ForeignSign> signs) const {
    const auto found = std::ranges::find_if(
        signs, [&](const auto& foreign) { return rest().starts_with(foreign.sign); });
    return found == signs.end() ? nullptr : &*found;
  }

  // What stands here fits nowhere. `hint` is about bytes that are no ASCII.
  Error unexpected(std::string_view hint) const {
    if (here() >= ' ' && here() <= '~')
      return {.where = place(), .what = fmt::format("unexpected character '{}'", here())};
    return {.where = place(),
            .what = fmt::format("unexpected byte 0x{:02x}", static_cast<unsigned char>(here())),
            .hint = std::string(hint)};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace isoscope
