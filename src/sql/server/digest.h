#pragma once
// 128 bits that distinguish states and histories.
//
// Two that differ have the same digest with a probability of about 2^-128: an exploration that
// remembers digests alone would have to see 2^60 states before that is a matter of concern.
#include <cstdint>
#include <string_view>
#include <utility>

#include "sql/value.h"

namespace isoscope::sql::server {

class Digest {
 public:
  void add(std::uint64_t word) {
    low_ = mix(low_ ^ word, 0x9e3779b97f4a7c15);
    high_ = mix(high_ + word, 0xc2b2ae3d27d4eb4f);
  }
  void add(const Digest& other) {
    add(other.low_);
    add(other.high_);
  }
  void add_text(std::string_view text) {
    add(text.size());
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      word = (word << 8) | static_cast<unsigned char>(text[i]);
      if (i % 8 == 7) add(word);
    }
    add(word);
  }
  void add_value(const Value& value) {
    add(value.data.index());
    if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
      add(static_cast<std::uint64_t>(*number));
    } else if (const auto* decimal = std::get_if<Decimal>(&value.data)) {
      add_text(print(*decimal));  // 1.5 and 1.50 print differently
    } else if (const auto* text = std::get_if<std::string>(&value.data)) {
      add_text(*text);
    } else if (const auto* truth = std::get_if<bool>(&value.data)) {
      add(*truth ? 1 : 0);
    } else if (const auto* list = std::get_if<std::vector<Value>>(&value.data)) {
      add_values(*list);
    }
  }
  void add_values(const std::vector<Value>& values) {
    add(values.size());
    for (const Value& value : values) add_value(value);
  }
  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;

  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.low_; }
  };

 private:
  static std::uint64_t mix(std::uint64_t word, std::uint64_t factor) {
    word *= factor;
    word ^= word >> 32;
    word *= 0xd6e8feb86659fd93;
    return word ^ (word >> 29);
  }

  std::uint64_t low_ = 0x243f6a8885a308d3;
  std::uint64_t high_ = 0x13198a2e03707344;
};

}  // namespace isoscope::sql::server
