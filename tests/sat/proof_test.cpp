// Proofs of the backend, verified by a checker that shares no code with it.
#include <gtest/gtest.h>

#include "sat/circuit.h"
#include "sat/clause_log.h"
#include "support/drat_check.h"
#include "support/rng.h"

namespace isoscope {
namespace {

std::vector<DratClause> clauses_of(const ClauseLog& log) {
  std::vector<DratClause> clauses;
  for (const ClauseLog::Clause& clause : log.clauses()) {
    clauses.emplace_back();
    for (const Lit lit : clause.literals) clauses.back().push_back(lit.dimacs());
  }
  return clauses;
}

// n + 1 pigeons, n holes.
ClauseLog pigeons(int holes) {
  ClauseLog log;
  const auto in = [&](int pigeon, int hole) { return Lit::positive(pigeon * holes + hole); };
  log.because("each pigeon has a hole");
  for (int p = 0; p <= holes; ++p) {
    std::vector<Lit> some;
    for (int h = 0; h < holes; ++h) some.push_back(in(p, h));
    log.add(some);
  }
  log.because("no two share one");
  for (int h = 0; h < holes; ++h) {
    for (int p = 0; p <= holes; ++p) {
      for (int q = 0; q < p; ++q) log.add(std::vector<Lit>{~in(p, h), ~in(q, h)});
    }
  }
  return log;
}

TEST(DratProof, RefutesPigeons) {
  for (int holes = 1; holes <= 6; ++holes) {
    const ClauseLog log = pigeons(holes);
    Budget budget;
    const auto proof = drat_proof(log, budget);
    ASSERT_TRUE(proof.has_value());
    EXPECT_EQ(check_drat(static_cast<int>(log.num_vars()), clauses_of(log), *proof), std::nullopt);
  }
}

TEST(DratProof, IsNoneForClausesThatCanBeMet) {
  ClauseLog log;
  log.add(std::vector<Lit>{Lit::positive(0), Lit::positive(1)});
  Budget budget;
  EXPECT_EQ(drat_proof(log, budget), std::nullopt);
}

TEST(DratProof, RefutesTheEmptyClause) {
  ClauseLog log;
  log.add({});
  Budget budget;
  const auto proof = drat_proof(log, budget);
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(check_drat(0, clauses_of(log), *proof), std::nullopt);
}

TEST(DratProof, RefutesRandomClauses) {
  Rng rng(15);
  int refuted = 0;
  for (int round = 0; round < 200; ++round) {
    ClauseLog log;
    for (int i = 0; i < 150; ++i) {
      std::vector<Lit> clause;
      for (int k = 0; k < 3; ++k) {
        const Lit lit = Lit::positive(static_cast<std::int32_t>(rng.below(28)));
        clause.push_back(rng.below(2) == 0 ? lit : ~lit);
      }
      log.add(clause);
    }
    Budget budget;
    const auto proof = drat_proof(log, budget);
    if (!proof) continue;
    ++refuted;
    EXPECT_EQ(check_drat(static_cast<int>(log.num_vars()), clauses_of(log), *proof), std::nullopt)
        << round;
  }
  EXPECT_GT(refuted, 100);
}

TEST(DratChecker, RejectsWhatDoesNotFollow) {
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}}, "0\n"), std::nullopt);
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, ""), std::nullopt);
  EXPECT_EQ(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, "2 0\n0\n"), std::nullopt);
  // Nothing follows from clauses that were taken away.
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, "d 1 2 0\n2 0\n0\n"), std::nullopt);
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, "2\n0\n"), std::nullopt);
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, "3 0\n0\n"), std::nullopt);
}

TEST(DratChecker, AcceptsAFreshDefinitionByResolution) {
  // 3 is fresh: each clause with 3 first resolves with none, or only to tautologies.
  EXPECT_EQ(
      check_drat(3, {{1, 2}, {-1, 2}, {1, -2}, {-1, -2}}, "3 -1 -2 0\n-3 1 0\n-3 2 0\n2 0\n0\n"),
      std::nullopt);
  // As a consequence it would not do.
  EXPECT_NE(check_drat(2, {{1, 2}, {-1, 2}}, "-1 0\n0\n"), std::nullopt);
}

TEST(ClauseLog, TellsGatesDemandsAndRounds) {
  ClauseLog log;
  Circuit c;
  c.record(log);
  const Signal a = c.input();
  const Signal b = c.input();
  c.name(a, [] { return std::string("a"); });
  c.because([] { return std::string("both"); });
  c.require_any({c.conj({a, b}), c.conj({!a, !b})});
  c.next_round();
  c.because([] { return std::string("not the same"); });
  c.require_any({a, b});
  c.require_any({!a, !b});
  Budget budget;
  EXPECT_EQ(c.solve({}, budget), SatResult::Unsat);
  EXPECT_EQ(log.gates().size(), 2U);
  EXPECT_EQ(log.reason(log.clauses().back()), "not the same");
  EXPECT_EQ(log.clauses().back().round, 1U);
  EXPECT_EQ(log.names().at(0), "a");
  const auto proof = drat_proof(log, budget);
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(check_drat(static_cast<int>(log.num_vars()), clauses_of(log), *proof), std::nullopt);
}

}  // namespace
}  // namespace isoscope
