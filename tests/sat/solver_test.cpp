#include "sat/solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/rng.h"

namespace isoscope {
namespace {

TEST(Lit, NegatesTwiceToItself) {
  const Lit a = Lit::positive(4);
  EXPECT_EQ(a.variable(), 4);
  EXPECT_EQ((~a).variable(), 4);
  EXPECT_TRUE((~a).is_negative());
  EXPECT_EQ(~~a, a);
  EXPECT_NE(~a, a);
  EXPECT_FALSE(Lit().is_valid());
}

TEST(SatSolver, FindsAModel) {
  Budget budget;
  SatSolver solver;
  const Lit a = solver.new_var();
  const Lit b = solver.new_var();
  solver.add_clause({a, b});
  solver.add_clause({~a});
  ASSERT_EQ(solver.solve(budget), SatResult::Sat);
  EXPECT_FALSE(solver.value(a));
  EXPECT_TRUE(solver.value(~a));
  EXPECT_TRUE(solver.value(b));
  EXPECT_EQ(solver.num_vars(), 2U);
  EXPECT_EQ(solver.num_clauses(), 2U);
}

TEST(SatSolver, RefutesIncrementally) {
  Budget budget;
  SatSolver solver;
  const Lit a = solver.new_var();
  const Lit b = solver.new_var();
  solver.add_clause({a, b});
  solver.add_clause({~a, b});
  EXPECT_EQ(solver.solve(budget), SatResult::Sat);
  const Lit c = solver.new_var();
  solver.add_clause({~b, c});
  EXPECT_EQ(solver.solve(budget), SatResult::Sat);
  EXPECT_TRUE(solver.value(c));
  solver.add_clause({~c});
  EXPECT_EQ(solver.solve(budget), SatResult::Unsat);
}

TEST(SatSolver, KeepsAModelWhileClausesAreAdded) {
  Budget budget;
  SatSolver solver;
  const Lit a = solver.new_var();
  const Lit b = solver.new_var();
  solver.add_clause({a, b});
  ASSERT_EQ(solver.solve(budget), SatResult::Sat);
  const bool a_was = solver.value(a);
  solver.add_clause({a_was ? ~a : a});
  EXPECT_EQ(solver.value(a), a_was);
  ASSERT_EQ(solver.solve(budget), SatResult::Sat);
  EXPECT_NE(solver.value(a), a_was);
}

TEST(SatSolver, NamesTheAssumptionsThatFail) {
  Budget budget;
  SatSolver solver;
  const Lit a = solver.new_var();
  const Lit b = solver.new_var();
  const Lit unrelated = solver.new_var();
  solver.add_clause({~a, ~b});
  EXPECT_EQ(solver.solve(std::vector<Lit>{unrelated, a, b}, budget), SatResult::Unsat);
  EXPECT_TRUE(solver.failed(a));
  EXPECT_TRUE(solver.failed(b));
  EXPECT_FALSE(solver.failed(unrelated));
  EXPECT_EQ(solver.solve(std::vector<Lit>{a}, budget), SatResult::Sat);  // the others are forgotten
  EXPECT_FALSE(solver.value(b));
}

TEST(SatSolver, GuessesThePhaseItIsTold) {
  Budget budget;
  for (const bool phase : {false, true}) {
    SatSolver solver;
    std::vector<Lit> lits;
    for (int i = 0; i < 20; ++i) {
      lits.push_back(solver.new_var());
      solver.set_phase(phase ? lits.back() : ~lits.back());
    }
    // Clauses that leave every variable free.
    for (int i = 0; i + 2 < 20; ++i) {
      const auto at = static_cast<std::size_t>(i);
      solver.add_clause({phase ? lits[at] : ~lits[at], lits[at + 1], ~lits[at + 2]});
    }
    ASSERT_EQ(solver.solve(budget), SatResult::Sat);
    for (const Lit lit : lits) EXPECT_EQ(solver.value(lit), phase);
  }
}

TEST(SatSolver, TakesTheEmptyClauseForRefutation) {
  Budget budget;
  SatSolver solver;
  solver.add_clause(std::vector<Lit>{});
  EXPECT_EQ(solver.solve(budget), SatResult::Unsat);
}

TEST(SatSolver, KnowsVariablesInNoClause) {
  Budget budget;
  SatSolver solver;
  const Lit a = solver.new_var();
  ASSERT_EQ(solver.solve(budget), SatResult::Sat);
  EXPECT_NE(solver.value(a), solver.value(~a));
}

TEST(SatSolver, SurvivesAMove) {
  Budget budget;
  SatSolver first;
  const Lit a = first.new_var();
  first.add_clause({a});
  SatSolver second = std::move(first);
  ASSERT_EQ(second.solve(budget), SatResult::Sat);
  EXPECT_TRUE(second.value(a));
}

// Pigeons: n + 1 into n holes takes a resolution-based solver exponential time.
void add_pigeons(SatSolver& solver, std::size_t holes) {
  std::vector<std::vector<Lit>> in(holes + 1);
  for (auto& row : in) {
    for (std::size_t hole = 0; hole < holes; ++hole) row.push_back(solver.new_var());
    solver.add_clause(row);
  }
  for (std::size_t hole = 0; hole < holes; ++hole) {
    for (std::size_t p = 0; p < in.size(); ++p) {
      for (std::size_t q = 0; q < p; ++q) solver.add_clause({~in[p][hole], ~in[q][hole]});
    }
  }
}

TEST(SatSolver, AnswersUnknownWhenTheBudgetExpires) {
  Budget budget = Budget::seconds(0.05);
  SatSolver solver;
  add_pigeons(solver, 14);
  EXPECT_EQ(solver.solve(budget), SatResult::Unknown);
  EXPECT_EQ(solver.solve(budget), SatResult::Unknown);
}

// All assignments of a small formula, by counting.
bool satisfiable_by_enumeration(const std::vector<std::vector<Lit>>& clauses, int vars) {
  for (unsigned assignment = 0; assignment < (1U << static_cast<unsigned>(vars)); ++assignment) {
    bool all = true;
    for (const auto& clause : clauses) {
      bool some = false;
      for (const Lit lit : clause)
        some |=
            ((assignment >> static_cast<unsigned>(lit.variable()) & 1U) != 0) != lit.is_negative();
      all &= some;
    }
    if (all) return true;
  }
  return false;
}

TEST(SatSolver, AgreesWithEnumerationOnRandomFormulas) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Budget budget;
    SatSolver solver;
    constexpr int kVars = 8;
    std::vector<Lit> lits;
    for (int i = 0; i < kVars; ++i) lits.push_back(solver.new_var());
    std::vector<std::vector<Lit>> clauses;
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 8; ++i) {
        std::vector<Lit> clause;
        for (std::uint64_t size = 1 + rng.below(3); clause.size() < size;) {
          const Lit lit = lits[rng.below(kVars)];
          clause.push_back(rng.chance(0.5) ? lit : ~lit);
        }
        solver.add_clause(clause);
        clauses.push_back(clause);
      }
      const bool expected = satisfiable_by_enumeration(clauses, kVars);
      ASSERT_EQ(solver.solve(budget), expected ? SatResult::Sat : SatResult::Unsat);
      if (!expected) break;
      for (const auto& clause : clauses) {
        bool some = false;
        for (const Lit lit : clause) some |= solver.value(lit);
        ASSERT_TRUE(some);
      }
    }
  }
}

}  // namespace
}  // namespace isoscope
