#include "sql/read/body_text.h"

#include <algorithm>
#include <cctype>

#include "support/shorten.h"

namespace isoscope::sql {
namespace {

// How far we look for a part that should be just ahead.
constexpr std::size_t kHorizon = 5'000;

// Where the parser puts a blank, the body may have anything.
bool matches(std::string_view body, std::string_view text) {
  if (text.size() > body.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != body[i] && text[i] != ' ') return false;
  }
  return true;
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

BodyText::BodyText(std::string body, std::vector<std::uint32_t> offsets, const LineIndex& file)
    : body_(std::move(body)), offsets_(std::move(offsets)), file_(file), line_starts_{0} {
  for (std::size_t i = 0; i < body_.size(); ++i) {
    if (body_[i] == '\n') line_starts_.push_back(i + 1);
  }
  const auto tokens = scan_sql(body_);
  if (!tokens) return;  // the parser will say so, too
  for (const SqlToken& token : *tokens) {
    if (!is_comment(std::string_view(body_).substr(token.begin, 2))) tokens_.push_back(token);
  }
}

std::size_t BodyText::first_token(std::uint32_t line) const {
  const std::size_t start = line == 0                        ? 0
                            : line - 1 < line_starts_.size() ? line_starts_[line - 1]
                                                             : body_.size();
  const auto token = std::ranges::lower_bound(tokens_, start, {}, &SqlToken::begin);
  return std::max(cursor_, static_cast<std::size_t>(token - tokens_.begin()));
}

std::optional<std::size_t> BodyText::find_word(std::uint32_t line, std::string_view wanted) {
  const std::size_t first = first_token(line);
  const std::size_t last = std::min(tokens_.size(), first + kHorizon);
  for (std::size_t i = first; i < last; ++i) {
    if (!same_word(word(i), wanted)) continue;
    cursor_ = i + 1;
    return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> BodyText::find_text(std::uint32_t line, std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::size_t first = first_token(line);
  const std::size_t last = std::min(tokens_.size(), first + kHorizon);
  for (std::size_t i = first; i < last; ++i) {
    if (!matches(std::string_view(body_).substr(tokens_[i].begin), text)) continue;
    cursor_ = i + 1;
    return i;
  }
  return std::nullopt;
}

std::string_view BodyText::word(std::size_t token) const {
  const SqlToken& range = tokens_[token];
  return std::string_view(body_).substr(range.begin, range.end - range.begin);
}

std::size_t BodyText::file_offset(std::size_t i) const {
  if (offsets_.empty()) return 0;
  return offsets_[std::min<std::size_t>(tokens_[i].begin, offsets_.size() - 1)];
}

bool BodyText::mentions(std::string_view name) const {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (same_word(word(i), name)) return true;
  }
  return false;
}

Place BodyText::place_of_token(std::size_t token) const {
  return locator(0, 0).place(tokens_[token].begin);
}

Place BodyText::place_of_line(std::uint32_t line) const { return place_from_line(line, ""); }

Place BodyText::place_from_line(std::uint32_t line, std::string_view text) const {
  const std::size_t start = line_starts_[std::clamp<std::size_t>(line, 1, line_starts_.size()) - 1];
  auto token = std::ranges::lower_bound(tokens_, start, {}, &SqlToken::begin);
  if (token == tokens_.end()) return locator(0, 0).place(static_cast<std::int64_t>(start));
  const Place first = locator(0, 0).place(token->begin);
  for (; !text.empty() && token != tokens_.end(); ++token) {
    if (std::string_view(body_).substr(token->begin).starts_with(text))
      return locator(0, 0).place(token->begin);
  }
  return first;
}

Locator BodyText::locator(std::size_t offset, std::size_t prefix) const {
  return {.lines = &file_,
          .offsets = &offsets_,
          .shift = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(prefix)};
}

std::string BodyText::text_from(std::size_t token, std::string_view stop) const {
  // For people, and kept by everything that a statement becomes: of a long one, only the beginning.
  constexpr std::size_t kLongest = 1000;
  const std::size_t first_byte = tokens_[token].begin;
  std::size_t end = token;
  while (end < tokens_.size() && tokens_[end].begin <= first_byte + kLongest && word(end) != ";" &&
         (end == token || !same_word(word(end), stop)))
    ++end;
  const std::string line = one_line(body_, std::span(tokens_).subspan(token, end - token));
  const bool is_cut = end < tokens_.size() && tokens_[end].begin > first_byte + kLongest;
  return shortened(line, kLongest) + (is_cut && line.size() <= kLongest ? " …" : "");
}

}  // namespace isoscope::sql
