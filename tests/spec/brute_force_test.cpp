#include "spec/brute_force.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "spec/levels.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

// Verdicts by full name. Every witness is one that the evaluator accepts.
std::map<std::string, bool> verdicts(const History& h) {
  std::map<std::string, bool> consistent;
  BruteForce oracle(h);
  for (const auto& level : LevelSet::built_in().all()) {
    // Statements have tests of their own (statements_test.cpp).
    if (level->framework == Framework::CoSnap) continue;
    if (!is_small_enough(h, level->framework)) continue;
    const auto witness = oracle.decide(*level);
    consistent[level->full_name()] = witness.has_value();
    if (!witness) continue;
    EXPECT_FALSE(evaluate({level.get(), {}}, {h, *witness}).has_value());
  }
  return consistent;
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

struct Classic {
  const char* name;
  const char* hist;
  const char* violates;  // full names
  friend void PrintTo(const Classic& c, std::ostream* out) { *out << c.name; }
};

class ClassicAnomalies : public ::testing::TestWithParam<Classic> {};

TEST_P(ClassicAnomalies, ViolateTheLevelsThatForbidThem) {
  std::set<std::string> violated;
  for (const auto& [level, consistent] : verdicts(history_of(GetParam().hist))) {
    // Without times a strict level is the one that it is the strict form of.
    const bool is_strict = level.starts_with("strict-") || level.starts_with("strong-");
    if (!consistent && !is_strict) violated.insert(level);
  }
  EXPECT_EQ(violated, words_of(GetParam().violates));
}

constexpr const char* kAllLevels =
    "true@co rc@co ra@co cc@co pc@co si@co ser@co update-ser@co plume-ra@co plume-cc@co "
    "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis ec@vis";

INSTANTIATE_TEST_SUITE_P(
    All, ClassicAnomalies,
    ::testing::Values(
        Classic{"serial", "s1: [r(x,0) w(x,1)] s2: [r(x,1) w(y,1)] s1: [r(y,1) r(x,1)]", ""},
        Classic{"write skew", "s1: [r(x,0) r(y,0) w(x,1)] s2: [r(x,0) r(y,0) w(y,1)]",
                "ser@co ser@vis update-ser@co update-ser@vis"},
        Classic{"read-only anomaly",
                "s1: [r(y,0) w(y,20)] s2: [r(x,0) r(y,0) w(x,1)] s3: [r(x,0) r(y,20)]",
                "ser@co ser@vis"},
        Classic{"lost update", "s1: [r(x,0) w(x,1)] s2: [r(x,0) w(x,2)]",
                "si@co ser@co update-ser@co ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis"},
        Classic{"long fork", "s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)] s4: [r(y,1) r(x,0)]",
                "pc@co si@co ser@co pc@vis si@vis ser@vis"},
        Classic{"causality violation", "s1: [w(x,1)] s2: [r(x,1) w(y,1)] s3: [r(y,1) r(x,0)]",
                "cc@co pc@co si@co ser@co plume-cc@co cc@vis pc@vis psi@vis si@vis ser@vis"},
        Classic{"fractured read", "s1: [w(x,1) w(y,1)] s2: [r(y,0) r(x,1)]",
                "ra@co cc@co pc@co si@co ser@co plume-ra@co plume-cc@co "
                "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis ec@vis"},
        Classic{"non-repeatable read", "s1: [w(x,1)] s2: [r(x,0) r(x,1)]",
                "ra@co cc@co pc@co si@co ser@co plume-cc@co "
                "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis ec@vis"},
        Classic{"stale session read", "s1: [w(x,1)] [r(x,0)]",
                "ra@co cc@co pc@co si@co ser@co plume-cc@co "
                "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis"},
        Classic{"non-monotonic read", "s1: [w(x,1) w(y,1)] s2: [r(x,1) r(y,0)]",
                "rc@co ra@co cc@co pc@co si@co ser@co plume-ra@co plume-cc@co "
                "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis ec@vis"},
        // The last writer of x sees the second, but not the first.
        Classic{"lost update in the middle",
                "s1: [r(y,0) w(x,1) w(y,1)] s2: [r(y,1) w(x,2)] s3: [r(x,2) r(y,0) w(x,3)]",
                "cc@co pc@co si@co ser@co update-ser@co plume-cc@co cc@vis pc@vis ua@vis psi@vis "
                "si@vis ser@vis update-ser@vis"},
        Classic{"circular information", "s1: [r(y,1) w(x,1)] s2: [r(x,1) w(y,1)]", kAllLevels},
        Classic{"aborted transactions read too", "s1: [w(x,1) w(y,1)] s2: [r(y,0) r(x,1) w(x,2)]!",
                "ra@co cc@co pc@co si@co ser@co plume-ra@co plume-cc@co "
                "ra@vis cc@vis pc@vis ua@vis psi@vis si@vis ser@vis update-ser@vis nlu@vis ec@vis"},
        Classic{"thin-air read", "s1: [r(x,7)]", kAllLevels}));

TEST(BruteForce, RespectsKnownVersionOrders) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  const TxnId t1 = b.begin(b.session("s1"), TxnStatus::Committed, {1, 1});
  b.append(t1, x, Value::of(1), {1, 1});
  const TxnId t2 = b.begin(b.session("s2"), TxnStatus::Committed, {2, 1});
  b.append(t2, x, Value::of(2), {2, 1});
  const TxnId t3 = b.begin(b.session("s3"), TxnStatus::Committed, {3, 1});
  const Value seen[] = {Value::of(2), Value::of(1)};
  b.read_list(t3, x, seen, {3, 1});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  for (const char* name : {"ser@co", "ser@vis"}) {
    const Level& ser = **LevelSet::built_in().find(name);
    const auto witness = BruteForce(*h).decide(ser);
    ASSERT_TRUE(witness.has_value());
    EXPECT_THAT(witness->order, ::testing::ElementsAre(kInitialTxn, t2, t1, t3));
    Witness swapped = *witness;
    std::swap(swapped.order[1], swapped.order[2]);
    const auto failure = evaluate({&ser, {}}, {*h, swapped});
    ASSERT_TRUE(failure.has_value());
    EXPECT_THAT(failure->rule, ::testing::StartsWith("known version order"));
  }
}

