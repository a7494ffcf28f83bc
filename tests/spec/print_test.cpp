#include "spec/print.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "spec/levels.h"
#include "spec/parser.h"
#include "spec/random_axiom.h"

namespace isoscope {
namespace {

bool same(const RelationPtr& a, const RelationPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  const auto key = [](const RelationExpr& r) { return r.key ? r.key->slot : -1; };
  return a->op == b->op && a->from == b->from && a->to == b->to && key(*a) == key(*b) &&
         a->set == b->set && same(a->left, b->left) && same(a->right, b->right);
}

bool same(const FormulaPtr& a, const FormulaPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  const auto slot = [](const std::optional<Variable>& v) { return v ? v->slot : -1; };
  if (a->op != b->op || a->variables.size() != b->variables.size()) return false;
  for (std::size_t i = 0; i < a->variables.size(); ++i) {
    if (a->variables[i].slot != b->variables[i].slot ||
        a->variables[i].sort != b->variables[i].sort ||
        a->variables[i].name != b->variables[i].name)
      return false;
  }
  return slot(a->a) == slot(b->a) && slot(a->b) == slot(b->b) && same(a->relation, b->relation) &&
         same(a->other, b->other) && same(a->left, b->left) && same(a->right, b->right);
}

// The axioms of `printed`, read back under another name.
void expect_same_when_read_back(const Level& level) {
  LevelSet levels;
  const std::string printed = print(level);
  const auto added = levels.add(printed, "printed");
  ASSERT_TRUE(added.ok()) << render(added.error()) << "\n" << printed;
  const Level& read_back = *levels.all().at(0);
  EXPECT_EQ(read_back.uses_session_order, level.uses_session_order);
  ASSERT_EQ(read_back.axioms.size(), level.axioms.size());
  for (std::size_t i = 0; i < level.axioms.size(); ++i) {
    EXPECT_TRUE(same(read_back.axioms[i].formula, level.axioms[i].formula)) << printed;
    EXPECT_EQ(read_back.axioms[i].slots, level.axioms[i].slots);
    EXPECT_EQ(read_back.axioms[i].subject.has_value(), level.axioms[i].subject.has_value());
  }
}

TEST(Print, RoundTripsBuiltInLevels) {
  for (const auto& level : LevelSet::built_in().all()) expect_same_when_read_back(*level);
}

TEST(Print, WritesInheritedAxiomsOut) {
  EXPECT_EQ(
      print(**LevelSet::built_in().find("psi")),
      "level psi over vis, ar\n"
      "axiom TransVis: forall t1, t2, t3: txn. vis(t1, t2) and vis(t2, t3) implies vis(t1, t3)\n"
      "axiom NoConflict: forall x: key, t1, t2: txn. writes(t1, x) and writes(t2, x) and "
      "ar(t1, t2) implies vis(t1, t2)\n");
  EXPECT_EQ(print(**LevelSet::built_in().find("ec")), "level ec over vis, ar without so\n");
}

// The deepest trees that lets can build can also be written without them.
TEST(Print, RoundTripsTheDeepestAxioms) {
  for (const auto& [first, second] :
       {std::pair{"so | ({})", "so ; ({})"}, std::pair{"({}) | so", "({}) ; so"},
        std::pair{"({})+", "({})^-1"}}) {
    int deepest = 0;
    for (int depth = 1; depth <= kMaxDepth; ++depth) {
      std::string text = "level a over co\nlet r0 = so\n";
      for (int i = 1; i <= depth; ++i)
        text += fmt::format(
            "let r{} = {}\n", i,
            fmt::format(fmt::runtime(i % 2 == 0 ? first : second), fmt::format("r{}", i - 1)));
      text += fmt::format("axiom A: not not not forall t: txn. not r{}(t, t)", depth);
      LevelSet levels;
      if (!levels.add(text, "deep")) break;
      deepest = depth;
      expect_same_when_read_back(*levels.all().at(0));
      if (HasFailure()) return;
    }
    EXPECT_GT(deepest, kMaxDepth / 2 - 10);
    EXPECT_LT(deepest, kMaxDepth);
  }
}

TEST(Print, RoundTripsRandomAxioms) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LevelSet levels;
    const std::string text = "level a over co axiom A: " + RandomAxiom(seed).text();
    const auto added = levels.add(text, "random");
    ASSERT_TRUE(added.ok()) << render(added.error());
    expect_same_when_read_back(*levels.all().at(0));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace isoscope
