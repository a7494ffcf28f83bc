#pragma once
// Numbers and texts as a row of bytes, for messages between processes and for files.
//
// A number takes a byte for each seven bits. Whoever reads finds out at the end whether there was
// enough: what is missing reads as nothing.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::explore {

class Packer {
 public:
  Packer& number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  // Small ones of either sign are short.
  Packer& integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  Packer& text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
    return *this;
  }
  template <class Numbers>
  Packer& numbers(const Numbers& all) {
    number(all.size());
    for (const auto value : all) number(value);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    is_good_ = false;
    return 0;
  }
  std::int64_t integer() {
    const std::uint64_t bits = number();
    return static_cast<std::int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
  // How many follow, each of at least one byte.
  std::size_t count() {
    const std::uint64_t value = number();
    if (value <= rest_.size()) return static_cast<std::size_t>(value);
    is_good_ = false;
    return 0;
  }
  std::string text() {
    const std::size_t size = count();
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> all(count());
    for (std::uint32_t& value : all) value = small();
    return all;
  }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace isoscope::explore
