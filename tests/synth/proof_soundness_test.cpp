// Is what is asserted true, and is what is proved never refuted? Formulas are pinned to histories
// and compared with the evaluator; proofs are compared with brute force.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "spec/random_axiom.h"
#include "support/random_history.h"
#include "synth/acyclic.h"
#include "synth/pinned_structure.h"
#include "synth/proof.h"
#include "synth/proof_search.h"

namespace isoscope {
namespace {

constexpr SmtLimits kLimits{.steps = 60'000};

SmtResult check_with(ProofTheory& theory, const std::vector<SmtTerm>& unrollings,
                     const std::vector<SmtTerm>& pinned, SmtTerm formula) {
  std::vector<SmtTerm> formulas = theory.facts();
  formulas.insert(formulas.end(), unrollings.begin(), unrollings.end());
  formulas.insert(formulas.end(), pinned.begin(), pinned.end());
  formulas.push_back(formula);
  Budget budget = Budget::seconds(20);
  return theory.smt().check(formulas, kLimits, budget);
}

TEST(ProofTranslation, AgreesWithTheEvaluatorOnRandomAxioms) {
  const Level& any = **LevelSet::built_in().find("true");
  int decided = 0;
  int questions = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const SmallHistory small =
        random_small(rng, {.sessions = 2, .max_txns = 3, .keys = 2, .max_ops = 2, .aborted = 0.15});
    const History h = build(small);
    const std::optional<Witness> w = BruteForce(h).decide(any);
    if (!w) continue;
    LevelSet levels = LevelSet::built_in();
    const std::string text =
        fmt::format("level random over co axiom A: {}", RandomAxiom(seed, 3).text());
    ASSERT_TRUE(levels.add(text, "random").ok()) << text;
    const Level& level = **levels.find("random");
    const bool holds = Evaluator(h, Assignment{&level, {}}).accepts(*w);

    SmtSolver smt;
    ProofTheory theory(smt, {.reads = true});
    ProofTranslator translator(theory);
    const Axiom& axiom = level.axioms.front();
    ProofTranslator::Environment env(static_cast<std::size_t>(axiom.slots));
    const Visibility by_order{
        {}, {}, "order", [&](SmtTerm s, SmtTerm t) { return theory.order(s, t); }};
    const SmtTerm formula = translator.translate(*axiom.formula, env, by_order);
    const std::vector<SmtTerm> pinned = pin(theory, h, *w);
    ++questions;
    EXPECT_NE(check_with(theory, translator.unrollings(), pinned, holds ? formula : !formula),
              SmtResult::Unsat)
        << "seed " << seed << "\n"
        << text << "\n"
        << to_hist(small);
    if (check_with(theory, translator.unrollings(), pinned, holds ? !formula : formula) ==
        SmtResult::Unsat)
      ++decided;
  }
  RecordProperty("questions", questions);
  RecordProperty("decided", decided);
  // Closures are not pinned down, all else is.
  EXPECT_GT(questions, 40);
  EXPECT_GT(decided, questions * 2 / 3);
}

// Whatever the search has come to believe about level a, lemmas included, is true of histories that
// satisfy a.
TEST(ProofFacts, AreTrueOfHistoriesThatSatisfyTheStrongerLevel) {
  const LevelSet& levels = LevelSet::built_in();
  Budget budget = Budget::seconds(300);
  int pinned_histories = 0;
  const std::pair<const char*, const char*> pairs[] = {
      {"cc@co", "cc@vis"}, {"pc@co", "si@vis"},    {"si@co", "psi"},
      {"ser@co", "nlu"},   {"psi", "cc@co"},       {"plume-cc", "cc@vis"},
      {"ra@co", "rc"},     {"si@vis", "plume-cc"}, {"update-ser@co", "pc@vis"},
      {"rc", "ua"},        {"ec", "psi"},          {"nlu", "cc@vis"}};
  for (const auto& [first, second] : pairs) {
    const Level& a = **levels.find(first);
    const Level& b = **levels.find(second);
    const Construction construction =
        b.framework == Framework::VisAr   ? Construction::LeastVisibility
        : a.framework == Framework::VisAr ? Construction::ArbitrationAsCo
                                          : Construction::SameOrders;
    ProofSearch search(a, b, construction, budget);
    search.run();
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Rng rng(seed);
      const SmallHistory small = random_small(rng, {.max_txns = 3, .stray = 0.2});
      const History h = build(small);
      const std::optional<Witness> w = BruteForce(h).decide(a);
      if (!w) continue;
      ++pinned_histories;
      ProofTheory& theory = search.theory();
      EXPECT_NE(
          check_with(theory, search.unrollings(), pin(theory, h, *w), search.smt().truth(true)),
          SmtResult::Unsat)
          << first << " => " << second << ", seed " << seed << "\n"
          << to_hist(small);
    }
  }
  EXPECT_GT(pinned_histories, 20);
}

// Linear extensions, and closures in each other, of levels that are dependency graphs.
TEST(ProofFacts, AreTrueOfHistoriesThatSatisfyADependencyGraph) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level g1 over co axiom A: acyclic(so | wr | ww | rw)\n"
                       "level g2 over co let d = so | wr | ww axiom A: acyclic(d | d ; rw)\n"
                       "level g3 over co axiom A: acyclic((so | wr)+ ; ww | rw ; rw) and "
                       "irreflexive((wr ; rw)+)\n"
                       "level g4 over co, wr free without so\n"
                       "axiom A: irreflexive(rw* ; (so | wr | ww)+ ; (rw? | ww ; rw))\n",
                       "graphs")
                  .ok());
  int pinned_histories = 0;
  for (const char* graph : {"g1", "g2", "g3", "g4"}) {
    for (const char* other : {"ser@co", "psi"}) {
      Budget budget = Budget::seconds(3);  // whatever is believed when it is over must be true
      const Level& a = **levels.find(graph);
      const Level& b = **levels.find(other);
      for (const RelationExpr* acyclic : acyclic_relations(a)) {
        ProofSearch search(a, b,
                           b.framework == Framework::Co ? Construction::LinearExtension
                                                        : Construction::ExtendedLeastVisibility,
                           budget, acyclic);
        search.run();
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          Rng rng(seed);
          const SmallHistory small = random_small(rng, {.max_txns = 2, .stray = 0.2});
          const History h = build(small);
          const std::optional<Witness> w = BruteForce(h).decide(a);
          if (!w) continue;
          ++pinned_histories;
          ProofTheory& theory = search.theory();
          EXPECT_NE(
              check_with(theory, search.unrollings(), pin(theory, h, *w), search.smt().truth(true)),
              SmtResult::Unsat)
              << graph << " => " << other << ", seed " << seed << "\n"
              << to_hist(small);
        }
      }
    }
  }
  EXPECT_GT(pinned_histories, 15);
}

