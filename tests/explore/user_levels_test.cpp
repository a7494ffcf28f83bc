// Levels that no engine is made for, decided with each transaction by their axioms as rules: the
// histories that brute force over their texts allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/comparison.h"
#include "explore/level_rules.h"
#include "support/random_program.h"
#include "support/read_from_map.h"

namespace isoscope::explore {
namespace {

constexpr std::string_view kUsers = R"(
level mine over co
axiom Rules: forall x: key, t1, t2, t3: txn.
    wr[x](t1, t3) and writes(t2, x) and t1 != t2 and (so | ww | wr)+(t2, t3)  implies  co(t2, t1)
level graph over co
axiom NoCycle: acyclic(so | wr | ww | rw)
level skew over co
axiom NoSkew: irreflexive(rw ; rw)
axiom Session: forall x: key, t1, t2, t3: txn.
    wr[x](t1, t3) and writes(t2, x) and t1 != t2 and so(t2, t3)  implies  co(t2, t1)
level either over co
axiom Either: forall x, y: key, t1, t2, t3: txn.
    wr[x](t1, t3) and writes(t2, x) and t1 != t2
    and ((writes(t3, y) and co(t2, t3)) or (exists t: txn. so(t2, t) and wr[y](t, t3)))
    implies  co(t2, t1)
level monotone over vis, ar
axiom Causes: (so | wr)+ subset vis
axiom Writers: forall x: key, t1, t2: txn.
    writes(t1, x) and writes(t2, x) and ar(t1, t2)  implies  vis(t1, t2)
level closed over vis, ar
axiom Closed: transitive(vis)
axiom Back: empty((rw & vis) ; vis)
)";

class UserLevels : public testing::TestWithParam<const char*> {
 protected:
  static const LevelSet& with_users() {
    static const LevelSet set = [] {
      LevelSet all = LevelSet::built_in();
      const auto added = all.add(std::string(kUsers), "users");
      EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().what);
      return all;
    }();
    return set;
  }
};

std::set<Map> found_by(const Program& program, const Level& base, const LevelSet& set,
                       Algorithm algorithm, unsigned threads = 1) {
  std::set<Map> maps;
  const auto plan = make_plan(program, base, set, algorithm, {});
  EXPECT_TRUE(plan.ok());
  if (!plan) return maps;
  EXPECT_EQ(plan->rules.forcing != nullptr, algorithm != Algorithm::Ce);
  (void)explore(program, *plan,
                {.threads = threads, .on_history = [&](const store::Recording& run) {
                   EXPECT_TRUE(maps.insert(read_from_map(run)).second);
                 }});
  return maps;
}

TEST_P(UserLevels, HaveExactlyTheHistoriesThatBruteForceAllows) {
  const auto base = with_users().find(GetParam());
  ASSERT_TRUE(base.ok());
  int num_compared = 0;
  std::size_t num_allowed = 0;
  std::size_t num_all = 0;
  // Brute force goes through all pairs of vis and ar.
  const std::uint64_t num_seeds = (*base)->framework == Framework::VisAr ? 60 : 150;
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    Rng rng(seed * 15485863);
    const std::string text =
        random_program(rng, {.sessions = 3,
                             .max_calls = (*base)->framework == Framework::VisAr ? 3 : 4,
                             .max_statements = 4});
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Naive naive(*program, 500);
    if (!naive.is_complete()) continue;
    ++num_compared;
    std::set<Map> allowed;
    for (const auto& [map, run] : naive.runs()) {
      const History h = to_history(*program, run);
      const auto assignment = assign_levels(h, **base, with_users());
      ASSERT_TRUE(assignment.ok());
      if (BruteForce(h).decide(*assignment)) allowed.insert(map);
    }
    num_allowed += allowed.size();
    num_all += naive.runs().size();
    ASSERT_EQ(found_by(*program, **base, with_users(), Algorithm::Best), allowed);
    ASSERT_EQ(found_by(*program, **base, with_users(), Algorithm::Dfs), allowed);
    if (seed % 5 == 0) {
      ASSERT_EQ(found_by(*program, **base, with_users(), Algorithm::Best, 3), allowed);
      ASSERT_EQ(found_by(*program, **base, with_users(), Algorithm::Ce), allowed);
    }
  }
  EXPECT_GT(num_compared, 30);
  EXPECT_LT(num_allowed, num_all);
}
INSTANTIATE_TEST_SUITE_P(Levels, UserLevels,
                         testing::Values("mine", "graph", "skew", "either", "monotone", "closed",
                                         "update-ser@co", "update-ser@vis"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace_if(
                               text.begin(), text.end(),
                               [](char c) { return c == '-' || c == '@'; }, '_');
                           return text;
                         });

// What may shrink while a history grows cannot be decided with each transaction.
TEST(LevelRules, AreNoneOfLevelsThatAskForMore) {
  const LevelSet& built_in = LevelSet::built_in();
  const auto is_rules = [&](std::string_view text) {
    LevelSet set;
    const auto added = set.add(std::string(text), "text");
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().what);
    return rules_of(*set.all().back(), {}) != nullptr;
  };
  EXPECT_TRUE(rules_of(**built_in.find("si@co"), {}) != nullptr);
  EXPECT_TRUE(rules_of(**built_in.find("psi"), {}) != nullptr);
  EXPECT_FALSE(rules_of(**built_in.find("nlu"), {}) != nullptr);  // not exists
  EXPECT_FALSE(rules_of(**built_in.find("rc"), {}) != nullptr);   // speaks of reads
  EXPECT_FALSE(is_rules("level a over co\naxiom A: empty((so | wr) \\ ww)\n"));
  EXPECT_FALSE(is_rules("level a over vis, ar\naxiom A: so subset (vis ; vis)\n"));
  EXPECT_FALSE(
      is_rules("level a over co\naxiom A: forall t1, t2: txn, x: key.\n"
               "  co(t1, t2) and not writes(t1, x) implies so(t1, t2)\n"));
}

}  // namespace
}  // namespace isoscope::explore
