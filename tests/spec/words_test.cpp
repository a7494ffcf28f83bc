// What the language has besides plain relations: `r?`, lets with parameters, names of levels,
// co without so or wr, words about statements.
#include "spec/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "spec/print.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

Result<Level> word_level(std::string_view text) {
  LevelSet levels = LevelSet::built_in();
  if (auto added = levels.add(text, "my.level"); !added) return added.error();
  return *levels.all().back();
}

std::string word_error(std::string_view text) {
  const auto level = word_level(text);
  return level ? "no error" : render(level.error());
}

std::string word_axiom(std::string_view text) {
  const auto level = word_level(text);
  return level ? print(*level->axioms.at(0).formula) : render(level.error());
}

bool word_allows(std::string_view text, std::string_view hist) {
  const auto level = word_level(text);
  EXPECT_TRUE(level.ok()) << word_error(text);
  return BruteForce(history_of(hist)).decide(*level).has_value();
}

TEST(Words, HaveTheReflexiveClosureAsAUnionWithIdentity) {
  EXPECT_EQ(word_axiom("level a over co axiom A: so? subset co?"),
            "so | (so \\ so)* subset co | (so \\ so)*");
  EXPECT_EQ(word_axiom("level a over co axiom A: empty(po?)"), "empty(po | (po \\ po)*)");
  EXPECT_TRUE(word_allows("level a over co axiom A: forall t: txn. co?(t, t)", "s1: [w(x,1)]"));
  EXPECT_FALSE(
      word_allows("level a over co axiom A: exists t: txn. (co \\ co?)(t, t)", "s1: [w(x,1)]"));
  EXPECT_THAT(word_error("level a over co axiom A: empty((wr ; po)?)"), HasSubstr("closure"));
}

TEST(Words, ExpandLetsWithParameters) {
  EXPECT_EQ(word_axiom("level a over co let f(r, s) = (r ; s)+ axiom A: acyclic(f(so, wr | co))"),
            "acyclic((so ; (wr | co))+)");
  EXPECT_EQ(word_axiom("level a over co let f(r) = r | wr let g(r) = f(f(r)) ; r\n"
                       "axiom A: forall t, u: txn. g(so)(t, u) implies co(t, u)"),
            "forall t, u: txn. ((so | wr | wr) ; so)(t, u) implies co(t, u)");
  EXPECT_EQ(word_axiom("level a over co let f(r) = r axiom A: forall x: key. empty(f(wr[x]))"),
            "forall x: key. empty(wr[x])");
}

TEST(Words, ExplainWrongUsesOfLets) {
  EXPECT_THAT(word_error("level a over co\nlet f(r) = r\naxiom A: empty(f)"),
              HasSubstr("my.level:3:16: error: 'f' takes 1 relation, found 0"));
  EXPECT_THAT(word_error("level a over co\nlet f(r) = r\naxiom A: empty(f(so, wr))"),
              HasSubstr("'f' takes 1 relation, found 2"));
  EXPECT_THAT(word_error("level a over co\nlet f(r) = r\naxiom A: f(so)"),
              HasSubstr("expected a formula, found"));
  EXPECT_THAT(word_error("level a over co\nlet f(r, r) = r"), HasSubstr("two parameters"));
  EXPECT_THAT(word_error("level a over co\nlet f(r) = s"), HasSubstr("unknown relation 's'"));
  EXPECT_THAT(word_error("level a over co\nlet h = so\nlet f(h) = h"),
              HasSubstr("'h' already has a meaning here"));
}

TEST(Words, BoundWhatLetsExpandTo) {
  std::string text = "level a over co\nlet f0(r) = r ; r\n";
  for (int i = 1; i < 20; ++i)
    text += "let f" + std::to_string(i) + "(r) = f" + std::to_string(i - 1) + "(f" +
            std::to_string(i - 1) + "(r))\n";
  EXPECT_THAT(word_error(text + "axiom A: empty(f19(so))"),
              HasSubstr("once its lets are expanded"));
}