// A history that a allows and b forbids, for as many pairs of built-in levels as random histories
// show: nearly all that are no implications. None of them may be proved.
TEST(Proof, IsNeverGivenForAnImplicationThatAHistoryRefutes) {
  const auto& levels = LevelSet::built_in().all();
  std::map<std::pair<const Level*, const Level*>, std::string> refuted;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    SmallHistory small = seed % 4 == 0 ? near_long_fork(rng) : random_small(rng, {.max_txns = 4});
    const History h = build(small);
    if (!is_small_enough(h, Framework::VisAr)) continue;
    BruteForce oracle(h);
    std::vector<const Level*> allow;
    std::vector<const Level*> forbid;
    for (const auto& level : levels) {
      if (!require_plain(*level, "a proof")) continue;
      (oracle.decide(*level) ? allow : forbid).push_back(level.get());
    }
    for (const Level* a : allow) {
      for (const Level* b : forbid)
        refuted.try_emplace({a, b}, fmt::format("seed {}\n{}", seed, to_hist(small)));
    }
  }
  EXPECT_GT(refuted.size(), 180U);
  std::size_t proved = 0;
  for (const auto& a : levels) {
    for (const auto& b : levels) {
      // proof_statements_test.cpp has the others.
      if (!require_plain(*a, "a proof") || !require_plain(*b, "a proof")) continue;
      const auto reason = refuted.find({a.get(), b.get()});
      if (reason == refuted.end()) {
        // Not refuted: implications, all of which are proved, and what random histories miss.
        Budget budget = Budget::seconds(5);
        if (prove_implies(*a, *b, budget).outcome == ProofOutcome::Proved) ++proved;
        continue;
      }
      Budget budget = Budget::seconds(2);
      EXPECT_NE(prove_implies(*a, *b, budget).outcome, ProofOutcome::Proved)
          << a->full_name() << " => " << b->full_name() << ", but " << reason->second;
    }
  }
  EXPECT_GE(proved, 175U);  // with the twenty levels that imply themselves
}

}  // namespace
}  // namespace isoscope
