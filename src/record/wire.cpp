#include "record/wire.h"

#include <algorithm>

namespace isoscope::record {
namespace {

std::uint32_t big_endian32(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

Piece Framer::next(std::string_view unread) {
  if (unread.empty()) return {};
  if (rest_ > 0) {
    const std::size_t size = std::min(rest_, unread.size());
    rest_ -= size;
    return {Piece::Kind::Part, type_, unread.substr(0, size), false};
  }
  if (unread.size() < 5) return {};
  const std::uint32_t length = big_endian32(unread.substr(1));
  if (length < 4 || length > kLargestMessage) return {Piece::Kind::Broken, unread[0], unread, true};
  const std::size_t whole = std::size_t{length} + 1;
  if (whole <= largest_ && gathered_.find(unread[0]) != std::string::npos) {
    if (unread.size() < whole) return {};
    return {Piece::Kind::Message, unread[0], unread.substr(0, whole), true};
  }
  type_ = unread[0];
  const std::size_t size = std::min(whole, unread.size());
  rest_ = whole - size;
  return {Piece::Kind::Part, type_, unread.substr(0, size), true};
}

Piece Framer::next_start_packet(std::string_view unread) {
  if (unread.size() < 4) return {};
  const std::uint32_t length = big_endian32(unread);
  if (length < 8 || length > kLargestStartPacket) return {Piece::Kind::Broken, 0, unread, true};
  if (unread.size() < length) return {};
  return {Piece::Kind::Message, 0, unread.substr(0, length), true};
}

std::uint64_t Fields::number(std::size_t size) {
  std::uint64_t result = 0;
  for (const char byte : bytes(size)) result = result << 8U | static_cast<unsigned char>(byte);
  return result;
}
std::uint8_t Fields::byte() { return static_cast<std::uint8_t>(number(1)); }
std::uint16_t Fields::int16() { return static_cast<std::uint16_t>(number(2)); }
std::uint32_t Fields::int32() { return static_cast<std::uint32_t>(number(4)); }

std::string_view Fields::string() {
  const std::size_t end = rest_.find('\0');
  if (failed_ || end == std::string_view::npos) {
    failed_ = true;
    return {};
  }
  const std::string_view result = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return result;
}

std::string_view Fields::bytes(std::size_t count) {
  if (failed_ || count > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view result = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return result;
}

void append_int16(std::string& out, std::uint16_t number) {
  out.push_back(static_cast<char>(number >> 8U));
  out.push_back(static_cast<char>(number & 0xFFU));
}

void append_int32(std::string& out, std::uint32_t number) {
  append_int16(out, static_cast<std::uint16_t>(number >> 16U));
  append_int16(out, static_cast<std::uint16_t>(number & 0xFFFFU));
}

std::string message_of(char type, std::string_view payload) {
  std::string out(1, type);
  append_int32(out, static_cast<std::uint32_t>(payload.size() + 4));
  out += payload;
  return out;
}

std::string_view error_field(std::string_view payload, char field) {
  Fields fields(payload);
  for (;;) {
    const char code = static_cast<char>(fields.byte());
    if (fields.has_failed() || code == '\0') return {};
    const std::string_view text = fields.string();
    if (code == field) return text;
  }
}

}  // namespace isoscope::record
