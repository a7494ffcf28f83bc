#include "sql/decimal.h"

#include <algorithm>
#include <cctype>

namespace isoscope::sql {
namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr UInt128 power_of_ten(int exponent) {
  UInt128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}
constexpr UInt128 kLargest = power_of_ten(Decimal::kMaxDigits) - 1;

UInt128 magnitude(Int128 digits) {
  return digits < 0 ? -static_cast<UInt128>(digits) : static_cast<UInt128>(digits);
}

Int128 with_sign(UInt128 digits, bool is_negative) {
  return is_negative ? -static_cast<Int128>(digits) : static_cast<Int128>(digits);
}

std::optional<UInt128> product(UInt128 a, UInt128 b) {
  if (a != 0 && b > kLargest / a) return std::nullopt;
  return a * b;
}

std::optional<Decimal> decimal(UInt128 digits, bool is_negative, int scale) {
  if (digits > kLargest || scale > Decimal::kMaxDigits) return std::nullopt;
  return Decimal{with_sign(digits, is_negative), static_cast<std::uint8_t>(scale)};
}

// The same value with a larger scale.
std::optional<Decimal> with_scale(const Decimal& value, int scale) {
  if (value.digits == 0) return decimal(0, false, scale);
  if (scale - value.scale > Decimal::kMaxDigits) return std::nullopt;
  const auto digits = product(magnitude(value.digits), power_of_ten(scale - value.scale));
  if (!digits) return std::nullopt;
  return decimal(*digits, value.digits < 0, scale);
}

std::string text_of(UInt128 digits) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(digits % 10)));
    digits /= 10;
  } while (digits != 0);
  return text;
}

// The first digit that is not 0, to the base of 10000 that numeric.c computes with, and its weight.
struct FirstDigit {
  int digit = 0;
  int weight = 0;
};
FirstDigit first_digit(const Decimal& value) {
  if (value.digits == 0) return {};
  std::string text = text_of(magnitude(value.digits));
  const int exponent = static_cast<int>(text.size()) - 1 - value.scale;  // of the first one to 10
  const int weight = exponent >= 0 ? exponent / 4 : -((3 - exponent) / 4);
  const auto count = static_cast<std::size_t>(exponent - 4 * weight + 1);
  text.resize(std::max(text.size(), count), '0');
  return {std::stoi(text.substr(0, count)), weight};
}

// select_div_scale() of numeric.c: at least 16 significant digits, and no fewer than are given.
int scale_of_quotient(const Decimal& a, const Decimal& b) {
  const FirstDigit of_a = first_digit(a);
  const FirstDigit of_b = first_digit(b);
  const int weight = of_a.weight - of_b.weight - (of_a.digit <= of_b.digit ? 1 : 0);
  return std::max({16 - weight * 4, static_cast<int>(a.scale), static_cast<int>(b.scale), 0});
}

}  // namespace

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if ((a.digits < 0) != (b.digits < 0)) return a.digits <=> b.digits;
  const auto left = a.scale < b.scale ? with_scale(a, b.scale) : a;
  const auto right = b.scale < a.scale ? with_scale(b, a.scale) : b;
  // One that does not fit with the scale of the other is further away from zero.
  if (!left) return a.digits < 0 ? std::strong_ordering::less : std::strong_ordering::greater;
  if (!right) return a.digits < 0 ? std::strong_ordering::greater : std::strong_ordering::less;
  return left->digits <=> right->digits;
}

std::optional<Decimal> operator+(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale, b.scale);
  const auto left = with_scale(a, scale);
  const auto right = with_scale(b, scale);
  if (!left || !right) return std::nullopt;
  const UInt128 l = magnitude(left->digits);
  const UInt128 r = magnitude(right->digits);
  const bool is_negative = left->digits < 0;
  if (is_negative == (right->digits < 0)) return decimal(l + r, is_negative, scale);
  return l >= r ? decimal(l - r, is_negative, scale) : decimal(r - l, !is_negative, scale);
}

Decimal operator-(const Decimal& a) { return {-a.digits, a.scale}; }
std::optional<Decimal> operator-(const Decimal& a, const Decimal& b) { return a + -b; }

std::optional<Decimal> operator*(const Decimal& a, const Decimal& b) {
  const auto digits = product(magnitude(a.digits), magnitude(b.digits));
  if (!digits) return std::nullopt;
  return decimal(*digits, (a.digits < 0) != (b.digits < 0), a.scale + b.scale);
}

