// The search against all histories of small scopes, drawn without a solver.
#include <gtest/gtest.h>

#include "synth/comparison.h"

namespace isoscope {
namespace {

TEST(Synthesize, AgreesWithAllHistoriesOfTwoTransactionsAndTwoKeys) {
  compare_with_brute_force({.txns = 2, .keys = 2}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfThreeTransactionsAndOneKey) {
  compare_with_brute_force({.txns = 3, .keys = 1}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfFewValuesAndOperations) {
  compare_with_brute_force({.txns = 3, .keys = 1, .values = 2}, false);
  compare_with_brute_force({.txns = 2, .keys = 2, .ops = 2}, false);
  compare_with_brute_force({.txns = 2, .keys = 1, .values = 2, .empty_txns = true}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfThreeTransactionsAndTwoKeys) {
  compare_with_brute_force({.txns = 3, .keys = 2, .values = 2, .blind_writes = false}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesWithoutBlindWrites) {
  compare_with_brute_force({.txns = 3, .keys = 1, .blind_writes = false}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesWithoutAnalysisOfTheAxioms) {
  compare_with_brute_force({.txns = 2, .keys = 2}, true);
  compare_with_brute_force({.txns = 3, .keys = 1}, true);
}

// Axioms of shapes that no built-in level has: vis denied, equivalences, existence of keys,
// closures of vis, alternatives.
TEST(Synthesize, AgreesWithAllHistoriesForUnusualAxioms) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level o1 over co\n"
      "axiom A: forall t, u: txn. co(t, u) and not so(t, u)\n"
      "         implies (exists x: key. writes(t, x) and reads(u, x))\n"
      "level o2 over vis, ar\n"
      "axiom A: forall t, u: txn. ar(t, u) and not vis(t, u)\n"
      "         implies (exists x: key. writes(t, x) and writes(u, x))\n"
      "level o3 over vis, ar\n"
      "axiom A: [writers] ; ar ; [writers] subset vis\n"
      "level o4 over vis, ar\n"
      "axiom A: forall t, u: txn. vis(t, u) iff (so | wr)+(t, u)\n"
      "level o5 over co\n"
      "axiom A: irreflexive(rw ; co)\n"
      "level o6 over co\n"
      "axiom A: empty(rw & co^-1) or acyclic(so | wr | rw)\n"
      "level o7 over vis, ar\n"
      "axiom A: acyclic(vis | rw)\n"
      "axiom B: (vis ; wr) \\ so subset vis\n"
      "level o8 over vis, ar\n"
      "axiom A: vis+ subset vis\n"
      "level o9 over co\n"
      "axiom A: forall x: key. exists t, u: txn. so(t, u) and writes(u, x)\n"
      "level o10 over co\n"
      "axiom A: exists x: key. forall t: txn. writes(t, x) implies not reads(t, x)\n"
      "level o11 over vis, ar\n"
      "axiom A: total(vis)\n"
      "axiom B: forall x: key. transitive(ww[x]) and ww[x] subset ar*\n",
      "odd.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  Levels odd;
  for (const auto& each : levels.all()) {
    if (!each->built_in) odd.push_back(each.get());
  }
  ASSERT_EQ(odd.size(), 11U);
  for (const char* name : {"ra@vis", "ser@co", "true@co"}) odd.push_back(*levels.find(name));
  compare_with_brute_force({.txns = 2, .keys = 2, .values = 2}, false, odd);
  compare_with_brute_force({.txns = 3, .keys = 1, .values = 3}, false, odd);
  compare_with_brute_force({.txns = 2, .keys = 2, .values = 2}, true, odd);
}

// Acyclic relations, some of which have no linear extension with T0 first.
TEST(Synthesize, AgreesWithAllHistoriesForDependencyGraphs) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level g1 over co axiom A: acyclic(so | wr | ww | rw)\n"
      "level g2 over co let d = so | wr | ww axiom A: acyclic(d | d ; rw)\n"
      "level g3 over co axiom A: acyclic(so^-1)\n"
      "level g4 over co axiom A: acyclic(rw | ww^-1) and acyclic(so | rw)\n"
      "level g5 over co axiom A: acyclic(wr^-1 | co ; rw)\n"
      "level g6 over vis, ar axiom A: acyclic(vis | rw)\n"
      "level g7 over vis, ar axiom A: irreflexive((ar^-1)+) axiom B: acyclic(wr | ww)\n",
      "graphs.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  Levels graphs;
  for (const auto& each : levels.all()) {
    if (!each->built_in) graphs.push_back(each.get());
  }
  for (const char* name : {"ser@co", "ser@vis", "si@co", "si@vis", "psi", "cc@vis", "ra@co", "nlu"})
    graphs.push_back(*levels.find(name));
  compare_with_brute_force({.txns = 2, .keys = 2, .values = 2}, false, graphs);
  compare_with_brute_force({.txns = 3, .keys = 1, .values = 3}, false, graphs);
}

}  // namespace
}  // namespace isoscope
