#pragma once
// Reads numbers and signs off one line, as fast as the line formats need it.
//
// A failed step leaves the scanner where the trouble is, so that the error's column is right.
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "formats/scan.h"
#include "history/builder.h"
#include "support/input.h"
#include "support/result.h"

namespace isoscope {

class LineScanner {
 public:
  LineScanner(std::string_view line, std::uint32_t number)
      : begin_(line.data()), at_(begin_), end_(begin_ + line.size()), number_(number) {}

  bool at_end() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  Place place() const { return {number_, static_cast<std::uint32_t>(at_ - begin_ + 1)}; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  bool take(char sign) {
    if (at_ == end_ || *at_ != sign) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }

  // A number without a sign; false if there is none or it exceeds 64 bits.
  bool take_unsigned(std::uint64_t& number) {
    const char* start = at_;
    std::uint64_t n = 0;
    for (; at_ != end_; ++at_) {
      const auto digit = static_cast<unsigned char>(*at_ - '0');
      if (digit > 9) break;
      n = n * 10 + digit;
    }
    number = n;
    if (at_ - start <= 19) return at_ != start;  // 19 nines fit
    const auto parsed = std::from_chars(start, at_, number);
    if (parsed.ec == std::errc{}) return true;
    at_ = start;
    return false;
  }
  // The same, up to the largest signed number.
  bool take_index(std::int64_t& number) {
    const char* start = at_;
    std::uint64_t n = 0;
    if (!take_unsigned(n)) return false;
    number = static_cast<std::int64_t>(n);
    if (number >= 0) return true;
    at_ = start;
    return false;
  }

  // What stands here is not what it should be.
  Error expected(std::string_view what, std::string_view hint) const;

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  std::uint32_t number_;
};

// Numbers up to 2^63 - 1 are integers; larger ones are kept as texts, digit by digit.
inline KeyId unsigned_key(HistoryBuilder& b, std::uint64_t number) {
  const auto small = static_cast<std::int64_t>(number);
  return small >= 0 ? b.key(small) : b.key(std::to_string(number));
}
inline Value unsigned_value(HistoryBuilder& b, std::uint64_t number) {
  const auto small = static_cast<std::int64_t>(number);
  return small >= 0 ? Value::of(small) : b.text(std::to_string(number));
}

// What ended the reading half way, if something did.
inline Result<void> check_input(const LineReader& in) {
  if (in.failure()) return *in.failure();
  return {};
}

}  // namespace isoscope
