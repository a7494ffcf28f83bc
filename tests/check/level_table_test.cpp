#include "check/level_table.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/levels.h"

namespace isoscope {
namespace {

class LevelTable : public ::testing::Test {
 protected:
  // The last level of a text.
  const Level& declared(std::string_view text) {
    levels_ = LevelSet::built_in();
    const auto added = levels_.add(text, "my.level");
    EXPECT_TRUE(added.ok()) << render(added.error());
    return *levels_.all().back();
  }
  static const Level& built_in(std::string_view name) { return **LevelSet::built_in().find(name); }

 private:
  LevelSet levels_ = LevelSet::built_in();
};

TEST_F(LevelTable, HasARowForEveryLogic) {
  ASSERT_EQ(logic_rows().size(), kNumLogics);
  for (std::size_t i = 0; i < kNumLogics; ++i)
    EXPECT_EQ(logic_rows()[i].logic, static_cast<Logic>(i));
}

TEST_F(LevelTable, HasALevelForEveryRow) {
  for (const LogicRow& row : logic_rows()) {
    const auto level = LevelSet::built_in().find(name_of(row.logic));
    ASSERT_TRUE(level.ok()) << name_of(row.logic);
    EXPECT_EQ(logic_of(**level), row.logic);
    EXPECT_EQ(&row_of(row.logic), &row);
    EXPECT_NE(weak_level(row.logic).has_value(), strong_level(row.logic).has_value());
  }
}

TEST_F(LevelTable, KnowsStrictFormsByWhatTheySay) {
  int strict = 0;
  for (const auto& level : LevelSet::built_in().all()) {
    const auto logic = strict_logic_of(*level);
    if (!level->uses_real_time) {
      EXPECT_FALSE(logic.has_value()) << level->full_name();
      continue;
    }
    ++strict;
    ASSERT_TRUE(logic.has_value()) << level->full_name();
    EXPECT_FALSE(logic_of(*level).has_value()) << level->full_name();
    EXPECT_TRUE(level->name.ends_with("-" + std::string(name_of(*logic)))) << level->full_name();
  }
  EXPECT_EQ(strict, 13);
  // Commits in the order of time, and sessions seen: that is less than strict.
  EXPECT_FALSE(strict_logic_of(declared("level a over co extends si axiom RealTime: forall t1, t2: "
                                        "txn. rt(t1, t2) implies co(t1, t2)"))
                   .has_value());
  EXPECT_FALSE(strict_logic_of(declared("level a over co axiom RealTime: forall t1, t2: txn. "
                                        "rt(t1, t2) implies co(t1, t2)"))
                   .has_value());
}

TEST_F(LevelTable, KnowsAxiomsInAnyOrderOfTheirParts) {
  EXPECT_EQ(
      logic_of(declared("level a over co let hb = (wr | so)+ axiom C: forall c, b, a: txn, k: "
                        "key. hb(b, c) and a != b and writes(b, k) and wr[k](a, c) implies "
                        "co(b, a)")),
      Logic::Cc);
  EXPECT_FALSE(
      logic_of(declared("level a over co let hb = (wr & so)+ axiom C: forall c, b, a: txn, "
                        "k: key. hb(b, c) and a != b and writes(b, k) and wr[k](a, c) "
                        "implies co(b, a)"))
          .has_value());
}

TEST_F(LevelTable, ComputesWeakBases) {
  EXPECT_EQ(weak_base(Logic::True), WeakLevel::True);
  EXPECT_EQ(weak_base(Logic::Rc), WeakLevel::Rc);
  EXPECT_EQ(weak_base(Logic::Ua), WeakLevel::Ra);
  for (const Logic logic : {Logic::Cc, Logic::Pc, Logic::Psi, Logic::Si, Logic::Ser})
    EXPECT_EQ(weak_base(logic), WeakLevel::Cc);
}

TEST_F(LevelTable, ImpliesByLogicsAndByAxioms) {
  EXPECT_TRUE(implies(built_in("ser"), built_in("rc")));
  EXPECT_TRUE(implies(built_in("si@vis"), built_in("pc@co")));
  EXPECT_FALSE(implies(built_in("psi"), built_in("pc")));
  EXPECT_FALSE(implies(built_in("pc"), built_in("psi")));
  EXPECT_TRUE(implies(built_in("strict-ser"), built_in("strong-si")));
  EXPECT_TRUE(implies(built_in("strong-si"), built_in("si")));
  EXPECT_FALSE(implies(built_in("ser"), built_in("strong-si")));
  EXPECT_TRUE(implies(built_in("pg-ser"), built_in("pg-rr")));
  EXPECT_FALSE(implies(built_in("pg-rr"), built_in("pg-ser")));
  EXPECT_TRUE(implies(built_in("ra@vis"), built_in("ec")));
  EXPECT_FALSE(implies(built_in("ec"), built_in("ra@vis")));
  EXPECT_TRUE(implies(declared("level mine over co extends update-ser axiom More: acyclic(ww)"),
                      built_in("update-ser")));
}

TEST_F(LevelTable, LeavesOneOfEquivalentLevels) {
  const std::vector<const Level*> levels = {&built_in("si@co"), &built_in("si@vis"),
                                            &built_in("psi"), &built_in("update-ser")};
  EXPECT_EQ(strongest_of(levels),
            (std::vector<const Level*>{&built_in("si@co"), &built_in("update-ser")}));
}

}  // namespace
}  // namespace isoscope
