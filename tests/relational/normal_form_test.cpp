#include "relational/normal_form.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/levels.h"

namespace isoscope {
namespace {

using Kind = NormalNode::Kind;

class NormalFormTest : public testing::Test {
 protected:
  NormalForm form(const std::string& formula) {
    LevelSet set;
    const auto added = set.add("level l over co\naxiom A: " + formula + "\n", "test.level");
    EXPECT_TRUE(added.ok()) << render(added.error());
    level_ = set.all().front();
    return normalize(level_->axioms.front());
  }

 private:
  std::shared_ptr<const Level> level_;
};

TEST_F(NormalFormTest, MakesAFamilyOfAForall) {
  const NormalForm f =
      form("forall x: key. forall t, u: txn. writes(t, x) and so(t, u) implies co(t, u)");
  ASSERT_EQ(f.parts.size(), 1U);
  const NormalNode& family = f.parts.front();
  EXPECT_EQ(family.kind, Kind::Exists);
  EXPECT_TRUE(family.negated);
  EXPECT_EQ(family.variables.size(), 3U);  // both quantifiers in one
  ASSERT_EQ(family.children.size(), 3U);
  EXPECT_TRUE(family.children[2].negated);  // the conclusion, denied
  EXPECT_TRUE(family.free.empty());
}

TEST_F(NormalFormTest, SplitsConjunctions) {
  EXPECT_EQ(form("acyclic(so) and irreflexive(wr) and total(co)").parts.size(), 3U);
  EXPECT_EQ(form("not (empty(so) or empty(wr))").parts.size(), 2U);
}

TEST_F(NormalFormTest, KeepsAcyclicOnlyWhereItsTruthIsUsed) {
  EXPECT_EQ(form("acyclic(so | ww)").parts.front().kind, Kind::Acyclic);
  EXPECT_EQ(form("irreflexive((so | ww)+)").parts.front().kind, Kind::Acyclic);
  EXPECT_EQ(form("not acyclic(so | ww)").parts.front().kind, Kind::Exists);
  EXPECT_EQ(form("not not acyclic(so | ww)").parts.front().kind, Kind::Acyclic);
  const NormalForm iff = form("acyclic(so | ww) iff empty(rw)");
  EXPECT_EQ(iff.parts.front().children.front().kind, Kind::Exists);
  const NormalForm inside = form("forall t: txn. so(t, t) or acyclic(ww)");
  EXPECT_EQ(inside.parts.front().children.back().kind, Kind::Acyclic);
  const NormalForm premise = form("forall t: txn. acyclic(ww) implies so(t, t)");
  EXPECT_EQ(premise.parts.front().children.front().kind, Kind::Exists);
}

TEST_F(NormalFormTest, KnowsWhichBuiltInLevelsAreMonotone) {
  for (const auto& level : LevelSet::built_in().all()) {
    const bool denies =
        level->name == "nlu" || level->name == "pg-ser" || level->name == "mysql-rr";
    for (const Axiom& axiom : level->axioms) {
      if (denies && axiom.name != "NoLostUpdate" && axiom.name != "Serializable" &&
          axiom.name != "Waits")
        continue;
      EXPECT_EQ(is_monotone(normalize(axiom)), !denies) << level->full_name();
    }
  }
}

TEST_F(NormalFormTest, DistrustsWhateverAsksForExistence) {
  EXPECT_TRUE(is_monotone(form("acyclic(so ; rw | ww)")));
  EXPECT_TRUE(is_monotone(form("so ; wr subset co")));
  EXPECT_TRUE(is_monotone(form("total(co*)")));
  EXPECT_FALSE(is_monotone(form("exists t: txn. co(t, t)")));
  EXPECT_FALSE(is_monotone(form("ww subset so ; wr")));
  EXPECT_FALSE(is_monotone(form("ww subset (so | wr)+")));
  EXPECT_FALSE(is_monotone(form("co \\ (so ; so) subset so")));
  EXPECT_FALSE(is_monotone(form("not acyclic(ww)")));
  EXPECT_FALSE(is_monotone(form("forall t: txn, x: key. writes(t, x) implies reads(t, x)")));
  EXPECT_FALSE(is_monotone(form("empty(rw) iff empty(ww)")));
}

}  // namespace
}  // namespace isoscope
