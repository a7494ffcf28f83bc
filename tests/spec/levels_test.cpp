#include "spec/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::string> axiom_names(const Level& level) {
  std::vector<std::string> names;
  for (const Axiom& axiom : level.axioms) names.push_back(axiom.name);
  return names;
}

const Level& built_in(std::string_view name) { return **LevelSet::built_in().find(name); }

TEST(BuiltInLevels, AreAllThere) {
  std::vector<std::string> names;
  for (const auto& level : LevelSet::built_in().all()) names.push_back(level->full_name());
  EXPECT_THAT(
      names,
      UnorderedElementsAre(
          "true@co", "rc@co", "ra@co", "cc@co", "pc@co", "si@co", "ser@co", "update-ser@co",
          "plume-ra@co", "plume-cc@co", "ra@vis", "cc@vis", "pc@vis", "ua@vis", "psi@vis", "si@vis",
          "ser@vis", "update-ser@vis", "nlu@vis", "ec@vis", "rc@snap", "pc@snap", "si@snap",
          "ser@snap", "pg-rc@snap", "pg-rr@snap", "pg-ser@snap", "mysql-rc@snap", "mysql-rr@snap",
          "strict-rc@co", "strict-ra@co", "strict-ra@vis", "strict-cc@co", "strict-cc@vis",
          "strict-pc@co", "strict-pc@vis", "strict-ua@vis", "strict-psi@vis", "strong-si@co",
          "strong-si@vis", "strict-ser@co", "strict-ser@vis"));
}

TEST(BuiltInLevels, SayWhatTheyMeanAndWhoDefinedThem) {
  for (const auto& level : LevelSet::built_in().all()) {
    EXPECT_FALSE(level->summary.empty()) << level->full_name();
    EXPECT_TRUE(level->built_in);
    EXPECT_THAT(level->text, HasSubstr("level " + level->name + " over"));
  }
  EXPECT_EQ(built_in("cc").summary, "Causal Consistency [BiswasEnea-OOPSLA'19]");
  EXPECT_EQ(built_in("plume-cc").summary,
            "Plume's causal consistency: m and n are absent as well.");
}

TEST(BuiltInLevels, InheritTheAxiomsOfWhatTheyExtend) {
  EXPECT_THAT(axiom_names(built_in("si@co")), ElementsAre("Prefix", "Conflict"));
  EXPECT_THAT(axiom_names(built_in("si@vis")), ElementsAre("Prefix", "NoConflict"));
  EXPECT_THAT(axiom_names(built_in("psi")), ElementsAre("TransVis", "NoConflict"));
  EXPECT_EQ(built_in("si@co").axioms[0].level, "pc");
  EXPECT_EQ(built_in("si@co").axioms[0].formula, built_in("pc@co").axioms[0].formula);
  EXPECT_TRUE(built_in("true").axioms.empty());
  EXPECT_TRUE(built_in("ra@vis").axioms.empty());
}

// All but the absence of Plume's patterns and of cycles constrain what one transaction sees; over
// co, real time is a demand on the order alone.
TEST(BuiltInLevels, KnowTheSubjectOfTheirAxioms) {
  for (const auto& level : LevelSet::built_in().all()) {
    for (const Axiom& axiom : level->axioms) {
      const bool is_global = level->name.starts_with("plume") || axiom.name == "Serializable" ||
                             (axiom.name == "RealTime" && level->framework == Framework::Co);
      EXPECT_EQ(axiom.subject.has_value(), !is_global) << level->full_name() << " " << axiom.name;
    }
  }
  const auto subject = [](std::string_view level, std::size_t axiom) {
    return built_in(level).axioms[axiom].subject->name;
  };
  EXPECT_EQ(subject("rc", 0), "r");
  EXPECT_EQ(built_in("rc").axioms[0].subject->sort, Sort::Read);
  EXPECT_EQ(subject("cc@co", 0), "t3");
  EXPECT_EQ(subject("si@co", 1), "t3");
  EXPECT_EQ(subject("cc@vis", 0), "t3");
  EXPECT_EQ(subject("ua", 0), "t2");
  EXPECT_EQ(subject("nlu", 0), "t2");
}

