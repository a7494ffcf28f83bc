#include "formats/json_text.h"

#include <fmt/format.h>

#include <cstring>

namespace isoscope {

namespace {

std::string_view reason_of(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR: return "this text is not UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string does not end";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC: return "this JSON text is too large (4 GB at most)";
    case simdjson::DEPTH_ERROR: return "this JSON nests deeper than 1024";
    case simdjson::EMPTY: return "expected JSON, not nothing";
    case simdjson::STRING_ERROR: return "this string has an escape that JSON does not know";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "a bracket of this JSON is not closed, or other text follows it";
    default: return "this is no valid JSON";
  }
}

}  // namespace

Result<void> JsonText::open(std::string_view text, std::uint32_t line) {
  size_ = text.size();
  const std::size_t wanted = size_ + simdjson::SIMDJSON_PADDING;
  if (buffer_.size() < wanted) buffer_.resize(std::max(wanted, buffer_.size() * 2));
  std::memcpy(buffer_.data(), text.data(), size_);
  // Blanks, not what an earlier document left: no token may run on behind the end.
  std::memset(buffer_.data() + size_, ' ', simdjson::SIMDJSON_PADDING);
  known_at_ = line_start_ = 0;
  first_line_ = line_ = line;
  const auto error = parser_.iterate(buffer_.data(), size_, buffer_.size()).get(document_);
  if (error == simdjson::SUCCESS) return {};
  return Error{.where = {line, 0}, .what = std::string(reason_of(error))};
}

Result<void> JsonText::close() {
  if (document_.current_location().error() == simdjson::OUT_OF_BOUNDS) return {};
  return Error{.where = here(), .what = "unexpected text behind the JSON value"};
}

Place JsonText::place_of(const char* at) {
  const auto offset = std::min(static_cast<std::size_t>(at - buffer_.data()), size_);
  if (offset < known_at_) {
    known_at_ = line_start_ = 0;
    line_ = first_line_;
  }
  while (known_at_ < offset) {
    const void* newline = std::memchr(buffer_.data() + known_at_, '\n', offset - known_at_);
    if (newline == nullptr) break;
    known_at_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
    line_start_ = known_at_;
    ++line_;
  }
  known_at_ = offset;
  return {line_, static_cast<std::uint32_t>(offset - line_start_ + 1)};
}

const char* JsonText::location() {
  const char* at = nullptr;
  if (document_.current_location().get(at) != simdjson::SUCCESS) at = buffer_.data() + size_;
  return at;
}

Error JsonText::syntax(simdjson::error_code code) {
  return Error{.where = here(), .what = std::string(reason_of(code))};
}

char JsonText::first_sign(Item& item) {
  const char* at = nullptr;
  if (item.current_location().get(at) != simdjson::SUCCESS) return '\0';
  return *at;
}

Result<std::int64_t> JsonText::integer(Item& item, std::string_view what) {
  std::int64_t number = 0;
  if (item.get_int64().get(number) == simdjson::SUCCESS) return number;
  return Error{.where = here(), .what = fmt::format("expected {} a 64-bit integer", what)};
}

Result<std::uint64_t> JsonText::unsigned_integer(Item& item, std::string_view what) {
  std::uint64_t number = 0;
  if (item.get_uint64().get(number) == simdjson::SUCCESS) return number;
  return Error{.where = here(),
               .what = fmt::format("expected {} an unsigned 64-bit integer", what)};
}

Result<std::string_view> JsonText::string(Item& item, std::string_view what) {
  std::string_view text;
  const char* at = location();
  const auto error = item.get_string().get(text);
  if (error == simdjson::SUCCESS) return text;
  Error failure = syntax(error);
  failure.where = place_of(at);
  if (error == simdjson::INCORRECT_TYPE)
    failure.what = fmt::format("expected {} to be a string", what);
  return failure;
}

}  // namespace isoscope
