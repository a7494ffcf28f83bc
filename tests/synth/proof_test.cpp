#include "synth/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "spec/levels.h"

namespace isoscope {
namespace {

const Level& built_in(std::string_view name) { return **LevelSet::built_in().find(name); }

ProofAnswer prove(std::string_view a, std::string_view b) {
  Budget budget = Budget::seconds(60);
  return prove_implies(built_in(a), built_in(b), budget);
}

struct Implication {
  const char* a;
  const char* b;
};
void PrintTo(const Implication& i, std::ostream* out) { *out << i.a << " => " << i.b; }

class Proof : public testing::TestWithParam<Implication> {};

TEST_P(Proof, HoldsForEveryHistory) {
  const ProofAnswer answer = prove(GetParam().a, GetParam().b);
  EXPECT_EQ(answer.outcome, ProofOutcome::Proved);
  EXPECT_TRUE(answer.construction.has_value());
  EXPECT_FALSE(answer.vacuous);
}

// The unsatisfiable problems of [Isolde-2026], section 5.1.
INSTANTIATE_TEST_SUITE_P(
    OfOneFramework, Proof,
    testing::Values(Implication{"cc@co", "ra@co"}, Implication{"pc@co", "cc@co"},
                    Implication{"si@co", "pc@co"}, Implication{"ser@co", "si@co"},
                    Implication{"cc@vis", "ra@vis"}, Implication{"pc@vis", "cc@vis"},
                    Implication{"si@vis", "pc@vis"}, Implication{"ser@vis", "si@vis"},
                    Implication{"ra@co", "plume-ra"}, Implication{"cc@co", "plume-cc"},
                    Implication{"plume-cc", "cc@co"}));
INSTANTIATE_TEST_SUITE_P(
    AcrossFrameworks, Proof,
    testing::Values(Implication{"ra@co", "ra@vis"}, Implication{"ra@vis", "ra@co"},
                    Implication{"cc@co", "cc@vis"}, Implication{"cc@vis", "cc@co"},
                    Implication{"pc@co", "pc@vis"}, Implication{"pc@vis", "pc@co"},
                    Implication{"si@co", "si@vis"}, Implication{"si@vis", "si@co"},
                    Implication{"ser@co", "ser@vis"}, Implication{"ser@vis", "ser@co"}));
INSTANTIATE_TEST_SUITE_P(OfOtherLevels, Proof,
                         testing::Values(Implication{"ua", "nlu"}, Implication{"ua", "ra@vis"},
                                         Implication{"psi", "ua"}, Implication{"psi", "cc@vis"},
                                         Implication{"si@vis", "psi"}, Implication{"si@co", "psi"},
                                         Implication{"ra@co", "rc"}, Implication{"rc", "true"},
                                         Implication{"ra@co", "ec"}, Implication{"ra@vis", "ec"},
                                         Implication{"ser@co", "update-ser@vis"},
                                         Implication{"update-ser@vis", "update-ser@co"}));

class NoProof : public testing::TestWithParam<Implication> {};

TEST_P(NoProof, IsGivenForWhatAHistoryRefutes) {
  EXPECT_EQ(prove(GetParam().a, GetParam().b).outcome, ProofOutcome::NotProved);
}

// The edges of the lattice, downwards; proof_soundness_test.cpp has all pairs.
INSTANTIATE_TEST_SUITE_P(Downwards, NoProof,
                         testing::Values(Implication{"true", "rc"}, Implication{"rc", "ra@co"},
                                         Implication{"ra@vis", "cc@vis"},
                                         Implication{"cc@vis", "pc@vis"},
                                         Implication{"pc@co", "si@co"},
                                         Implication{"si@vis", "ser@vis"}, Implication{"nlu", "ua"},
                                         Implication{"ua", "psi"}, Implication{"psi", "si@vis"},
                                         Implication{"plume-ra", "ra@vis"},
                                         Implication{"update-ser@co", "update-ser@vis"},
                                         Implication{"ec", "ra@vis"}, Implication{"ec", "true"}));

class UserLevels : public testing::Test {
 protected:
  ProofAnswer prove(std::string_view text) {
    LevelSet levels = LevelSet::built_in();
    const auto added = levels.add(text, "user.level");
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : render(added.error()));
    Budget budget = Budget::seconds(60);
    return prove_implies(**levels.find("a"), **levels.find("b"), budget);
  }
  ProofOutcome outcome(std::string_view text) { return prove(text).outcome; }
};

TEST_F(UserLevels, AreReadFromTheirText) {
  EXPECT_EQ(outcome("level a over co axiom A: rw subset co\nlevel b over co extends ser"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co extends ser\nlevel b over co axiom A: rw subset co"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co extends si\nlevel b over co axiom A: rw subset co"),
            ProofOutcome::NotProved);
}

// True, because a cycle of an odd length can be gone round twice; but a linear extension of d ; d
// need not contain d.
TEST_F(UserLevels, MayImplyWhatIsNotProved) {
  EXPECT_EQ(outcome("level a over co let d = so | wr | ww | rw axiom A: acyclic(d ; d)\n"
                    "level b over co extends ser"),
            ProofOutcome::NotProved);
}

// A relation, and a level that it characterises.
struct Graph {
  const char* axiom;
  const char* level;
};
void PrintTo(const Graph& g, std::ostream* out) { *out << g.level << ": " << g.axiom; }

class DependencyGraphs : public testing::TestWithParam<Graph> {
 protected:
  // Does the graph imply the level, or the level the graph?
  ProofAnswer prove(bool graph_first) {
    LevelSet levels = LevelSet::built_in();
    const auto added = levels.add(
        std::string("level graph over co let d = so | wr | ww axiom A: ") + GetParam().axiom,
        "graph.level");
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : render(added.error()));
    const Level& graph = **levels.find("graph");
    const Level& level = **levels.find(GetParam().level);
    Budget budget = Budget::seconds(100);
    return graph_first ? prove_implies(graph, level, budget) : prove_implies(level, graph, budget);
  }
};

