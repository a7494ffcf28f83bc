#include "spec/evaluate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "spec/naive_evaluator.h"
#include "spec/random_axiom.h"
#include "spec/relation_values.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Level level_of(std::string_view text) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(text, "test");
  EXPECT_TRUE(added.ok()) << render(added.error());
  return added ? *levels.all().back() : Level{};
}

Level with_axiom(std::string_view formula, std::string_view over = "co") {
  return level_of(fmt::format("level a over {} axiom A: {}", over, formula));
}

std::vector<TxnId> order_of(std::initializer_list<std::uint32_t> ids) {
  std::vector<TxnId> order;
  for (std::uint32_t id : ids) order.push_back(TxnId{id});
  return order;
}

Witness co_of(std::initializer_list<std::uint32_t> ids) {
  return {Framework::Co, order_of(ids), std::nullopt};
}

Witness vis_of(const History& h, std::initializer_list<std::uint32_t> ar,
               std::initializer_list<std::pair<std::size_t, std::size_t>> pairs) {
  Relation vis(h.num_txns());
  for (const auto& [a, b] : pairs) vis.insert(a, b);
  return {Framework::VisAr, order_of(ar), vis};
}

std::string complaint(const Level& level, const History& h, const Witness& witness) {
  const auto failure = evaluate({&level, {}}, {h, witness});
  return failure ? describe(*failure, h) : "";
}

// The pairs of a relation: "T1-T2", or "T1-r(x,0)@T2" for reads. Key variables stand for x.
std::vector<std::string> pairs_of(const History& h, const Witness& witness,
                                  std::string_view relation) {
  const Level level = with_axiom(fmt::format("forall x: key. empty({})", relation),
                                 witness.framework == Framework::Co ? "co" : "vis, ar");
  const RelationExpr& expression = *level.axioms.at(0).formula->left->relation;
  const FactTables facts(h, FactTables::Reads::External);
  RelationValues values(facts);
  const int number = values.add(expression);
  values.set_orders(witness.order, witness.vis ? &*witness.vis : nullptr);
  const auto name = [&](std::size_t element) {
    const auto index = static_cast<std::uint32_t>(element);
    if (element < h.num_txns()) return h.name(TxnId{index});
    const EventId e = facts.event(index);
    return fmt::format("r({},{})@{}", h.name(h.key(e)), h.show(h.value(e)), h.name(h.txn(e)));
  };
  std::vector<std::string> pairs;
  const Relation& r = values.value(number, {0});
  for (std::size_t a = 0; a < r.size(); ++a)
    r.for_each_successor(a, [&](std::size_t b) { pairs.push_back(name(a) + "-" + name(b)); });
  return pairs;
}

class Relations : public ::testing::Test {
 protected:
  // x is key 0. T4 is aborted; T5 has an unknown outcome and nobody reads from it: it is absent.
  const History h = history_of(
      "s1: [w(x,1) w(y,1)] [r(x,2)]\n"
      "s2: [r(x,1) r(y,0) w(x,2)] [r(y,1) w(y,9)]! [w(x,3)]?");
  const Witness co = co_of({0, 1, 3, 2, 4});

  std::vector<std::string> pairs(std::string_view relation) const {
    return pairs_of(h, co, relation);
  }
};

TEST_F(Relations, OfFacts) {
  EXPECT_THAT(pairs("so"),
              UnorderedElementsAre("T0-T1", "T0-T2", "T0-T3", "T0-T4", "T1-T2", "T3-T4"));
  EXPECT_THAT(pairs("wr"), UnorderedElementsAre("T3-T2", "T1-T3", "T0-T3", "T1-T4"));
  EXPECT_THAT(pairs("wr[x]"), UnorderedElementsAre("T3-T2", "T1-T3"));
  EXPECT_THAT(pairs("wr ; [aborted]"), UnorderedElementsAre("T1-T4"));
}

TEST_F(Relations, OfReads) {
  EXPECT_THAT(pairs("po"), ElementsAre("r(x,1)@T3-r(y,0)@T3"));
  EXPECT_THAT(pairs("wr ; po"), ElementsAre("T1-r(y,0)@T3"));
  EXPECT_THAT(pairs("po ; wr^-1"), ElementsAre("r(x,1)@T3-T0"));
  EXPECT_THAT(pairs("po*"), UnorderedElementsAre("r(x,2)@T2-r(x,2)@T2", "r(x,1)@T3-r(x,1)@T3",
                                                 "r(x,1)@T3-r(y,0)@T3", "r(y,0)@T3-r(y,0)@T3",
                                                 "r(y,1)@T4-r(y,1)@T4"));
}

