#pragma once
// Exact decimal numbers, as PostgreSQL's numeric computes and prints them.
//
// A value is digits / 10^scale. The scale is how many digits are shown behind the point: 1.5 and
// 1.50 are equal, but print differently and divide with a different precision. Sums have the larger
// scale of their operands, products the sum of both, quotients that of select_div_scale() in the
// server's numeric.c.
//
// PostgreSQL has up to 131072 digits; here are 38 (what fits into 128 bits). Whatever needs more is
// no Decimal: the functions return nothing, and who calls them says that a limit was met.
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isoscope::sql {

__extension__ using Int128 = __int128;

// What the interpreter says where it has no Decimal.
inline constexpr std::string_view kTooManyDigits =
    "a numeric needs more than 38 digits, which is a limit here";

struct Decimal {
  static constexpr int kMaxDigits = 38;  // of `digits`, and of the scale

  Int128 digits = 0;
  std::uint8_t scale = 0;

  // By value: 1.5 and 1.50 are equal.
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }
};

std::optional<Decimal> operator+(const Decimal& a, const Decimal& b);
std::optional<Decimal> operator-(const Decimal& a, const Decimal& b);
std::optional<Decimal> operator*(const Decimal& a, const Decimal& b);
Decimal operator-(const Decimal& a);
// Require: b is not 0. The remainder has the sign of a.
std::optional<Decimal> operator/(const Decimal& a, const Decimal& b);
std::optional<Decimal> operator%(const Decimal& a, const Decimal& b);

enum class Rounding : std::uint8_t { HalfAway, Down, Floor, Ceiling };  // Down: towards zero
// With `scale` digits behind the point; with fewer than none, tens or hundreds, and none are shown.
std::optional<Decimal> rounded(const Decimal& value, int scale,
                               Rounding rounding = Rounding::HalfAway);
// The same number without zeros at its end.
Decimal shortest(const Decimal& value);
// As a whole number, halves away from zero; nothing if it needs more than 64 bits.
std::optional<std::int64_t> to_integer(const Decimal& value);

// Digits before the point, as numeric(p, s) counts them: 0 for 0.5.
int digits_before_point(const Decimal& value);

// 1.50, .5, -2e3, 1.5e-3; nothing for other texts, NaN and the infinities among them.
std::optional<Decimal> parse_decimal(std::string_view text);
std::string print(const Decimal& value);

}  // namespace isoscope::sql
