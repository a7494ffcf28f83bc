#include "sql/evaluate.h"

#include <gmock/gmock.h>

#include <limits>

#include "sql/app_of.h"

namespace isoscope::sql {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The value as SQL prints it, or why there is none.
std::string value_of(const Expr& expr, const std::vector<Value>& variables = {}) {
  auto value = evaluate(expr, variables);
  return value ? print(*value) : value.error().what;
}

std::string value_of(ExprOp op, const Expr& a, const Expr& b) { return value_of(make(op, {a, b})); }

TEST(Evaluate, KnowsThreeTruthValues) {
  const std::vector<Expr> values = {truth(false), null(), truth(true)};
  const std::vector<std::string> names = {"false", "NULL", "true"};
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_EQ(value_of(make(ExprOp::Not, {values[a]})), names[2 - a]);
    for (std::size_t b = 0; b < 3; ++b) {
      EXPECT_EQ(value_of(ExprOp::And, values[a], values[b]), names[std::min(a, b)]);
      EXPECT_EQ(value_of(ExprOp::Or, values[a], values[b]), names[std::max(a, b)]);
    }
  }
}

TEST(Evaluate, ComparesNullWithNothing) {
  for (const ExprOp op : {ExprOp::Equal, ExprOp::NotEqual, ExprOp::Less, ExprOp::GreaterEqual}) {
    EXPECT_EQ(value_of(op, null(), num(1)), "NULL");
    EXPECT_EQ(value_of(op, null(), null()), "NULL");
  }
  EXPECT_EQ(value_of(make(ExprOp::IsNull, {null()})), "true");
}

TEST(Evaluate, ComparesNumbersAndTexts) {
  EXPECT_EQ(value_of(ExprOp::Less, num(-1), num(1)), "true");
  EXPECT_EQ(value_of(ExprOp::LessEqual, num(1), num(1)), "true");
  EXPECT_EQ(value_of(ExprOp::Greater, num(1), num(1)), "false");
  EXPECT_EQ(value_of(ExprOp::Less, text("a"), text("b")), "true");
  EXPECT_EQ(value_of(ExprOp::NotEqual, text("a"), text("b")), "true");
}

TEST(Evaluate, RoundsQuotientsTowardsZero) {
  EXPECT_EQ(value_of(ExprOp::Divide, num(-7), num(2)), "-3");
  EXPECT_EQ(value_of(ExprOp::Modulo, num(-7), num(2)), "-1");
  EXPECT_EQ(value_of(ExprOp::Modulo, num(kMin), num(-1)), "0");
}

TEST(Evaluate, RefusesNumbersOutOfRange) {
  for (const Expr& e :
       {make(ExprOp::Add, {num(kMax), num(1)}), make(ExprOp::Subtract, {num(kMin), num(1)}),
        make(ExprOp::Multiply, {num(kMax), num(2)}), make(ExprOp::Divide, {num(kMin), num(-1)}),
        make(ExprOp::Negate, {num(kMin)}), make(ExprOp::Abs, {num(kMin)})}) {
    EXPECT_EQ(value_of(e), "bigint out of range");
  }
  Expr sum = make(ExprOp::Add, {num(2147483647), num(1)});
  EXPECT_EQ(value_of(sum), "2147483648");
  sum.bits = 32;
  EXPECT_EQ(value_of(sum), "integer out of range");
  sum.args[0].number = 32767;
  EXPECT_EQ(value_of(sum), "32768");
  sum.bits = 16;
  EXPECT_EQ(value_of(sum), "smallint out of range");
  EXPECT_EQ(value_of(ExprOp::Divide, num(1), num(0)), "division by zero");
  EXPECT_EQ(value_of(ExprOp::Modulo, num(1), num(0)), "division by zero");
}

TEST(Evaluate, LooksNoFurtherThanItMust) {
  const Expr bad = make(ExprOp::Equal, {make(ExprOp::Divide, {num(1), num(0)}), num(1)});
  EXPECT_EQ(value_of(ExprOp::And, truth(false), bad), "false");
  EXPECT_EQ(value_of(ExprOp::Or, truth(true), bad), "true");
  EXPECT_EQ(value_of(make(ExprOp::If, {null(), bad, num(2)})), "2");
  EXPECT_EQ(value_of(make(ExprOp::Coalesce, {null(), num(3), bad})), "3");
}

TEST(Evaluate, IgnoresNullsInLeastAndGreatest) {
  EXPECT_EQ(value_of(make(ExprOp::Least, {num(3), null(), num(2)})), "2");
  EXPECT_EQ(value_of(make(ExprOp::Greatest, {null(), num(2), num(3)})), "3");
  EXPECT_EQ(value_of(make(ExprOp::Greatest, {null(), null()})), "NULL");
}

TEST(Evaluate, KnowsArrays) {
  const Expr array = make(ExprOp::ArrayOf, {num(5), null(), num(7)});
  EXPECT_EQ(value_of(ExprOp::Element, array, num(3)), "7");
  EXPECT_EQ(value_of(ExprOp::Element, array, num(0)), "NULL");
  EXPECT_EQ(value_of(ExprOp::Element, array, num(4)), "NULL");
  EXPECT_EQ(value_of(make(ExprOp::Cardinality, {array})), "3");
  EXPECT_EQ(value_of(ExprOp::InArray, num(7), array), "true");
  EXPECT_EQ(value_of(ExprOp::InArray, num(8), array), "NULL");
  EXPECT_EQ(value_of(ExprOp::InArray, num(8), make(ExprOp::ArrayOf, {num(7)})), "false");
  EXPECT_EQ(value_of(ExprOp::Concat, array, num(1)), "ARRAY[5, NULL, 7, 1]");
}

TEST(Evaluate, KnowsTexts) {
  EXPECT_EQ(value_of(ExprOp::Concat, text("a"), num(1)), "'a1'");
  EXPECT_EQ(value_of(ExprOp::Concat, text("a"), null()), "NULL");
  const auto call = [](std::string name, Type type, std::vector<Expr> args) {
    Expr e = make(ExprOp::Opaque, std::move(args));
    e.text = std::move(name);
    e.type = type;
    return value_of(e);
  };
  EXPECT_EQ(call("left", Type::Text, {text("abc"), num(2)}), "'ab'");
  EXPECT_EQ(call("left", Type::Text, {text("abc"), num(-1)}), "'ab'");
  EXPECT_EQ(call("left", Type::Text, {text("abc"), num(kMin)}), "''");
  EXPECT_EQ(call("upper", Type::Text, {text("aBc")}), "'ABC'");
  EXPECT_EQ(call("length", Type::Integer, {text("abc")}), "3");
  EXPECT_EQ(call("length", Type::Integer, {null()}), "NULL");
  EXPECT_EQ(call("md5", Type::Text, {num(1), text("x")}), "'md5(1, ''x'')'");
  EXPECT_EQ(call("f", Type::Integer, {num(1)}), call("f", Type::Integer, {num(1)}));
  EXPECT_NE(call("f", Type::Integer, {num(1)}), call("f", Type::Integer, {num(2)}));
}

TEST(Evaluate, SeesVariables) {
  EXPECT_EQ(value_of(make(ExprOp::Add, {var(0), var(1)}), {Value(std::int64_t{2}), Value()}),
            "NULL");
  EXPECT_EQ(value_of(var(0), {Value(std::int64_t{2})}), "2");
}

}  // namespace
}  // namespace isoscope::sql
