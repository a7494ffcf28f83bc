#include "synth/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "check/level_table.h"
#include "spec/brute_force.h"
#include "spec/levels.h"

namespace isoscope {
namespace {

using testing::UnorderedElementsAre;

const Level& built_in(std::string_view name) { return **LevelSet::built_in().find(name); }

CompareAnswer compare_levels(const Level& a, const Level& b, const CompareOptions& options = {}) {
  Budget budget = Budget::seconds(120);
  auto answer = compare(a, b, options, budget);
  EXPECT_TRUE(answer.ok()) << render(answer.error());
  return *std::move(answer);
}

CompareAnswer compare_levels(std::string_view a, std::string_view b,
                             const CompareOptions& options = {}) {
  return compare_levels(built_in(a), built_in(b), options);
}

TEST(Compare, FindsTheWeakerLevelAndTheAnomalyThatItAllows) {
  const CompareAnswer answer = compare_levels("si", "ser");
  EXPECT_EQ(answer.relation, LevelRelation::Weaker);
  EXPECT_EQ(answer.backward.outcome, ImplicationOutcome::Proved);
  ASSERT_EQ(answer.forward.outcome, ImplicationOutcome::Refuted);
  EXPECT_EQ(answer.forward.anomaly, Anomaly::WriteSkew);
  EXPECT_EQ(answer.forward.scope.txns, 2);
  BruteForce oracle(answer.forward.separation->history);
  EXPECT_TRUE(oracle.decide(built_in("si")).has_value());
  EXPECT_FALSE(oracle.decide(built_in("ser")).has_value());
  EXPECT_EQ(compare_levels("ser", "si").relation, LevelRelation::Stronger);
}

TEST(Compare, ProvesTheFrameworksEquivalent) {
  for (const char* name : {"ra", "cc", "pc", "si", "ser"}) {
    const CompareAnswer answer =
        compare_levels(std::string(name) + "@co", std::string(name) + "@vis");
    EXPECT_EQ(answer.relation, LevelRelation::Equivalent) << name;
    EXPECT_EQ(answer.forward.outcome, ImplicationOutcome::Proved) << name;
    EXPECT_EQ(answer.backward.outcome, ImplicationOutcome::Proved) << name;
  }
}

TEST(Compare, FindsBothHistoriesOfIncomparableLevels) {
  const CompareAnswer answer = compare_levels("pc", "psi");
  EXPECT_EQ(answer.relation, LevelRelation::Incomparable);
  EXPECT_EQ(answer.forward.anomaly, Anomaly::LostUpdate);
  EXPECT_EQ(answer.backward.anomaly, Anomaly::LongFork);
  EXPECT_EQ(answer.backward.scope.txns, 4);
}

TEST(Compare, SaysHowFarItSearchedWithoutAProof) {
  const CompareAnswer answer = compare_levels("cc", "ra", {.max_txns = 4, .prove = false});
  EXPECT_EQ(answer.relation, LevelRelation::Unknown);  // a search decides nothing
  EXPECT_EQ(answer.bounded, LevelRelation::Stronger);
  EXPECT_EQ(answer.forward.outcome, ImplicationOutcome::Bounded);
  EXPECT_EQ(answer.forward.scope.txns, 4);
  EXPECT_EQ(answer.forward.scope.keys, 5);
  EXPECT_EQ(answer.scope.keys, 5);
  EXPECT_EQ(answer.scope.least_keys, 2);
  EXPECT_FALSE(answer.forward.proof.has_value());
}

TEST(Compare, SearchesNoFurtherThanTheScope) {
  const CompareAnswer answer = compare_levels("cc", "pc", {.scope = {.txns = 3}});
  EXPECT_EQ(answer.forward.outcome, ImplicationOutcome::Bounded);  // the long fork needs four
  EXPECT_EQ(answer.forward.scope.txns, 3);
  ASSERT_TRUE(answer.forward.proof.has_value());
  EXPECT_EQ(answer.forward.proof->outcome, ProofOutcome::NotProved);
}

// Two transactions and T0 have no longer cycles, but three have.
TEST(Compare, BoundsWhatItCannotProve) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level short over co let d = so | wr | ww | rw\n"
                       "axiom A: irreflexive(d) and irreflexive(d ; d) and irreflexive(d ; d ; d)",
                       "")
                  .ok());
  const CompareAnswer answer =
      compare_levels(**levels.find("short"), built_in("ser"), {.max_txns = 2});
  EXPECT_EQ(answer.relation, LevelRelation::Unknown);
  EXPECT_EQ(answer.bounded, LevelRelation::Equivalent);
  EXPECT_EQ(answer.forward.outcome, ImplicationOutcome::Bounded);
  EXPECT_EQ(answer.backward.outcome, ImplicationOutcome::Proved);
}