TEST_F(Relations, OfTheWitness) {
  EXPECT_THAT(pairs("co \\ so"), UnorderedElementsAre("T1-T3", "T3-T2", "T1-T4", "T2-T4"));
  const Witness vis = vis_of(h, {0, 1, 3, 2, 4}, {{0, 1}, {1, 3}});
  EXPECT_THAT(pairs_of(h, vis, "vis"), UnorderedElementsAre("T0-T1", "T1-T3"));
  EXPECT_THAT(pairs_of(h, vis, "ar \\ so"),
              UnorderedElementsAre("T1-T3", "T3-T2", "T1-T4", "T2-T4"));
}

TEST_F(Relations, OfConflicts) {
  EXPECT_THAT(pairs("ww[x]"), UnorderedElementsAre("T0-T1", "T0-T3", "T1-T3"));
  EXPECT_THAT(pairs("ww"), UnorderedElementsAre("T0-T1", "T0-T3", "T1-T3"));
  EXPECT_THAT(pairs("rw[x]"), IsEmpty());                   // T3 overwrites what it read itself
  EXPECT_THAT(pairs("rw"), UnorderedElementsAre("T3-T1"));  // y: T3 read T0's, T1 wrote the next
}

TEST_F(Relations, OfSets) {
  EXPECT_THAT(pairs("[writers]"), UnorderedElementsAre("T0-T0", "T1-T1", "T3-T3"));
  EXPECT_THAT(pairs("[writers(x)] & [readers]"), UnorderedElementsAre("T3-T3"));
  EXPECT_THAT(pairs("[readers]"), UnorderedElementsAre("T2-T2", "T3-T3", "T4-T4"));
  EXPECT_THAT(pairs("[aborted]"), UnorderedElementsAre("T4-T4"));
}

TEST_F(Relations, OfOperators) {
  EXPECT_THAT(pairs("wr[x] | wr[x]^-1"), UnorderedElementsAre("T3-T2", "T1-T3", "T2-T3", "T3-T1"));
  EXPECT_THAT(pairs("wr[x]+"), UnorderedElementsAre("T3-T2", "T1-T3", "T1-T2"));
  EXPECT_THAT(pairs("wr[x] ; wr[x]"), UnorderedElementsAre("T1-T2"));
  EXPECT_THAT(pairs("so & wr"), UnorderedElementsAre("T0-T3"));
  EXPECT_THAT(pairs("(wr[x] ; wr[x])*"),
              UnorderedElementsAre("T1-T2", "T0-T0", "T1-T1", "T2-T2", "T3-T3", "T4-T4"));
}

// One write and two reads of x in a session of their own each; co is T0 T1 T2 T3.
class Statements : public ::testing::Test {
 protected:
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1)] s3: [r(x,1)]");

  bool holds(std::string_view formula) const {
    return complaint(with_axiom(formula), h, co_of({0, 1, 2, 3})).empty();
  }
};

TEST_F(Statements, AboutRelations) {
  EXPECT_TRUE(holds("so | wr subset co"));
  EXPECT_FALSE(holds("co subset so | wr"));
  EXPECT_TRUE(holds("acyclic(so | wr)"));
  EXPECT_FALSE(holds("acyclic(wr | wr^-1)"));
  EXPECT_TRUE(holds("irreflexive(co)"));
  EXPECT_FALSE(holds("irreflexive(co*)"));
  EXPECT_TRUE(holds("transitive(co)"));
  EXPECT_FALSE(holds("transitive(so^-1 | so)"));
  EXPECT_TRUE(holds("total(co)"));
  EXPECT_FALSE(holds("total(so | wr)"));  // T2 and T3
  EXPECT_TRUE(holds("empty(po)"));
  EXPECT_FALSE(holds("empty(wr)"));
}

