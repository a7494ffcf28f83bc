// Decimal numbers: values of PostgreSQL's documentation and of its own regression tests, limits.
#include "sql/decimal.h"

#include <gtest/gtest.h>

namespace isoscope::sql {
namespace {

Decimal of(std::string_view text) { return parse_decimal(text).value(); }
std::string shown(const std::optional<Decimal>& value) { return value ? print(*value) : "limit"; }

TEST(Decimal, ReadsAndPrintsAsTheServer) {
  for (const std::string_view same :
       {"0", "1", "-1", "1.50", "0.05", "-0.001", "12345678901234567890.123456789"})
    EXPECT_EQ(print(of(same)), same);
  EXPECT_EQ(print(of(".5")), "0.5");
  EXPECT_EQ(print(of("2.")), "2");
  EXPECT_EQ(print(of("+1e3")), "1000");
  EXPECT_EQ(print(of("1.5e-3")), "0.0015");
  EXPECT_EQ(print(of("1.500e1")), "15.00");
}

TEST(Decimal, RefusesOtherTexts) {
  for (const std::string_view text : {"", ".", "-", "1x", "NaN", "Infinity", "1e", "1.2.3", "e5",
                                      "1e40", "1e-40", "123456789012345678901234567890123456789"})
    EXPECT_FALSE(parse_decimal(text)) << text;
}

TEST(Decimal, ComparesByValue) {
  EXPECT_EQ(of("1.5"), of("1.50"));
  EXPECT_EQ(of("0"), of("0.000"));
  EXPECT_LT(of("-1.51"), of("-1.5"));
  EXPECT_LT(of("0.1"), of("0.11"));
  EXPECT_LT(of("-1"), of("0.01"));
  // One of them has no 128 bits with the scale of the other.
  EXPECT_LT(of("0.00000000000000000000000000000000000001"), of("99999999999999999999"));
  EXPECT_LT(of("-99999999999999999999"), of("-0.00000000000000000000000000000000000001"));
}

TEST(Decimal, KeepsTheScaleOfTheServer) {
  EXPECT_EQ(shown(of("1.50") + of("2")), "3.50");
  EXPECT_EQ(shown(of("1.50") - of("2.500")), "-1.000");
  EXPECT_EQ(shown(of("1.50") * of("2")), "3.00");
  EXPECT_EQ(shown(of("0.10") * of("-0.5")), "-0.050");
  EXPECT_EQ(shown(of("7.5") % of("-2")), "1.5");
  EXPECT_EQ(shown(of("-7.5") % of("2.00")), "-1.50");
}

// select 1::numeric / 3, 10.0 / 3, 100000 / 3.0, 0.0001 / 3, 1 / 10000.0, 2 / 3.0, 0 / 5.0
TEST(Decimal, DividesWithTheDigitsOfTheServer) {
  EXPECT_EQ(shown(of("1") / of("3")), "0.33333333333333333333");
  EXPECT_EQ(shown(of("10.0") / of("3")), "3.3333333333333333");
  EXPECT_EQ(shown(of("100000") / of("3.0")), "33333.333333333333");
  EXPECT_EQ(shown(of("2") / of("3.0")), "0.66666666666666666667");
  EXPECT_EQ(shown(of("-2") / of("3.0")), "-0.66666666666666666667");
  EXPECT_EQ(shown(of("0") / of("5.0")), "0.00000000000000000000");
  EXPECT_EQ(shown(of("6.00") / of("2")), "3.0000000000000000");
}

TEST(Decimal, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(shown(rounded(of("2.345"), 2)), "2.35");
  EXPECT_EQ(shown(rounded(of("-2.345"), 2)), "-2.35");
  EXPECT_EQ(shown(rounded(of("2.344"), 2)), "2.34");
  EXPECT_EQ(shown(rounded(of("2.5"), 3)), "2.500");
  EXPECT_EQ(shown(rounded(of("155.5"), -1)), "160");
  EXPECT_EQ(shown(rounded(of("-2.345"), 2, Rounding::Down)), "-2.34");
  EXPECT_EQ(shown(rounded(of("-2.5"), 0, Rounding::Floor)), "-3");
  EXPECT_EQ(shown(rounded(of("-2.5"), 0, Rounding::Ceiling)), "-2");
  EXPECT_EQ(shown(rounded(of("2.1"), 0, Rounding::Ceiling)), "3");
  EXPECT_EQ(to_integer(of("-0.5")), -1);
  EXPECT_EQ(to_integer(of("0.49")), 0);
  EXPECT_EQ(to_integer(of("9223372036854775807.4")), INT64_MAX);
  EXPECT_EQ(to_integer(of("9223372036854775807.5")), std::nullopt);
}

TEST(Decimal, SaysWhereOurDigitsEnd) {
  const Decimal large = of("99999999999999999999999999999999999999");
  EXPECT_EQ(shown(large + of("1")), "limit");
  EXPECT_EQ(shown(large - of("1")), "99999999999999999999999999999999999998");
  EXPECT_EQ(shown(large * of("2")), "limit");
  EXPECT_EQ(shown(large * of("0.1")), "9999999999999999999999999999999999999.9");
  EXPECT_EQ(shown(large + of("0.1")), "limit");
  EXPECT_EQ(shown(of("0.33333333333333333333") * of("0.33333333333333333333")), "limit");
  EXPECT_EQ(shown(of("1") / large), "limit");
}

TEST(Decimal, CountsDigitsBeforeThePoint) {
  EXPECT_EQ(digits_before_point(of("0.5")), 0);
  EXPECT_EQ(digits_before_point(of("0.00")), 0);
  EXPECT_EQ(digits_before_point(of("9.99")), 1);
  EXPECT_EQ(digits_before_point(of("-100")), 3);
}

}  // namespace
}  // namespace isoscope::sql
