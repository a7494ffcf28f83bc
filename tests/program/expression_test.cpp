// Every operator, how tightly it binds, what it gives; overflows.
#include <gmock/gmock.h>

#include "program/run_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The value of an expression over a = 7, b = -3, t = 1 and f = 0, as constants and as locals that
// no compiler knows.
void expect_value(const std::string& expression, std::int64_t expected) {
  SCOPED_TRACE(expression);
  const SerialRun constant = run_serially(program_of("txn v(a, b, t, f) { write(r, " + expression +
                                                     ") }\nsession s { v(7, -3, 1, 0) }"));
  ASSERT_FALSE(constant.fault);
  EXPECT_EQ(constant.store.at("r"), expected);
  const SerialRun computed =
      run_serially(program_of("init a = 7\ninit b = -3\ninit t = 1\nsession s { { a := read(a); b "
                              ":= read(b); t := read(t)\n"
                              "f := read(f); v := " +
                              expression + "\n write(r, v) } }"));
  ASSERT_FALSE(computed.fault);
  EXPECT_EQ(computed.store.at("r"), expected);
}

TEST(ProgramExpression, HasEveryOperator) {
  expect_value("-a", -7);
  expect_value("- -a", 7);
  expect_value("!a", 0);
  expect_value("!f", 1);
  expect_value("!!a", 1);
  expect_value("a * b", -21);
  expect_value("a + b", 4);
  expect_value("a - b", 10);
  expect_value("a & 3", 3);
  expect_value("a ^ 2", 5);
  expect_value("a | 8", 15);
  expect_value("a == 7", 1);
  expect_value("a != 7", 0);
  expect_value("a < 7", 0);
  expect_value("a <= 7", 1);
  expect_value("a > 7", 0);
  expect_value("a >= 7", 1);
  expect_value("b < a", 1);
  expect_value("b > a", 0);
  expect_value("a && b", 1);
  expect_value("a && f", 0);
  expect_value("f || b", 1);
  expect_value("f || f", 0);
  expect_value("min(a, b)", -3);
  expect_value("max(a, b)", 7);
  expect_value("min(a)", 7);
  expect_value("max(1, b, a + 1, a, 2)", 8);
  expect_value("min(a, 2, b - 1, b)", -4);
}

TEST(ProgramExpression, RoundsDivisionTowardsMinusInfinity) {
  expect_value("a / 2", 3);
  expect_value("a % 2", 1);
  expect_value("-a / 2", -4);
  expect_value("-a % 2", 1);
  expect_value("a / -2", -4);
  expect_value("a % -2", -1);
  expect_value("-a / -2", 3);
  expect_value("-a % -2", -1);
  expect_value("6 / b", -2);
  expect_value("6 % b", 0);
  expect_value("a / f", 0);
  expect_value("a % f", 0);
  expect_value("(-9223372036854775807 - t) % -t", 0);
  expect_value("(-9223372036854775807 - t) / t", std::numeric_limits<std::int64_t>::min());
}

TEST(ProgramExpression, BindsAsDocumented) {
  expect_value("1 + 2 * a", 15);
  expect_value("(1 + 2) * a", 21);
  expect_value("a - 2 - 1", 4);
  expect_value("a * 2 / 3 % 3", 1);
  expect_value("-a + 1", -6);
  expect_value("!a + 1", 1);
  expect_value("a + 1 & 8", 8);    // (a + 1) & 8
  expect_value("6 & 3 ^ 1", 3);    // (6 & 3) ^ 1
  expect_value("1 | 6 ^ 2", 5);    // 1 | (6 ^ 2)
  expect_value("8 | a == 15", 1);  // (8 | a) == 15
  expect_value("3 > 2 > t", 0);    // (3 > 2) > 1
  expect_value("3 > 2 == t", 1);   // (3 > 2) == 1
  expect_value("t || t && f", 1);  // t || (t && f)
  expect_value("(t || t) && f", 0);
  expect_value("a == 7 && b == -3", 1);
  expect_value("f && f || t", 1);
  expect_value("!(a == 7) || f", 0);
}

TEST(ProgramExpression, ShortCircuits) {
  const std::string overflow = "(9223372036854775807 + t)";
  expect_value("f && " + overflow, 0);
  expect_value("t || " + overflow, 1);
  expect_value("!(f && " + overflow + ") && a == 7", 1);
  expect_value("(f && " + overflow + ") == 0", 1);
  EXPECT_TRUE(run_of("t := 1\nx := t && " + overflow).fault);
  EXPECT_TRUE(run_of("t := 1\nx := " + overflow + " && 0").fault);
}

TEST(ProgramExpression, KeepsALocalUntilItIsReplaced) {
  const SerialRun run = run_of(
      "a := read(x); a := a + 1; a := a * a + a; b := !a; a := a && a < 3; write(x, a)\n"
      "c := 5; c := min(7, c, 9) - c; write(y, c); d := 4; d := d || c; write(z, d)");
  EXPECT_THAT(run.trace, ElementsAre("r(x)=0", "w(x)=1", "w(y)=0", "w(z)=1", "commit"));
}

struct Overflow {
  std::string expression;
  std::uint32_t column;
  std::string what;
};

TEST(ProgramExpression, FaultsWhereItOverflows) {
  const std::vector<Overflow> table = {
      {"m + 1", 8, "overflow: 9223372036854775807 + 1"},
      {"1 + m", 8, "overflow: 1 + 9223372036854775807"},
      {"-m - 2", 9, "overflow: -9223372036854775807 - 2"},
      {"(m * 2) * 0", 9, "overflow: 9223372036854775807 * 2"},
      {"-(-m - 1)", 6, "overflow: -(-9223372036854775808)"},
      {"(-m - 1) / -1", 15, "overflow: -9223372036854775808 / -1"},
      {"max(1, m + 1)", 15, "overflow"},
  };
  for (const Overflow& overflow : table) {
    SCOPED_TRACE(overflow.expression);
    const std::string assignment = "x := " + overflow.expression + " }\n }";
    // Once as a constant, once as something that only the machine knows.
    const std::vector<std::string> texts = {
        "txn f(m) {\n" + assignment.substr(0, assignment.size() - 3) +
            "\nsession s { f(9223372036854775807) }",
        "init m = 9223372036854775807\nsession s { { m := read(m)\n" + assignment};
    std::uint32_t line = 2;
    for (const std::string& text : texts) {
      const SerialRun run = run_serially(program_of(text));
      ASSERT_TRUE(run.fault) << text;
      EXPECT_THAT(run.fault->what, HasSubstr(overflow.what));
      EXPECT_EQ(run.fault->where, (Place{line++, overflow.column})) << run.fault->where.column;
    }
  }
}

TEST(ProgramExpression, DoesNotFaultWhereAnOverflowIsNeverReached) {
  EXPECT_FALSE(run_of("if (0) { x := 9223372036854775807 + 1 }").fault);
  EXPECT_FALSE(run_of("abort\nx := 9223372036854775807 + 1").fault);
}

}  // namespace
}  // namespace isoscope