TEST(BruteForce, KnowsHowLargeAHistoryMayBe) {
  const History six =
      history_of("s1: [w(x,1)] [w(x,2)] [w(x,3)] [w(x,4)] [w(x,5)] [w(x,6)] [w(x,7)]?");
  EXPECT_TRUE(is_small_enough(six, Framework::Co));
  EXPECT_FALSE(is_small_enough(six, Framework::VisAr));
  EXPECT_TRUE(BruteForce(six).decide(**LevelSet::built_in().find("ser")).has_value());
}

// If the first holds, so does the second.
constexpr std::pair<const char*, const char*> kImplications[] = {
    {"ser@co", "si@co"},
    {"si@co", "pc@co"},
    {"pc@co", "cc@co"},
    {"cc@co", "ra@co"},
    {"ra@co", "rc@co"},
    {"rc@co", "true@co"},
    {"ser@co", "update-ser@co"},
    {"update-ser@co", "true@co"},
    {"cc@co", "plume-cc@co"},
    {"plume-cc@co", "cc@co"},
    {"plume-cc@co", "plume-ra@co"},
    {"ra@co", "plume-ra@co"},
    {"ser@vis", "si@vis"},
    {"si@vis", "psi@vis"},
    {"si@vis", "pc@vis"},
    {"psi@vis", "cc@vis"},
    {"psi@vis", "ua@vis"},
    {"pc@vis", "cc@vis"},
    {"cc@vis", "ra@vis"},
    {"ua@vis", "nlu@vis"},
    {"nlu@vis", "ra@vis"},
    {"ser@vis", "update-ser@vis"},
    {"update-ser@vis", "ua@vis"},
    {"ra@vis", "ec@vis"},
    {"update-ser@vis", "update-ser@co"}};

constexpr const char* kInBothFrameworks[] = {"ra", "cc", "pc", "si", "ser"};

