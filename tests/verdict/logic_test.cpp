#include "verdict/logic.h"

#include <gtest/gtest.h>

#include "spec/levels.h"

namespace isoscope {
namespace {

// The logic of the last level of a text.
std::optional<Logic> logic_in(std::string_view text) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(text, "my.level");
  EXPECT_TRUE(added.ok()) << render(added.error());
  return logic_of(*levels.all().back());
}

TEST(Logic, OfBuiltInLevelsIsTheirName) {
  for (const auto& level : LevelSet::built_in().all()) {
    const auto logic = logic_of(*level);
    EXPECT_EQ(logic ? name_of(*logic) : level->name, level->name) << level->full_name();
    EXPECT_FALSE(logic && level->framework == Framework::CoSnap) << level->full_name();
  }
  EXPECT_EQ(logic_of(**LevelSet::built_in().find("si")), Logic::Si);
}

TEST(Logic, IsRecognisedByAxiomsNotByNames) {
  EXPECT_EQ(logic_in("level mysi over co extends si"), Logic::Si);
  EXPECT_EQ(logic_in("level mine over vis, ar extends ua, cc"), Logic::Psi);
  EXPECT_EQ(logic_in("level anything over co"), Logic::True);
  EXPECT_EQ(logic_in("level atomic over vis, ar"), Logic::Ra);
  EXPECT_EQ(
      logic_in("level c over co let before = (so | wr)+ axiom Mine: forall a, b, c: txn, k: key.\n"
               "wr[k](a, c) and writes(b, k) and a != b and before(b, c) implies co(b, a)"),
      Logic::Cc);
}

// The axiom of pc, in words of the user's.
constexpr const char* kPrefix =
    "axiom P: forall k: key, a, b, c: txn. wr[k](a, c) and writes(b, k) and a != b and"
    " (co*; (wr | so))(b, c) implies co(b, a)";

TEST(Logic, IsRecognisedInAnyOrderOfWhatCommutes) {
  EXPECT_EQ(logic_in(std::string("level mine over co ") + kPrefix +
                     " axiom Q: forall d: txn, l: key, c, b, a: txn, k: key."
                     " d != d or (writes(d, l) and writes(c, l) and co(d, c) and co*(b, d)"
                     " and b != a and (writes(b, k) and wr[k](a, c))) implies co(b, a)"),
            std::nullopt);
  EXPECT_EQ(logic_in(std::string("level mine over co ") + kPrefix +
                     " axiom Q: forall d: txn, l: key, c, b, a: txn, k: key."
                     " writes(d, l) and writes(c, l) and co(d, c) and co*(b, d)"
                     " and b != a and (writes(b, k) and wr[k](a, c)) implies co(b, a)"),
            Logic::Si);
  // The last writer before it of another key: what looks alike is not the same.
  EXPECT_EQ(logic_in(std::string("level mine over co ") + kPrefix +
                     " axiom Q: forall d: txn, l: key, c, b, a: txn, k: key."
                     " writes(d, k) and writes(c, l) and co(d, c) and co*(b, d)"
                     " and b != a and (writes(b, l) and wr[k](a, c)) implies co(b, a)"),
            std::nullopt);
}

TEST(Logic, IsSeenBesideAxiomsThatFollowFromIt) {
  EXPECT_EQ(logic_in(std::string("level mine over co extends cc ") + kPrefix), Logic::Pc);
  EXPECT_EQ(logic_in("level mine over vis, ar extends ser, ua, pc"), Logic::Ser);
  EXPECT_EQ(logic_in("level mine over co extends rc, ra"), Logic::Ra);
  EXPECT_EQ(logic_in("level mine over vis, ar extends ua, pc, psi"), Logic::Si);
}

TEST(Logic, IsNotSeenWhereTheTextSaysMore) {
  EXPECT_FALSE(logic_in("level a over co extends si axiom B: acyclic(ww)"));
  EXPECT_FALSE(logic_in("level a over co without so"));
  EXPECT_FALSE(logic_in("level a over co, wr free"));
  EXPECT_FALSE(logic_in("level a over vis, ar without so"));
  EXPECT_FALSE(logic_in("level a over co, snap extends pc"));
}

TEST(SnapRules, AreRecognisedByAxiomsNotByNames) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level mine over co, snap extends pg-rr\n"
                       "level half over co, snap\n"
                       "axiom Back: forall t: txn, r, s: read. po(r, s) and snap(t, s)"
                       " implies snap(t, r)\n",
                       "my.level")
                  .ok());
  const auto rules = snap_rules_of(**levels.find("mine"));
  ASSERT_TRUE(rules.has_value());
  EXPECT_TRUE(rules->one && rules->monotone && rules->session && rules->first_updater);
  EXPECT_FALSE(rules->waits || rules->serial || rules->latest);
  EXPECT_FALSE(snap_rules_of(**levels.find("half")));  // snapshots that only shrink
  EXPECT_FALSE(snap_rules_of(**levels.find("si@co")));
  EXPECT_EQ(axiom_with(**levels.find("mine"), &SnapRules::first_updater), "FirstUpdater");
}

}  // namespace
}  // namespace isoscope
