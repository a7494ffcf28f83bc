#include "sql/read/source_text.h"

#include <algorithm>

namespace isoscope::sql {

LineIndex::LineIndex(std::string_view text) : starts_{0}, size_(text.size()) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

Place LineIndex::place(std::size_t offset) const {
  if (everywhere_) return *everywhere_;
  offset = std::min(offset, size_);
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return {static_cast<std::uint32_t>(after - starts_.begin()),
          static_cast<std::uint32_t>(offset - *(after - 1) + 1)};
}

std::size_t offset_of(std::string_view text, Place place) {
  std::size_t offset = 0;
  for (std::uint32_t line = 1; line < place.line; ++line) {
    const std::size_t end = text.find('\n', offset);
    if (end == std::string_view::npos) return text.size();
    offset = end + 1;
  }
  return std::min<std::size_t>(text.size(), offset + std::max(1U, place.column) - 1);
}

Place Locator::place(std::int64_t location) const {
  if (lines == nullptr) return otherwise;
  std::int64_t offset = std::max<std::int64_t>(0, location + shift);
  if (offsets != nullptr) {
    const auto last = static_cast<std::int64_t>(offsets->size()) - 1;
    if (last < 0) return otherwise;
    offset = (*offsets)[static_cast<std::size_t>(std::min(offset, last))];
  }
  return lines->place(static_cast<std::size_t>(offset));
}

bool is_comment(std::string_view token) {
  return token.starts_with("--") || token.starts_with("/*");
}

std::string one_line(std::string_view text, std::span<const SqlToken> tokens) {
  std::string line;
  std::uint32_t end = 0;
  for (const SqlToken& token : tokens) {
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    if (is_comment(word)) continue;
    if (!line.empty() && token.begin > end) line += ' ';
    for (const char c : word) line += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
    end = token.end;
  }
  return line;
}

std::vector<std::uint32_t> string_offsets(std::string_view token, std::uint32_t begin) {
  std::vector<std::uint32_t> offsets;
  const auto add = [&](std::size_t i) { offsets.push_back(begin + static_cast<std::uint32_t>(i)); };
  if (token.starts_with('$')) {
    const std::size_t tag = token.find('$', 1) + 1;
    for (std::size_t i = tag; i + tag <= token.size(); ++i) add(i);
    return offsets;
  }
  // A doubled quote, and in E'…' a backslash and what follows, stands for one byte.
  const bool escapes = token.starts_with('E') || token.starts_with('e');
  for (std::size_t i = token.find('\'') + 1; i < token.size(); ++i) {
    add(i);
    if (token[i] == '\'' || (escapes && token[i] == '\\')) ++i;
  }
  return offsets;
}

}  // namespace isoscope::sql