TEST_F(Statements, WithConnectivesAndQuantifiers) {
  EXPECT_TRUE(holds("forall t: txn. exists u: txn. co(t, u) or co(u, t)"));
  EXPECT_FALSE(holds("exists u: txn. forall t: txn. co(t, u)"));
  EXPECT_TRUE(holds("exists u: txn. forall t: txn. t != u implies co(t, u)"));
  EXPECT_TRUE(holds("forall x: key, t: txn. writes(t, x) iff not reads(t, x)"));
  EXPECT_TRUE(holds("exists r, s: read. r != s and not po(r, s)"));
  EXPECT_TRUE(holds("forall x: key, r: read. exists t: txn. wr[x](t, r)"));
  EXPECT_TRUE(holds("forall t, u: txn. t = u implies not co(t, u)"));
  EXPECT_TRUE(holds("forall t, u: txn. so(t, u) implies (wr(t, u) implies co(t, u))"));
  EXPECT_FALSE(holds("forall t: txn. not (exists u: txn. wr(t, u))"));
  EXPECT_FALSE(holds("(exists t: txn. wr(t, t)) or empty(so)"));
}

TEST(Evaluate, NamesTheAxiomAndTheInstance) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1) w(y,1)] s3: [r(y,1) r(x,0)]");
  const Level& cc = **LevelSet::built_in().find("cc");
  const auto failure = evaluate({&cc, {}}, {h, co_of({0, 1, 2, 3})});
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->axiom, "Causal");
  EXPECT_EQ(describe(*failure, h), "axiom Causal of cc fails for x = x, t1 = T0, t2 = T1, t3 = T3");
}

TEST(Evaluate, ShowsAReadAsInstance) {
  const History h = history_of("s1: [w(x,1) w(y,1)] s2: [r(x,1) r(y,0)]");
  const Level& rc = **LevelSet::built_in().find("rc");
  EXPECT_EQ(complaint(rc, h, co_of({0, 1, 2})),
            "axiom ReadCommitted of rc fails for x = y, t1 = T0, t2 = T1, r = r(y,0) of T2, "
            "s = r(x,1) of T2");
}

TEST(Evaluate, ShowsAPairThatContradictsAStatement) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1)]");
  EXPECT_EQ(complaint(with_axiom("empty(wr)"), h, co_of({0, 1, 2})),
            "axiom A of a fails for from = T1, to = T2");
  EXPECT_EQ(complaint(with_axiom("forall x: key. acyclic(wr[x] | co^-1)"), h, co_of({0, 1, 2})),
            "axiom A of a fails for x = x, from = T1, to = T1");
}

TEST(Evaluate, DemandsACommitOrder) {
  const History h = history_of("s1: [w(x,1)] [w(y,1)] s2: [r(x,1)]");
  const Level any = level_of("level a over co");
  EXPECT_EQ(complaint(any, h, co_of({0, 1, 2, 3})), "");
  EXPECT_EQ(complaint(any, h, co_of({0, 1, 2})),
            "co orders each present transaction once fails for t = T3");
  EXPECT_EQ(complaint(any, h, co_of({0, 1, 2, 3, 1})),
            "co orders each present transaction once fails for t = T1");
  EXPECT_EQ(complaint(any, h, co_of({})),
            "co orders each present transaction once fails for t = T0");
  EXPECT_THAT(complaint(any, h, co_of({0, 1, 2, 77})), HasSubstr("transactions of this history"));
  EXPECT_EQ(complaint(any, h, co_of({1, 0, 2, 3})), "T0 comes first in co fails for t = T1");
  EXPECT_EQ(complaint(any, h, co_of({0, 2, 1, 3})), "so ⊆ co fails for t1 = T1, t2 = T2");
  EXPECT_EQ(complaint(any, h, co_of({0, 3, 1, 2})), "wr ⊆ co fails for t1 = T1, t2 = T3");
  EXPECT_EQ(complaint(any, h, vis_of(h, {0, 1, 2, 3}, {})), "the witness is over co fails");
}

TEST(Evaluate, LeavesAbsentTransactionsOut) {
  const History h = history_of("s1: [w(x,1)]? s2: [r(x,0)]! ");
  const Level any = level_of("level a over co axiom A: forall t: txn. exists u: txn. t = u");
  EXPECT_EQ(complaint(any, h, co_of({0, 2})), "");
  EXPECT_EQ(complaint(any, h, co_of({0, 1, 2})),
            "co orders each present transaction once fails for t = T1");
}