TEST(LevelHierarchy, HoldsOnRandomHistories) {
  std::map<std::string, int> times_consistent;
  constexpr int kHistories = 3'000;
  for (std::uint64_t seed = 0; seed < kHistories; ++seed) {
    Rng rng(seed);
    const SmallHistory small = seed % 3 == 0
                                   ? near_long_fork(rng)
                                   : random_small(rng, {.sessions = 4,
                                                        .max_txns = 4,
                                                        .aborted = 0.1,
                                                        .stray = seed % 3 == 1 ? 0.3 : 0.8});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, to_hist(small)));
    const auto consistent = verdicts(build(small));
    for (const auto& [stronger, weaker] : kImplications)
      EXPECT_LE(consistent.at(stronger), consistent.at(weaker)) << stronger << " " << weaker;
    for (const std::string name : kInBothFrameworks)
      EXPECT_EQ(consistent.at(name + "@co"), consistent.at(name + "@vis")) << name;
    for (const auto& [level, holds] : consistent) times_consistent[level] += holds ? 1 : 0;
    if (HasFailure()) return;
  }
  // Each implication is strict somewhere, but for the two that state an equivalence.
  for (const auto& [stronger, weaker] : kImplications) {
    if (std::string(stronger) + weaker == "cc@coplume-cc@co") continue;
    if (std::string(stronger) + weaker == "plume-cc@cocc@co") continue;
    EXPECT_LT(times_consistent[stronger], times_consistent[weaker]) << stronger << " " << weaker;
  }
  EXPECT_GT(times_consistent["ser@co"], kHistories / 10);
}

// Raising one transaction's level accepts no more, and equal levels are no mixture.
TEST(Assignments, AreMonotone) {
  const LevelSet& levels = LevelSet::built_in();
  const std::vector<std::vector<const char*>> chains = {
      {"true@co", "rc@co", "ra@co", "cc@co", "pc@co", "si@co"},
      {"true@co", "rc@co", "ra@co", "cc@co", "pc@co", "ser@co"},
      {"ec@vis", "ra@vis", "cc@vis", "pc@vis", "si@vis", "ser@vis"},
      {"ra@vis", "nlu@vis", "ua@vis", "psi@vis", "si@vis", "ser@vis"}};
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng(seed);
    const SmallHistory small = random_small(rng, {.max_txns = 4});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, to_hist(small)));
    const History h = build(small);
    const auto& chain = chains[seed % chains.size()];
    std::vector<std::size_t> ranks(h.num_txns());
    Assignment mixed{*levels.find(chain[0]), std::vector<const Level*>(h.num_txns())};
    for (std::size_t t = 1; t < ranks.size(); ++t) {
      ranks[t] = rng.below(chain.size() - 1);
      mixed.own[t] = *levels.find(chain[ranks[t]]);
    }
    ASSERT_TRUE(check_assignable(mixed).ok());
    Assignment raised = mixed;
    const std::size_t t = 1 + rng.below(ranks.size() - 1);
    raised.own[t] = *levels.find(chain[ranks[t] + 1]);
    EXPECT_LE(brute_force(h, raised).has_value(), brute_force(h, mixed).has_value());

    const Level* all = *levels.find(chain[rng.below(chain.size())]);
    const Assignment same{all, std::vector<const Level*>(h.num_txns(), all)};
    EXPECT_EQ(brute_force(h, same).has_value(), brute_force(h, {all, {}}).has_value());
    if (HasFailure()) return;
  }
}

// The least vis of an ar serves whenever some vis does: all our axioms over vis, ar conclude vis.
TEST(LeastVis, ServesWheneverSomeVisDoes) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const SmallHistory small = random_small(rng, {.max_txns = 4, .times = seed % 2 == 0});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, to_hist(small)));
    const History h = build(small);
    BruteForce oracle(h);
    for (const auto& level : LevelSet::built_in().all()) {
      if (level->framework != Framework::VisAr) continue;
      const auto witness = oracle.decide(*level);
      if (!witness) continue;
      const Witness without{Framework::VisAr, witness->order, std::nullopt};
      EXPECT_FALSE(evaluate({level.get(), {}}, {h, without}).has_value()) << level->name;
      Evaluator evaluator(h, {level.get(), {}});
      EXPECT_TRUE(evaluator.least_vis(witness->order).is_subset_of(*witness->vis)) << level->name;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace isoscope
