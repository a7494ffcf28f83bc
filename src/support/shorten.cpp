#include "support/shorten.h"

#include <fmt/format.h>

#include <algorithm>

namespace isoscope {

namespace {

constexpr std::string_view kLeftOut = "…";
constexpr std::size_t kFirstItems = 4;
constexpr std::size_t kLastItems = 4;

bool is_inside_character(std::string_view text, std::size_t offset) {
  return offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80;
}

// The start of the character at `offset`, looking back at most as far as UTF-8 goes: in other texts
// every byte is a character.
std::size_t character_start(std::string_view text, std::size_t offset) {
  for (std::size_t back = 0; back < 4 && back <= offset; ++back) {
    if (!is_inside_character(text, offset - back)) return offset - back;
  }
  return offset;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, character_start(text, most))) + std::string(kLeftOut);
}

Excerpt excerpt_around(std::string_view text, std::size_t offset, std::size_t most) {
  if (text.size() <= most) return {std::string(text), offset};
  offset = std::min(offset, text.size());
  const std::size_t wanted = offset - std::min(offset, most / 2);
  const std::size_t begin = character_start(text, std::min(wanted, text.size() - most));
  const std::size_t end = character_start(text, std::min(text.size(), begin + most));
  Excerpt excerpt;
  if (begin > 0) excerpt.text = kLeftOut;
  excerpt.offset = excerpt.text.size() + (offset - begin);
  excerpt.text += text.substr(begin, end - begin);
  if (end < text.size()) excerpt.text += kLeftOut;
  return excerpt;
}

std::string short_list(std::size_t count, std::string_view separator,
                       const std::function<std::string(std::size_t)>& item) {
  const bool is_short = count <= kFirstItems + kLastItems + 1;
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) list += separator;
    if (!is_short && i == kFirstItems) {
      const std::size_t left_out = count - kFirstItems - kLastItems;
      list += fmt::format("… {} more …{}", left_out, separator);
      i += left_out;
    }
    list += item(i);
  }
  return list;
}

}  // namespace isoscope