// A dependency graph has no proof of its own that it implies si over vis, ar, but through co.
TEST(Compare, ProvesInTwoHalves) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level graph-si over co let d = so | wr | ww\n"
                       "axiom A: acyclic(d | d ; rw)",
                       "")
                  .ok());
  const CompareAnswer answer =
      compare_levels(**levels.find("graph-si"), built_in("si@vis"), {.max_txns = 3});
  EXPECT_EQ(answer.relation, LevelRelation::Equivalent);
  ASSERT_EQ(answer.forward.outcome, ImplicationOutcome::Proved);
  ASSERT_NE(answer.forward.via, nullptr);
  EXPECT_EQ(answer.forward.via->full_name(), "si@co");
  const CompareAnswer alone = compare_levels(**levels.find("graph-si"), built_in("si@vis"),
                                             {.max_txns = 3, .between = {&built_in("rc")}});
  EXPECT_EQ(alone.relation, LevelRelation::Unknown);
  EXPECT_EQ(alone.bounded, LevelRelation::Equivalent);
}

// The paper's case study: Plume's read atomicity lets a session overlook its own write.
TEST(Compare, RefutesPlumesReadAtomicityInBothFrameworks) {
  for (const char* ra : {"ra@co", "ra@vis"}) {
    const CompareAnswer answer = compare_levels("plume-ra", ra, {.scope = {.blind_writes = false}});
    EXPECT_EQ(answer.relation, LevelRelation::Weaker) << ra;
    EXPECT_EQ(answer.forward.scope.txns, 2) << ra;
  }
  EXPECT_EQ(compare_levels("plume-cc", "cc@co").relation, LevelRelation::Equivalent);
}

TEST(Compare, TakesSessionsAsPartialOrdersWhenAsked) {
  const CompareAnswer answer =
      compare_levels("cc", "pc", {.scope = {.sessions = SessionShape::PartialOrder}});
  EXPECT_EQ(answer.relation, LevelRelation::Weaker);
}

TEST(Compare, AnswersUnknownWhenTheBudgetIsSpent) {
  Budget spent = Budget::seconds(0);
  const auto answer = compare(built_in("cc"), built_in("ra"), {}, spent);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->relation, LevelRelation::Unknown);
  EXPECT_FALSE(answer->forward.limit.empty());
}

TEST(Compare, RefusesScopesThatMakeNoSense) {
  Budget budget = Budget::seconds(10);
  EXPECT_FALSE(compare(built_in("cc"), built_in("ra"), {.scope = {.keys = -1}}, budget).ok());
  EXPECT_FALSE(compare(built_in("cc"), built_in("ra"), {.scope = {.txns = 1000}}, budget).ok());
}

// The table of levels is data: this is why it can be believed.
TEST(LevelTable, ImpliesWhatIsProvedAndNothingThatAHistoryRefutes) {
  int proved = 0;
  int refuted = 0;
  for (const LogicRow& a : logic_rows()) {
    for (const LogicRow& b : logic_rows()) {
      if (a.logic == b.logic) continue;
      Budget budget = Budget::seconds(60);
      const auto answer = decide_implication(built_in(name_of(a.logic)), built_in(name_of(b.logic)),
                                             CompareOptions{}, budget);
      ASSERT_TRUE(answer.ok());
      EXPECT_EQ(answer->outcome, implies(a.logic, b.logic) ? ImplicationOutcome::Proved
                                                           : ImplicationOutcome::Refuted)
          << name_of(a.logic) << " and " << name_of(b.logic);
      ++(answer->outcome == ImplicationOutcome::Proved ? proved : refuted);
    }
  }
  EXPECT_EQ(proved + refuted, 72);
  EXPECT_EQ(proved, 33);
}

// Axioms of a logic below another one are no further demand (verdict/logic.cpp), because the very
// orders that satisfy the upper logic satisfy the lower one.
TEST(LevelTable, ImpliesWithTheSameOrders) {
  int proved = 0;
  for (const Framework framework : {Framework::Co, Framework::VisAr}) {
    for (const LogicRow& a : logic_rows()) {
      for (const LogicRow& b : logic_rows()) {
        const Level* upper = reference_level(a.logic, framework);
        const Level* lower = reference_level(b.logic, framework);
        if (a.logic == b.logic || !upper || !lower || !implies(a.logic, b.logic)) continue;
        Budget budget = Budget::seconds(60);
        const ProofAnswer proof = prove_implies(*upper, *lower, budget);
        EXPECT_EQ(proof.outcome, ProofOutcome::Proved)
            << upper->full_name() << " and " << lower->full_name();
        EXPECT_EQ(proof.construction, Construction::SameOrders)
            << upper->full_name() << " and " << lower->full_name();
        ++proved;
      }
    }
  }
  EXPECT_EQ(proved, 39);
}