TEST(Evaluate, RejectsInexcusableReads) {
  const History h = history_of("s1: [r(x,7)]");
  EXPECT_EQ(complaint(level_of("level a over co"), h, co_of({0, 1})),
            "no read is inexcusable fails for r = r(x,7) of T1");
}

TEST(Evaluate, DemandsVisibilityAndArbitration) {
  const History h = history_of("s1: [w(x,1)] [w(x,2)] s2: [r(x,1)]");
  const Level ra = **LevelSet::built_in().find("ra@vis");
  const auto says = [&](std::initializer_list<std::uint32_t> ar,
                        std::initializer_list<std::pair<std::size_t, std::size_t>> vis) {
    return complaint(ra, h, vis_of(h, ar, vis));
  };
  EXPECT_EQ(says({0, 1, 2, 3}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}), "");
  EXPECT_EQ(says({0, 1, 2, 3}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {3, 2}}),
            "vis ⊆ ar fails for t1 = T3, t2 = T2");
  EXPECT_EQ(says({0, 1, 2, 3}, {{0, 1}, {0, 2}, {0, 3}, {1, 3}}),
            "so ⊆ vis fails for t1 = T1, t2 = T2");
  EXPECT_EQ(says({0, 1, 2, 3}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}}),
            "EXT: the writer is visible fails for r = r(x,1) of T3, t1 = T1, t3 = T3");
  EXPECT_EQ(says({0, 1, 2, 3}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}),
            "EXT: the writer is the last one visible fails for r = r(x,1) of T3, t1 = T1, "
            "t2 = T2, t3 = T3");
  EXPECT_EQ(says({0, 1, 2}, {}), "ar orders each present transaction once fails for t = T3");
}

TEST(Evaluate, AsksNoSessionOrderOfEventualConsistency) {
  const History h = history_of("s1: [w(x,1)] [r(x,0)]");
  const Level& ec = **LevelSet::built_in().find("ec");
  EXPECT_EQ(complaint(ec, h, vis_of(h, {0, 1, 2}, {{0, 2}})), "");
  EXPECT_EQ(complaint(ec, h, vis_of(h, {0, 2, 1}, {{0, 2}})), "");
}

TEST(Evaluate, CompletesAMissingVis) {
  const History h = history_of("s1: [w(x,1)] s2: [r(x,1) w(y,1)] s3: [r(y,1) w(z,1)]");
  const Witness without{Framework::VisAr, order_of({0, 1, 2, 3}), std::nullopt};
  const auto least = [&](std::string_view name) {
    Evaluator evaluator(h, {*LevelSet::built_in().find(name), {}});
    EXPECT_FALSE(evaluator.evaluate(without).has_value());
    return evaluator.least_vis(without.order).count();
  };
  EXPECT_EQ(least("ra@vis"), 5U);   // so from T0, and two of wr
  EXPECT_EQ(least("cc@vis"), 6U);   // T1 to T3 as well
  EXPECT_EQ(least("ser@vis"), 6U);  // all of ar
}

TEST(Evaluate, RejectsAMissingVisOfABadOrder) {
  const History h = history_of("s1: [w(x,1)]");
  const Level& cc = **LevelSet::built_in().find("cc@vis");
  EXPECT_THAT(complaint(cc, h, {Framework::VisAr, order_of({0, 9}), std::nullopt}),
              HasSubstr("transactions of this history"));
}

TEST(Assignments, RequireAnAxiomOnlyOfItsSubject) {
  // T2 and T3 both read x before T1's write although they see T1: only ra forbids that.
  const History h = history_of("s1: [w(x,1) w(y,1)] s2: [r(x,0) r(y,1)] s3: [r(x,0) r(y,1)]");
  const LevelSet& levels = LevelSet::built_in();
  const Level* rc = *levels.find("rc");
  const Level* ra = *levels.find("ra");
  const Witness co = co_of({0, 1, 2, 3});
  EXPECT_FALSE(evaluate({rc, {}}, {h, co}).has_value());
  const auto failure = evaluate({rc, {nullptr, nullptr, nullptr, ra}}, {h, co});
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(describe(*failure, h),
            "axiom ReadAtomic of ra fails for x = x, t1 = T0, t2 = T1, t3 = T3");
  EXPECT_TRUE(evaluate({ra, {nullptr, nullptr, rc, nullptr}}, {h, co}).has_value());
  EXPECT_FALSE(evaluate({ra, {nullptr, nullptr, rc, rc}}, {h, co}).has_value());
}

