#pragma once
// Reads numbers off a binary text, never beyond its end.
#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "support/result.h"

namespace isoscope {

class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  bool at_end() const { return remaining() == 0; }

  bool take_byte(std::uint8_t& byte) {
    if (remaining() < 1) return false;
    byte = static_cast<std::uint8_t>(bytes_[at_++]);
    return true;
  }
  bool take_little_endian(std::uint64_t& number) {
    if (remaining() < 8) return false;
    number = 0;
    for (std::size_t i = 8; i-- > 0;) number = number << 8U | byte(at_ + i);
    at_ += 8;
    return true;
  }
  bool take_big_endian(std::uint64_t& number) {
    if (remaining() < 8) return false;
    number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = number << 8U | byte(at_ + i);
    at_ += 8;
    return true;
  }
  bool skip(std::uint64_t count) {
    if (remaining() < count) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }

  Error error(std::string_view what) const {
    return Error{.what = fmt::format("{} (at byte {} of {})", what, at_, bytes_.size())};
  }

 private:
  std::uint8_t byte(std::size_t i) const { return static_cast<std::uint8_t>(bytes_[i]); }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace isoscope
