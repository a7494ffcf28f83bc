#include "spec/print.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "spec/levels.h"
#include "support/rng.h"

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

// Random phrases of the language, with more parentheses than needed.
class RandomAxiom {
 public:
  explicit RandomAxiom(std::uint64_t seed) : rng_(seed) {}

  std::string formula(int depth) {
    if (depth == 0 || rng_.chance(0.2)) return atom(depth);
    const char* connectives[] = {"and", "or", "implies", "iff"};
    switch (rng_.below(4)) {
      case 0:
        return fmt::format("not ({})", formula(depth - 1));
      case 1: {
        const std::string name = fmt::format("v{}", names_++);
        return fmt::format("({} {}: txn. so(t, {}) and ({}))",
                           rng_.chance(0.5) ? "forall" : "exists", name, name, formula(depth - 1));
      }
      default:
        return fmt::format("({}) {} ({})", formula(depth - 1), connectives[rng_.below(4)],
                           formula(depth - 1));
    }
  }

 private:
  std::string atom(int depth) {
    switch (rng_.below(7)) {
      case 0:
        return "t = u";
      case 1:
        return "r != s";
      case 2:
        return "writes(t, x)";
      case 3:
        return fmt::format("({})(t, u)", relation(depth));
      case 4:
        return fmt::format("(wr[x] | so ; wr)(t, {})", rng_.chance(0.5) ? "u" : "r");
      case 5:
        return fmt::format("({}) subset ({})", relation(depth), relation(depth));
      default:
        return fmt::format("acyclic({})", relation(depth));
    }
  }

  std::string relation(int depth) {
    const char* leaves[] = {"so", "wr",    "co",           "wr[x]",     "ww[x]",    "rw",
                            "ww", "rw[x]", "[writers(x)]", "[readers]", "[aborted]"};
    if (depth <= 0 || rng_.chance(0.2)) return leaves[rng_.below(11)];
    const char* signs[] = {"|", "&", "\\", ";"};
    const char* postfix[] = {"+", "*", "^-1"};
    if (rng_.chance(0.3)) return fmt::format("({}){}", relation(depth - 1), postfix[rng_.below(3)]);
    return fmt::format("({}) {} ({})", relation(depth - 1), signs[rng_.below(4)],
                       relation(depth - 1));
  }

  Rng rng_;
  int names_ = 0;
};

TEST(Print, RoundTripsRandomAxioms) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LevelSet levels;
    const std::string text =
        fmt::format("level a over co axiom A: forall x: key, t, u: txn, r, s: read. {}",
                    RandomAxiom(seed).formula(5));
    const auto added = levels.add(text, "random");
    ASSERT_TRUE(added.ok()) << render(added.error());
    expect_same_when_read_back(*levels.all().at(0));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace isoscope