TEST(Assignments, RequireReadsOfTheirTransaction) {
  const History h = history_of("s1: [w(x,1) w(y,1)] s2: [r(x,1) r(y,0)]");
  const Level* any = *LevelSet::built_in().find("true");
  const Level* rc = *LevelSet::built_in().find("rc");
  EXPECT_FALSE(evaluate({rc, {nullptr, nullptr, any}}, {h, co_of({0, 1, 2})}).has_value());
  EXPECT_TRUE(evaluate({any, {nullptr, nullptr, rc}}, {h, co_of({0, 1, 2})}).has_value());
}

TEST(Assignments, OfWriteConflictsAreTheLaterWriters) {
  const History h = history_of("s1: [r(x,0) w(x,1)] s2: [r(x,0) w(x,2)]");
  const Level* ra = *LevelSet::built_in().find("ra@vis");
  const Level* ua = *LevelSet::built_in().find("ua");
  const Witness t1_first = vis_of(h, {0, 1, 2}, {{0, 1}, {0, 2}});
  EXPECT_FALSE(evaluate({ra, {nullptr, ua, nullptr}}, {h, t1_first}).has_value());
  EXPECT_TRUE(evaluate({ra, {nullptr, nullptr, ua}}, {h, t1_first}).has_value());
}

TEST(Assignments, MixLevelsWithAndWithoutSessionOrder) {
  const History h = history_of("s1: [w(x,1)] [r(x,0)]");
  const Level* ra = *LevelSet::built_in().find("ra@vis");
  const Level* ec = *LevelSet::built_in().find("ec");
  const Witness blind = vis_of(h, {0, 1, 2}, {{0, 1}, {0, 2}});
  EXPECT_FALSE(evaluate({ra, {nullptr, nullptr, ec}}, {h, blind}).has_value());
  EXPECT_TRUE(evaluate({ec, {nullptr, nullptr, ra}}, {h, blind}).has_value());
}

TEST(Assignments, NeedAxiomsWithASubject) {
  const LevelSet& levels = LevelSet::built_in();
  const Level* cc = *levels.find("cc");
  const Level* plume = *levels.find("plume-cc");
  EXPECT_TRUE(check_assignable({plume, {}}).ok());
  EXPECT_TRUE(check_assignable({plume, {nullptr, plume}}).ok());
  const auto mixed = check_assignable({cc, {nullptr, plume}});
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().what,
            "level 'plume-cc' cannot be mixed with others: its axiom 'NoPatternK' is not about "
            "what a single transaction sees");
  EXPECT_THAT(mixed.error().hint, HasSubstr("implies co(t2, t1)"));
}

TEST(Assignments, NeedOneFramework) {
  const LevelSet& levels = LevelSet::built_in();
  const auto mixed = check_assignable({*levels.find("cc"), {nullptr, *levels.find("psi")}});
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().what,
            "cc@co and psi@vis cannot be mixed: they speak of different orders");
}

// Random axioms, histories and orders: agrees with the definition of the language.
TEST(Evaluate, AgreesWithTheDefinition) {
  int true_axioms = 0;
  int false_axioms = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    Rng rng(seed);
    const History h = random_history(rng, {.sessions = 2, .max_txns = 3, .aborted = 0.2});
    std::vector<TxnId> co;
    for (TxnId t : h.txns()) co.push_back(t);
    const std::string text = RandomAxiom(seed, 3).text();
    const Level level = with_axiom(text);
    // The order matters to the axiom; whether it is a commit order does not.
    for (std::size_t i = co.size() - 1; i > 1; --i) std::swap(co[i], co[1 + rng.below(i)]);
    const auto failure = evaluate({&level, {}}, {h, {Framework::Co, co, std::nullopt}});
    if (failure && failure->axiom.empty()) continue;
    const Axiom& axiom = level.axioms[0];
    const bool expected =
        NaiveEvaluator(h, co).holds(*axiom.formula, static_cast<std::size_t>(axiom.slots));
    ++(expected ? true_axioms : false_axioms);
    ASSERT_EQ(!failure.has_value(), expected) << "seed " << seed << ": " << text;
  }
  EXPECT_GT(true_axioms, 300);
  EXPECT_GT(false_axioms, 300);
}

}  // namespace
}  // namespace isoscope