std::optional<Decimal> operator/(const Decimal& a, const Decimal& b) {
  const int scale = scale_of_quotient(a, b);
  const UInt128 divisor = magnitude(b.digits);
  if (divisor > kLargest / 10 || scale > Decimal::kMaxDigits) return std::nullopt;
  // Long division: the quotient has as many further digits as its scale asks for.
  UInt128 quotient = magnitude(a.digits) / divisor;
  UInt128 rest = magnitude(a.digits) % divisor;
  for (int i = a.scale - b.scale; i < scale; ++i) {
    if (quotient > kLargest / 10) return std::nullopt;
    quotient = quotient * 10 + rest * 10 / divisor;
    rest = rest * 10 % divisor;
  }
  if (rest >= divisor - rest) ++quotient;
  return decimal(quotient, (a.digits < 0) != (b.digits < 0), scale);
}

std::optional<Decimal> operator%(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale, b.scale);
  const auto left = with_scale(a, scale);
  const auto right = with_scale(b, scale);
  if (!left || !right) return std::nullopt;
  return Decimal{left->digits % right->digits, static_cast<std::uint8_t>(scale)};
}

std::optional<Decimal> rounded(const Decimal& value, int scale, Rounding rounding) {
  if (scale >= value.scale) return with_scale(value, scale);
  const int shown = std::max(scale, 0);
  const int cut = value.scale - scale;
  if (cut > Decimal::kMaxDigits) return decimal(0, false, shown);
  const UInt128 unit = power_of_ten(cut);
  const UInt128 rest = magnitude(value.digits) % unit;
  UInt128 kept = magnitude(value.digits) / unit;
  const bool is_negative = value.digits < 0;
  const bool goes_away = rounding == Rounding::HalfAway  ? rest >= unit - rest
                         : rounding == Rounding::Floor   ? is_negative && rest > 0
                         : rounding == Rounding::Ceiling ? !is_negative && rest > 0
                                                         : false;
  if (goes_away) ++kept;
  const auto digits = product(kept, power_of_ten(shown - scale));
  if (!digits) return std::nullopt;
  return decimal(*digits, is_negative, shown);
}

Decimal shortest(const Decimal& value) {
  Decimal shorter = value;
  for (; shorter.scale > 0 && shorter.digits % 10 == 0; --shorter.scale) shorter.digits /= 10;
  return shorter;
}

std::optional<std::int64_t> to_integer(const Decimal& value) {
  const auto whole = rounded(value, 0);
  if (!whole || whole->digits < INT64_MIN || whole->digits > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(whole->digits);
}

int digits_before_point(const Decimal& value) {
  if (value.digits == 0) return 0;
  return std::max(static_cast<int>(text_of(magnitude(value.digits)).size()) - value.scale, 0);
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  UInt128 digits = 0;
  int scale = 0;
  bool has_point = false;
  bool has_digit = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) return std::nullopt;
    has_digit = true;
    if (digits > kLargest / 10 || scale >= Decimal::kMaxDigits) return std::nullopt;
    digits = digits * 10 + static_cast<unsigned>(text[i] - '0');
    if (has_point) ++scale;
  }
  if (!has_digit) return std::nullopt;
  if (i < text.size()) {
    std::string_view exponent = text.substr(i + 1);
    const bool is_small = exponent.starts_with('-');
    if (is_small || exponent.starts_with('+')) exponent.remove_prefix(1);
    if (exponent.empty() || exponent.size() > 3) return std::nullopt;
    int size = 0;
    for (const char c : exponent) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
      size = size * 10 + (c - '0');
    }
    scale -= is_small ? -size : size;
  }
  if (scale >= 0) return decimal(digits, is_negative, scale);
  if (scale < -Decimal::kMaxDigits) return std::nullopt;
  const auto larger = product(digits, power_of_ten(-scale));
  if (!larger) return std::nullopt;
  return decimal(*larger, is_negative, 0);
}

std::string print(const Decimal& value) {
  std::string text = text_of(magnitude(value.digits));
  const std::size_t scale = value.scale;
  if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
  if (scale > 0) text.insert(text.size() - scale, 1, '.');
  return value.digits < 0 ? "-" + text : text;
}

}  // namespace isoscope::sql