TEST(CompareAll, DrawsTheLattice) {
  std::vector<const Level*> levels;
  for (const char* name : {"rc", "ra", "cc", "pc", "psi", "si", "ser", "cc@vis"})
    levels.push_back(&built_in(name));
  Budget budget = Budget::seconds(120);
  const auto matrix = compare_all(levels, {}, budget);
  ASSERT_TRUE(matrix.ok()) << render(matrix.error());

  std::set<std::string> edges;
  for (const CompareMatrix::Edge& edge : matrix->edges) {
    const Level& strong = *levels[matrix->classes[edge.stronger].front()];
    const Level& weak = *levels[matrix->classes[edge.weaker].front()];
    edges.insert(strong.name + " > " + weak.name + ": " + std::string(common_name(edge.anomaly)));
    EXPECT_TRUE(edge.is_proved);
    ASSERT_NE(edge.separation, nullptr);
    BruteForce oracle(edge.separation->history);
    EXPECT_TRUE(oracle.decide(weak).has_value()) << strong.name << " > " << weak.name;
    EXPECT_FALSE(oracle.decide(strong).has_value()) << strong.name << " > " << weak.name;
  }
  EXPECT_THAT(edges, UnorderedElementsAre("ra > rc: stale session read",
                                          "cc > ra: causality violation", "pc > cc: long fork",
                                          "psi > cc: lost update", "si > pc: lost update",
                                          "si > psi: long fork", "ser > si: write skew"));
  EXPECT_EQ(matrix->classes[2], (CompareMatrix::Class{2, 7}));  // cc@co and cc@vis
  EXPECT_EQ(matrix->relation(3, 4), LevelRelation::Incomparable);
  EXPECT_EQ(matrix->relation(0, 0), LevelRelation::Equivalent);
}

// Every pair of the table has the answer of a question that is asked alone, and every history in it
// separates its pair.
TEST(CompareAll, AgreesWithSingleComparisons) {
  LevelSet set = LevelSet::built_in();
  ASSERT_TRUE(set.add("level item-cut over co axiom A: forall x: key, t1, t2, t: txn.\n"
                      "    wr[x](t1, t) and wr[x](t2, t) implies t1 = t2\n"
                      "level no-reader over co axiom A: empty(wr ; [aborted])\n",
                      "")
                  .ok());
  std::vector<const Level*> levels;
  for (const char* name :
       {"true", "nlu", "plume-ra", "update-ser@co", "ec", "ua", "rc", "item-cut", "no-reader"})
    levels.push_back(*set.find(name));
  Budget budget = Budget::seconds(120);
  const auto matrix = compare_all(levels, {}, budget);
  ASSERT_TRUE(matrix.ok());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const CompareAnswer alone = compare_levels(*levels[i], *levels[j]);
      EXPECT_EQ(matrix->relation(i, j), alone.relation)
          << levels[i]->name << " " << levels[j]->name;
      EXPECT_EQ(matrix->bounded(i, j), alone.bounded) << levels[i]->name << " " << levels[j]->name;
      const Implication& implication = matrix->implies[i][j];
      if (!implication.separation) continue;
      BruteForce oracle(implication.separation->history);
      EXPECT_TRUE(oracle.decide(*levels[i]).has_value());
      EXPECT_FALSE(oracle.decide(*levels[j]).has_value());
    }
  }
}

TEST(CompareAll, TakesNoLevelsAndTheSameLevelTwice) {
  Budget budget = Budget::seconds(60);
  const auto none = compare_all({}, {}, budget);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->classes.empty());
  const auto twice = compare_all({&built_in("cc"), &built_in("cc")}, {}, budget);
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->classes.size(), 1U);
  EXPECT_TRUE(twice->edges.empty());
}

TEST(CompareAll, LeavesUnknownWhatTheBudgetDoesNotReach) {
  Budget spent = Budget::seconds(0);
  const auto matrix = compare_all({&built_in("cc"), &built_in("ra")}, {}, spent);
  ASSERT_TRUE(matrix.ok());
  EXPECT_EQ(matrix->relation(0, 1), LevelRelation::Unknown);
  EXPECT_EQ(matrix->classes.size(), 2U);
}

}  // namespace
}  // namespace isoscope