TEST(Words, NameLevelsWithSigns) {
  LevelSet levels = LevelSet::built_in();
  const auto added =
      levels.add("level PL-2+ over co level PL-2.99 over co extends PL-2+ level a+b over co", "my");
  ASSERT_TRUE(added.ok()) << render(added.error());
  EXPECT_EQ((*levels.find("pl-2+"))->name, "pl-2+");
  EXPECT_EQ((*levels.find("PL-2.99@co"))->full_name(), "pl-2.99@co");
  EXPECT_TRUE(levels.find("a+b").ok());
  EXPECT_THAT(word_error("level a. over co"), HasSubstr("the rest of the level's name after '.'"));
  EXPECT_THAT(word_error("level a over co axiom A: empty(2)"), HasSubstr("a number cannot stand"));
}

TEST(Words, LeaveSessionOrderOutOfCo) {
  const char* stale = "s1: [w(x,1)] [r(x,0)]";
  EXPECT_FALSE(word_allows("level a over co extends ser", stale));
  const char* serial =
      "level a over co without so axiom A: forall x: key, t1, t2, t3: txn.\n"
      "wr[x](t1, t3) and writes(t2, x) and t1 != t2 and co(t2, t3) implies co(t2, t1)";
  EXPECT_TRUE(word_allows(serial, stale));
  EXPECT_EQ(print(*word_level("level a over co, snap without so")),
            "level a over co, snap without so\n");
}

TEST(Words, LeaveWrOutOfCo) {
  const char* circular = "s1: [r(y,1) w(x,1)] s2: [r(x,1) w(y,1)]";
  EXPECT_FALSE(word_allows("level a over co", circular));
  EXPECT_TRUE(word_allows("level G0 over co, wr free without so axiom A: acyclic(ww)", circular));
  EXPECT_FALSE(
      word_allows("level G1c over co, wr free without so axiom A: acyclic(ww | wr)", circular));
  EXPECT_EQ(print(*word_level("level a over co, wr free")), "level a over co, wr free\n");
  EXPECT_THAT(word_error("level a over co, wr free extends cc"), HasSubstr("cannot be free of wr"));
}

TEST(Words, SayWhichFrameworkHasSnapshots) {
  EXPECT_THAT(word_error("level a over co axiom A: forall t: txn, r: read. snap(t, r)"),
              HasSubstr("to speak of snapshots declare the level 'over co, snap'"));
  EXPECT_THAT(word_error("level a over co, snap axiom A: empty(vis)"),
              HasSubstr("a level over co, snap knows no 'vis'"));
  EXPECT_THAT(word_error("level a over co, snap axiom A: forall t: txn. current(t)"),
              HasSubstr("'current' expects a read here, found 't', a txn"));
  EXPECT_THAT(word_error("level a over co, free"), HasSubstr("'snap' or 'wr free' after 'co,'"));
  EXPECT_THAT(word_error("level a over co, snap axiom A: snap subset of"), HasSubstr("do not fit"));
}

TEST(Words, KnowAxiomsByWhatTheySay) {
  const auto canonical = [](std::string_view formula) {
    const auto level = word_level("level a over co, snap axiom A: " + std::string(formula));
    return level ? level->axioms[0].canonical : render(level.error());
  };
  EXPECT_EQ(canonical("forall r: read, u, t: txn. of(r, u) and so(t, u) implies snap(t, r)"),
            canonical("forall a, b: txn, c: read. of(c, b) and so(a, b) implies snap(a, c)"));
  EXPECT_NE(canonical("forall r: read, u, t: txn. of(r, u) and so(t, u) implies snap(t, r)"),
            canonical("forall r: read, u, t: txn. of(r, u) and so(u, t) implies snap(t, r)"));
}

}  // namespace
}  // namespace isoscope
