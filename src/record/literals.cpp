#include "record/literals.h"

#include <algorithm>

namespace isoscope::record {
namespace {

constexpr std::size_t kMostDigits = 9;  // always an integer of 32 bits
constexpr char kInteger = '\x01';
constexpr char kString = '\x02';
constexpr char kComment = '\x03';

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// May it stand in a name or a number?
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80U;
}

class KeyReader {
 public:
  explicit KeyReader(std::string_view text) : text_(text) { out_.key.reserve(text.size()); }

  TextKey read() {
    while (at_ < text_.size()) {
      if (!step()) return {std::string(text_), {}};
    }
    return std::move(out_);
  }

 private:
  char before() const { return at_ == 0 ? ' ' : text_[at_ - 1]; }
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void literal(std::size_t end, char mark) {
    out_.literals.push_back({at_, end});
    out_.key += mark;
    at_ = end;
  }
  void verbatim(std::size_t end) {
    out_.key += text_.substr(at_, end - at_);
    at_ = end;
  }

  // False: the text is its own key.
  bool step() {
    const char c = text_[at_];
    if (c == '\'') return read_string();
    if (c == '"') return read_name();
    if (starts("--")) {
      literal(std::min(text_.find('\n', at_), text_.size()), kComment);
      return true;
    }
    if (starts("/*")) return read_comment();
    if (is_word(c)) return read_word();
    if (c == '\\' || (c >= '\x01' && c <= '\x03')) return false;
    verbatim(at_ + 1);
    return true;
  }

  bool read_string() {
    if (is_word(before()) || before() == '&') return false;
    for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
      if (text_[end] == '\\') return false;
      if (text_[end] != '\'') continue;
      if (end + 1 < text_.size() && text_[end + 1] == '\'') {
        ++end;
        continue;
      }
      literal(end + 1, kString);
      return true;
    }
    return false;
  }

  bool read_name() {
    if (before() == '&') return false;
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return false;
    verbatim(end + 1);
    return true;
  }

  bool read_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    const std::size_t inner = text_.find("/*", at_ + 2);
    // An operator may begin with the same signs: only a comment that stands apart is one for sure.
    constexpr std::string_view kOperators = "+-*/<>=~!@#%^&|`?";
    if (end == std::string_view::npos || inner < end ||
        kOperators.find(before()) != std::string_view::npos)
      return false;
    literal(end + 2, kComment);
    return true;
  }

  bool read_word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const std::size_t dollar = word.find('$');
    if (dollar != std::string_view::npos) {
      // $1 is a parameter; other dollars begin strings, or are part of a name.
      const bool is_parameter = dollar == 0 && word.size() > 1 &&
                                std::ranges::all_of(word.substr(1), is_digit) &&
                                (end == text_.size() || text_[end] != '$');
      if (!is_parameter) return false;
    }
    const bool is_integer = std::ranges::all_of(word, is_digit) && word.size() <= kMostDigits &&
                            (word.size() == 1 || word[0] != '0') && before() != '.' &&
                            (end == text_.size() || text_[end] != '.');
    if (is_integer) {
      literal(end, kInteger);
    } else {
      verbatim(end);
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TextKey out_;
};

}  // namespace

TextKey key_of(std::string_view text) { return KeyReader(text).read(); }

std::size_t moved(std::size_t place, const std::vector<Range>& from, const std::vector<Range>& to) {
  std::size_t grown = 0;
  std::size_t shrunk = 0;
  for (std::size_t i = 0; i < from.size() && i < to.size() && from[i].end <= place; ++i) {
    grown += to[i].end - to[i].begin;
    shrunk += from[i].end - from[i].begin;
  }
  return place + grown - shrunk;
}

}  // namespace isoscope::record
