// Mutates texts by their tokens: bytes that change at random hardly ever leave a text that its
// reader accepts.
//
// A token is a name, a number, a run of blanks or a single sign. A piece is a line, or what stands
// between two brackets that belong together, with them. Tokens are replaced by others of their kind
// and pieces are left out, repeated and swapped, so that most texts stay well formed; one mutation
// in five changes bytes.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/rng.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace isoscope {
namespace {

enum class TokenKind { Name, Number, Blank, Sign };

struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

TokenKind kind_of(char first) {
  if (is_digit(first)) return TokenKind::Number;
  if (is_name(first)) return TokenKind::Name;
  return is_blank(first) ? TokenKind::Blank : TokenKind::Sign;
}

class Mutation {
 public:
  Mutation(std::string_view text, std::uint64_t seed) : text_(text), rng_(seed) {}

  std::string result() {
    const std::uint64_t times = 1 + rng_.below(3);
    for (std::uint64_t i = 0; i < times; ++i) {
      switch (rng_.below(6)) {
        case 0:
        case 1: replace_token(); break;
        case 2: change_number(); break;
        case 3: leave_out_piece(); break;
        case 4: repeat_piece(); break;
        default: swap_pieces();
      }
    }
    return text_;
  }

 private:
  std::string_view at(Slice slice) const {
    return std::string_view(text_).substr(slice.begin, slice.end - slice.begin);
  }
  void replace(Slice slice, const std::string& by) {
    text_.replace(slice.begin, slice.end - slice.begin, by);
  }

  std::vector<Slice> tokens(TokenKind kind) const {
    std::vector<Slice> found;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t begin = i++;
      const TokenKind this_kind = kind_of(text_[begin]);
      const auto goes_on = [&](char c) {
        return this_kind == TokenKind::Number  ? is_digit(c)
               : this_kind == TokenKind::Name  ? is_name(c)
               : this_kind == TokenKind::Blank ? is_blank(c)
                                               : false;
      };
      while (i < text_.size() && goes_on(text_[i])) ++i;
      if (this_kind == kind) found.push_back({begin, i});
    }
    return found;
  }

  // Lines with their ends, and brackets with what is between them; `shape` is '\n' or the bracket.
  std::vector<Slice> pieces(char shape) const {
    std::vector<Slice> found;
    std::vector<std::size_t> open;
    std::size_t line = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (shape == '\n' && (c == '\n' || i + 1 == text_.size())) {
        found.push_back({line, i + 1});
        line = i + 1;
      } else if (c == '(' || c == '[' || c == '{') {
        open.push_back(i);
      } else if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
        if (text_[open.back()] == shape) found.push_back({open.back(), i + 1});
        open.pop_back();
      }
    }
    return found;
  }

  template <class Element>
  const Element& any_of(const std::vector<Element>& all) {
    return all[rng_.below(all.size())];
  }
  char any_shape() { return "\n([{"[rng_.below(4)]; }

  void replace_token() {
    const TokenKind kinds[] = {TokenKind::Name, TokenKind::Name, TokenKind::Number,
                               TokenKind::Sign};
    const auto all = tokens(kinds[rng_.below(4)]);
    if (all.empty()) return;
    const std::string other(at(any_of(all)));
    replace(any_of(all), other);
  }

  void change_number() {
    const auto all = tokens(TokenKind::Number);
    if (all.empty()) return;
    const char* odd[] = {
        "0", "1", "2", "3", "7", "-1", "9223372036854775807", "18446744073709551616"};
    replace(any_of(all), odd[rng_.below(8)]);
  }

  void leave_out_piece() {
    const char shape = any_shape();
    const auto all = pieces(shape);
    if (all.empty()) return;
    const Slice gone = any_of(all);
    // Of brackets only the content goes.
    replace(gone, shape == '\n' ? "" : std::string{shape, text_[gone.end - 1]});
  }

  void repeat_piece() {
    const auto all = pieces(any_shape());
    if (all.empty()) return;
    std::string copy(at(any_of(all)));
    const Slice after = any_of(all);
    const char next = after.end < text_.size() ? text_[after.end] : '\0';
    if (next == ',' || next == ' ') copy.insert(0, 1, next);
    text_.insert(after.end, copy);
  }

  void swap_pieces() {
    const auto all = pieces(any_shape());
    if (all.size() < 2) return;
    Slice first = any_of(all);
    Slice second = any_of(all);
    if (second.begin < first.begin) std::swap(first, second);
    if (second.begin < first.end) return;  // the same, or one in the other
    const std::string one(at(first));
    const std::string other(at(second));
    replace(second, one);
    replace(first, other);
  }

  std::string text_;
  Rng rng_;
};

}  // namespace
}  // namespace isoscope

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (size == 0 || seed % 5 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string changed = isoscope::Mutation(text, seed).result();
  if (changed.empty() || changed.size() > max_size || changed == text)
    return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