TEST(BuiltInLevels, OfEventualConsistencyHasNoSessionOrder) {
  for (const auto& level : LevelSet::built_in().all())
    EXPECT_EQ(level->uses_session_order, level->name != "ec") << level->full_name();
}

TEST(LevelSet, FindsByNameInAnyCase) {
  EXPECT_EQ(built_in("CC").full_name(), "cc@co");
  EXPECT_EQ(built_in("Update-SER@VIS").full_name(), "update-ser@vis");
}

TEST(LevelSet, TakesABareNameOverCoWhereDefined) {
  const LevelSet& levels = LevelSet::built_in();
  EXPECT_EQ((*levels.find("si"))->framework, Framework::Co);
  EXPECT_EQ((*levels.find("psi"))->framework, Framework::VisAr);
  EXPECT_EQ((*levels.find("si", Framework::VisAr))->framework, Framework::VisAr);
  EXPECT_EQ((*levels.find("rc", Framework::VisAr))->framework, Framework::Co);
}

TEST(LevelSet, KnowsTheNamesThatPeopleUse) {
  const LevelSet& levels = LevelSet::built_in();
  const std::pair<const char*, const char*> aliases[] = {{"read-committed", "rc@co"},
                                                         {"read-atomic", "ra@co"},
                                                         {"causal", "cc@co"},
                                                         {"prefix", "pc@co"},
                                                         {"Snapshot-Isolation", "si@co"},
                                                         {"SERIALIZABLE", "ser@co"},
                                                         {"serializable@vis", "ser@vis"},
                                                         {"Causal@VIS", "cc@vis"}};
  for (const auto& [alias, name] : aliases) {
    const auto level = levels.find(alias);
    ASSERT_TRUE(level) << alias;
    EXPECT_EQ((*level)->full_name(), name);
  }
  EXPECT_EQ(levels.find("serializabel").error().hint, "did you mean 'serializable'?");
  EXPECT_THAT(levels.find("Repeatable-Read").error().what, ::testing::HasSubstr("different"));
}

TEST(LevelSet, PrefersALevelOfTheUsersToAnAlias) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(
      levels.add("level mine over co extends snapshot-isolation\n"
                 "level causal over co extends ser\n"
                 "level repeatable-read over co extends causal\n",
                 "my.level"));
  EXPECT_EQ((*levels.find("mine"))->axioms.size(), (*levels.find("si"))->axioms.size());
  EXPECT_EQ((*levels.find("causal"))->name, "causal");
  EXPECT_EQ((*levels.find("repeatable-read"))->axioms.front().name,
            (*levels.find("ser"))->axioms.front().name);
}

TEST(LevelSet, SuggestsAKnownName) {
  const auto unknown = LevelSet::built_in().find("updat-ser");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().what, "unknown level 'updat-ser'");
  EXPECT_EQ(unknown.error().hint, "did you mean 'update-ser'?");
  const auto strange = LevelSet::built_in().find("zzzzzz");
  ASSERT_FALSE(strange.ok());
  EXPECT_THAT(strange.error().hint, HasSubstr("known: true, rc, ra"));
}

TEST(LevelSet, SaysWhereANameIsDefined) {
  const auto rc = LevelSet::built_in().find("rc@vis");
  ASSERT_FALSE(rc.ok());
  EXPECT_EQ(rc.error().what, "level 'rc' is not defined over vis, ar");
  EXPECT_EQ(rc.error().hint, "it is defined over co: write rc@co");
  const auto other = LevelSet::built_in().find("cc@mars");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().what, "unknown framework 'mars' in 'cc@mars'");
}

TEST(LevelSet, TakesUserLevelsThatExtendBuiltInOnes) {
  LevelSet levels = LevelSet::built_in();
  const Level* cc = *levels.find("cc");
  const auto added = levels.add("level Mine over co extends cc\naxiom A: empty(so \\ co)", "m");
  ASSERT_TRUE(added.ok()) << render(added.error());
  const Level& mine = **levels.find("mine");
  EXPECT_THAT(axiom_names(mine), ElementsAre("Causal", "A"));
  EXPECT_FALSE(mine.built_in);
  EXPECT_EQ(*levels.find("cc"), cc) << "pointers stay valid when levels are added";
  EXPECT_FALSE(LevelSet::built_in().find("mine").ok());
}