TEST_P(DependencyGraphs, CharacteriseTheirLevel) {
  EXPECT_EQ(prove(true).outcome, ProofOutcome::Proved);
  EXPECT_EQ(prove(false).outcome, ProofOutcome::Proved);
}

// [CeroneGotsman-PODC'16] and its likes, in several spellings.
INSTANTIATE_TEST_SUITE_P(
    OfLevels, DependencyGraphs,
    testing::Values(Graph{"acyclic(so | wr | ww | rw)", "ser@co"},
                    Graph{"acyclic(so | wr | ww | rw)", "ser@vis"},
                    Graph{"acyclic(rw | (ww | so | wr)+)", "ser@co"},
                    Graph{"irreflexive((rw | ww | wr | so)+)", "ser@co"},
                    Graph{"acyclic(d | d ; rw)", "si@co"},
                    Graph{"acyclic(d ; rw | wr | (so | ww))", "si@co"},
                    Graph{"irreflexive(d+ ; rw)", "psi"},
                    Graph{"acyclic(ww | so | wr) and irreflexive((wr | ww | so)+ ; rw)", "psi"}));

TEST_F(UserLevels, MayStateRelationsAsAWhole) {
  EXPECT_EQ(outcome("level a over vis, ar axiom A: transitive(vis)\n"
                    "level b over co extends cc"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co extends pc\n"
                    "level b over vis, ar axiom P: ar ; vis subset vis"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co extends cc\n"
                    "level b over vis, ar axiom T: transitive(vis)"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co extends ra\n"
                    "level b over vis, ar axiom T: transitive(vis)"),
            ProofOutcome::NotProved);
}

TEST_F(UserLevels, MayHaveNestedClosuresAndKeys) {
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over co axiom B: forall x: key. acyclic((wr[x]+ | so*) ; ww[x]*)"),
            ProofOutcome::NotProved);
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over co axiom B: forall x: key. acyclic((wr[x]+ ; so)+ | ww[x])"),
            ProofOutcome::Proved);
}

// Histories without keys and without reads are histories.
TEST_F(UserLevels, AreNotAssumedToHaveKeysOrReads) {
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over co axiom B: exists x: key, t: txn. t = t"),
            ProofOutcome::NotProved);
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over co axiom B: exists r: read. r = r"),
            ProofOutcome::NotProved);
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over co axiom B: exists t: txn. t = t"),
            ProofOutcome::Proved);
  EXPECT_EQ(outcome("level a over co axiom A: exists r: read. r = r\n"
                    "level b over co axiom B: exists x: key. x = x"),
            ProofOutcome::Proved);
}

// vis occurs negatively in the premise, so there is no least vis; "so implies vis" is all that is
// taken from the level's framework, and the axiom becomes a goal.
TEST_F(UserLevels, WithoutALeastVisibilityAreStillSound) {
  EXPECT_EQ(outcome("level a over co\n"
                    "level b over vis, ar axiom B: forall t, u: txn. ar(t, u) and not vis(t, u) "
                    "implies vis(u, t)"),
            ProofOutcome::NotProved);
}

TEST_F(UserLevels, ThatAllowNothingAreCalledVacuous) {
  const ProofAnswer answer =
      prove("level a over co axiom A: empty(wr)\nlevel b over co extends ser");
  EXPECT_EQ(answer.outcome, ProofOutcome::Proved);
  EXPECT_TRUE(answer.vacuous);
}

TEST(ProofBudget, IsRespected) {
  Budget spent = Budget::seconds(0);
  const ProofAnswer answer = prove_implies(built_in("cc@co"), built_in("cc@vis"), spent);
  EXPECT_EQ(answer.outcome, ProofOutcome::Unknown);
  EXPECT_EQ(answer.limit, "time");
}

TEST(ProofAnswers, DoNotDependOnTheClock) {
  const ProofAnswer once = prove("si@co", "si@vis");
  const ProofAnswer again = prove("si@co", "si@vis");
  EXPECT_EQ(once.queries, again.queries);
  EXPECT_EQ(once.construction, Construction::LeastVisibility);
}

}  // namespace
}  // namespace isoscope
