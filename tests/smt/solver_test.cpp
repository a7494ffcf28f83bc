#include "smt/solver.h"

#include <gtest/gtest.h>

namespace isoscope {
namespace {

class Smt : public testing::Test {
 protected:
  SmtSolver smt;
  Budget budget;
  const SmtSort txn = smt.new_sort("Txn");
  const SmtFunction r = smt.new_predicate("r", {txn, txn});

  SmtTerm transitive() {
    return smt.forall({txn, txn, txn}, [&](auto t) {
      return implies(r(t[0], t[1]) && r(t[1], t[2]), r(t[0], t[2]));
    });
  }
  SmtTerm irreflexive() {
    return smt.forall({txn}, [&](auto t) { return !r(t[0], t[0]); });
  }
};

TEST_F(Smt, RefutesACycleInAnOrder) {
  const SmtTerm a = smt.new_constant("a", txn);
  const SmtTerm b = smt.new_constant("b", txn);
  EXPECT_EQ(smt.check({transitive(), irreflexive(), r(a, b), r(b, a)}, {}, budget),
            SmtResult::Unsat);
  EXPECT_EQ(smt.check({transitive(), r(a, b), r(b, a)}, {}, budget), SmtResult::Sat);
}

// Z3 would print them as `and` and `or` without operands, which no other solver reads.
TEST_F(Smt, KnowsTheJunctionsOfNothing) {
  EXPECT_EQ(smt.known_truth(all_of(smt, {})), true);
  EXPECT_EQ(smt.known_truth(any_of(smt, {})), false);
}

TEST_F(Smt, LeavesWhoeverBuildsFormulasWhenTheBudgetIsOver) {
  const SmtTerm a = smt.new_constant("a", txn);
  const SmtTerm contradiction = r(a, a) && !r(a, a);
  EXPECT_EQ(smt.check({contradiction}, {}, budget), SmtResult::Unsat);
  Budget over = Budget::seconds(0);
  smt.stop_with(over);
  EXPECT_THROW(for (int i = 0; i < 100'000; ++i) smt.number(i), SmtStopped);
  // Whatever was being built may be half of itself: nothing is concluded from it.
  EXPECT_EQ(smt.check({contradiction}, {}, budget), SmtResult::Unknown);
  SmtLayers layers(smt);
  layers.add(contradiction);
  EXPECT_EQ(layers.check({}, budget), SmtResult::Unknown);
}

TEST_F(Smt, LooksAtTheBudgetByTheSizeOfWhatIsBuilt) {
  Budget over = Budget::seconds(0);
  smt.stop_with(over);
  const std::vector<SmtTerm> many(5'000, smt.new_constant("a", SmtSolver::kBool));
  EXPECT_THROW(all_of(smt, many), SmtStopped);
}

TEST_F(Smt, KeepsThingsOfTheSameNameApart) {
  const SmtTerm a = smt.new_constant("a", txn);
  const SmtTerm other = smt.new_constant("a", txn);
  EXPECT_EQ(smt.check({!equals(a, other)}, {}, budget), SmtResult::Sat);
  const SmtFunction again = smt.new_predicate("r", {txn, txn});
  EXPECT_EQ(smt.check({r(a, a), !again(a, a)}, {}, budget), SmtResult::Sat);
}

TEST_F(Smt, HasRealNumbersWhereTheyAreAskedFor) {
  for (const SmtNumbers numbers : {SmtNumbers::Whole, SmtNumbers::Real}) {
    SmtSolver one(numbers);
    const SmtTerm x = one.new_constant("x", SmtSolver::kInt);
    const SmtTerm between = one.number(0) < x && x < one.number(1);
    const bool is_real = numbers == SmtNumbers::Real;
    EXPECT_EQ(one.check({between}, {}, budget), is_real ? SmtResult::Sat : SmtResult::Unsat);
    EXPECT_EQ(one.check({between, one.is_whole(x)}, {}, budget), SmtResult::Unsat);
    EXPECT_EQ(one.check({between, one.is_whole(10 * x)}, {}, budget),
              is_real ? SmtResult::Sat : SmtResult::Unsat);
    EXPECT_FALSE(one.product(x, x));
    // A fraction among whole numbers makes no sense.
    const SmtTerm half = one.decimal("0.5");
    const std::optional<SmtTerm> twice = one.product(one.number(2), is_real ? half : x);
    ASSERT_TRUE(twice);
    EXPECT_EQ(one.check({equals(*twice, one.number(1))}, {}, budget),
              is_real ? SmtResult::Sat : SmtResult::Unknown);
  }
}

TEST_F(Smt, ModelsOfRealNumbersAreCutOff) {
  SmtSolver real(SmtNumbers::Real);
  const SmtTerm x = real.new_constant("x", SmtSolver::kInt);
  SmtLayers layers(real);
  layers.add(equals(4 * x, real.number(-7)));
  ASSERT_EQ(layers.check({}, budget), SmtResult::Sat);
  EXPECT_EQ(layers.number(x), -1);
  EXPECT_EQ(layers.number(100 * x), -175);
}

TEST_F(Smt, AssumesSortsToHaveAnElement) {
  EXPECT_EQ(smt.check({smt.forall({txn}, [&](auto) { return smt.truth(false); })}, {}, budget),
            SmtResult::Unsat);
}

TEST_F(Smt, KnowsTheConnectives) {
  const SmtTerm a = smt.new_constant("a", SmtSolver::kBool);
  const SmtTerm b = smt.new_constant("b", SmtSolver::kBool);
  EXPECT_EQ(smt.check({implies(a, b), a, !b}, {}, budget), SmtResult::Unsat);
  EXPECT_EQ(smt.check({iff(a, b), a || b, !(a && b)}, {}, budget), SmtResult::Unsat);
  EXPECT_EQ(smt.check({a || b, !a}, {}, budget), SmtResult::Sat);
  EXPECT_EQ(smt.check({smt.truth(true) && a, smt.truth(false) || !b}, {}, budget), SmtResult::Sat);
}

TEST_F(Smt, BindsVariablesOfNestedQuantifiers) {
  const SmtTerm serial = smt.forall(
      {txn}, [&](auto t) { return smt.exists({txn}, [&](auto u) { return r(t[0], u[0]); }); });
  const SmtTerm no_edge = smt.forall({txn, txn}, [&](auto t) { return !r(t[0], t[1]); });
  EXPECT_EQ(smt.check({serial, no_edge}, {}, budget), SmtResult::Unsat);
}

// Without a limit this would be a search for an infinite model.
TEST_F(Smt, GivesUpAfterTheStepsItIsAllowed) {
  const SmtTerm serial = smt.forall(
      {txn}, [&](auto t) { return smt.exists({txn}, [&](auto u) { return r(t[0], u[0]); }); });
  EXPECT_EQ(smt.check({serial, transitive(), irreflexive()}, {.steps = 100'000}, budget),
            SmtResult::Unknown);
}

TEST_F(Smt, AnswersUnknownWhenTheBudgetIsSpent) {
  Budget spent = Budget::seconds(0);
  EXPECT_EQ(smt.check({smt.truth(true)}, {}, spent), SmtResult::Unknown);
}

// An ill-sorted term is refused by the backend; no exception and no answer come out of it.
TEST_F(Smt, AnswersUnknownAboutTermsThatMakeNoSense) {
  const SmtSort key = smt.new_sort("Key");
  const SmtTerm x = smt.new_constant("x", key);
  EXPECT_EQ(smt.check({r(x, x), !r(x, x)}, {}, budget), SmtResult::Unknown);
}

TEST_F(Smt, PrintsFormulasForOtherSolvers) {
  const SmtTerm list[] = {irreflexive()};
  EXPECT_NE(smt.text(list).find("(assert"), std::string::npos);
}

}  // namespace
}  // namespace isoscope