TEST(LevelSet, AddsAllLevelsOfATextOrNone) {
  LevelSet levels = LevelSet::built_in();
  EXPECT_FALSE(levels.add("level one over co level two over co axiom A: empty(", "m").ok());
  EXPECT_FALSE(levels.find("one").ok());
}

struct BadSet {
  const char* text;
  Place place;
  const char* what;
  const char* hint;
  friend void PrintTo(const BadSet& bad, std::ostream* out) { *out << bad.text; }
};

class LevelSetErrors : public ::testing::TestWithParam<BadSet> {};

TEST_P(LevelSetErrors, HavePlaceAndHint) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(GetParam().text, "my.level");
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().where, GetParam().place) << render(added.error());
  EXPECT_THAT(added.error().what, HasSubstr(GetParam().what));
  EXPECT_THAT(added.error().hint, HasSubstr(GetParam().hint));
  EXPECT_EQ(added.error().file, "my.level");
}

INSTANTIATE_TEST_SUITE_P(
    All, LevelSetErrors,
    ::testing::Values(
        BadSet{"level cc over co", {1, 7}, "level 'cc' over co already exists", "built in"},
        BadSet{"level a over co\nlevel A over co",
               {2, 7},
               "level 'a' over co already exists",
               "another name"},
        BadSet{"level a over co extends ccc", {1, 25}, "unknown level 'ccc'", "did you mean 'cc'"},
        BadSet{"level a over co extends psi",
               {1, 25},
               "'psi' is not defined over co",
               "only over vis, ar"},
        BadSet{"level a over co extends b level b over co", {1, 25}, "unknown level 'b'", ""},
        BadSet{"level a over co extends cc axiom Causal: empty(so)",
               {1, 34},
               "level 'a' has two axioms 'Causal'",
               "it inherits one from 'cc'"},
        BadSet{"level a over co\naxiom A: empty(so)\naxiom A: empty(so)",
               {3, 7},
               "two axioms 'A'",
               "the first one is on line 2"},
        BadSet{"level a over vis, ar extends pc level b over vis, ar\naxiom Prefix: empty(so)\n"
               "level c over vis, ar extends a, b",
               {3, 33},
               "'pc' and 'b' have different axioms of the name 'Prefix'",
               "another name"},
        BadSet{"level a over co without so extends cc",
               {1, 17},
               "extends 'cc', which has it",
               "at least as strong"},
        BadSet{"level a over vis, ar without so extends ra",
               {1, 22},
               "extends 'ra', which has it",
               "at least as strong"}));

TEST(Describe, ShowsTextInheritedAxiomsAndDemands) {
  EXPECT_EQ(describe(built_in("si@vis")),
            "si@vis: Snapshot Isolation [CeroneBernardiGotsman-CONCUR'15]\n"
            "\n"
            "level si over vis, ar extends pc, ua\n"
            "\n"
            "# inherited from pc\n"
            "axiom Prefix: forall t1, t2, t3: txn.\n"
            "    ar(t1, t2) and vis(t2, t3)  implies  vis(t1, t3)\n"
            "\n"
            "# inherited from ua\n"
            "axiom NoConflict: forall x: key, t1, t2: txn.\n"
            "    writes(t1, x) and writes(t2, x) and ar(t1, t2)  implies  vis(t1, t2)\n"
            "\n"
            "Its witness:\n"
            "  ar   a strict total order of the transactions, T0 first\n"
            "  vis  so ⊆ vis ⊆ ar; each external read of x shows the ar-greatest writer of x\n"
            "       that vis lets its transaction see\n");
  EXPECT_THAT(describe(built_in("cc")), HasSubstr("T0 first, that contains so and wr\n"));
  EXPECT_THAT(describe(built_in("plume-ra")), HasSubstr("A level for whole histories"));
  EXPECT_THAT(describe(built_in("ec")), HasSubstr("whatever so is"));
}

TEST(LevelSet, InheritsTheAbsenceOfSessionOrder) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(
      levels.add("level a over vis, ar extends ec level b over vis, ar extends ec, ra", "m"));
  EXPECT_FALSE((*levels.find("a"))->uses_session_order);
  EXPECT_TRUE((*levels.find("b"))->uses_session_order);
}

}  // namespace
}  // namespace isoscope
