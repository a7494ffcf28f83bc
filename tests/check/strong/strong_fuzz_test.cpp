// Random small histories: the checker against all version orders, against the texts of the levels,
// and against itself with phases switched off.
#include <gtest/gtest.h>

#include "check/strong/corners.h"
#include "check/strong/reference.h"
#include "check/strong/strong.h"
#include "history/builder.h"
#include "history/restrict.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/random_history.h"
#include "support/rng.h"

namespace isoscope {
namespace {

// With all phases and without each, and with chains that are laid anew.
std::vector<StrongOptions> phases() {
  std::vector<StrongOptions> all;
  for (const bool saturate : {true, false}) {
    for (const bool prune : {true, false}) all.push_back({.saturate = saturate, .prune = prune});
  }
  all.push_back({.few_chains = 0});
  return all;
}

// Transactions that append to lists and read prefixes of one order of appends per list.
History random_lists(Rng& rng) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng.below(n)); };
  HistoryBuilder b(InitialValues::Nil);
  const std::size_t keys = 1 + below(3);
  const std::size_t txns = 2 + below(6);
  struct Op {
    TxnId t;
    bool is_append;
  };
  std::vector<std::vector<Op>> ops(keys);
  for (std::size_t i = 0; i < txns; ++i) {
    const SessionId s = b.session(static_cast<std::int64_t>(below(4)));
    const TxnId t = b.begin(s, rng.chance(0.05) ? TxnStatus::Aborted : TxnStatus::Committed, {});
    for (std::size_t k = 0; k < keys; ++k) {
      if (rng.chance(0.5)) ops[k].push_back({t, false});
      if (rng.chance(0.5)) ops[k].push_back({t, true});
    }
  }
  for (std::size_t k = 0; k < keys; ++k) {
    const KeyId x = b.key(static_cast<std::int64_t>(k));
    std::vector<Value> versions;
    for (const Op& op : ops[k]) {
      if (op.is_append) versions.push_back(Value::of(op.t.index));
    }
    // Mostly in the order of the file, so that some histories are consistent.
    for (std::size_t i = 1; i < versions.size(); ++i) {
      if (rng.chance(0.3)) std::swap(versions[i], versions[i - 1]);
    }
    for (const Op& op : ops[k]) {
      if (op.is_append) {
        b.append(op.t, x, Value::of(op.t.index), {});
      } else {
        const auto own = std::find(versions.begin(), versions.end(), Value::of(op.t.index));
        const auto most = static_cast<std::size_t>(own - versions.begin());
        const std::size_t shown = rng.chance(0.6) ? most : below(versions.size() + 1);
        b.read_list(op.t, x, std::span(versions).first(shown), {});
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

class StrongFuzz : public testing::TestWithParam<StrongLevel> {
 protected:
  Verdict check(const History& h, const StrongOptions& options = {}) {
    Budget budget;
    return check_strong(h, GetParam(), budget, options);
  }

  // Checks one history with all phases; true if it is consistent.
  void judge(const SmallHistory& small) {
    const History h = build(small);
    AllVersionOrders reference(h, 1500);
    if (!reference.is_feasible()) return;
    const bool expected = reference.is_consistent(GetParam());
    ++(expected ? consistent_ : violated_);
    for (const StrongOptions& options : phases()) {
      const Verdict verdict = check(h, options);
      ASSERT_EQ(verdict.outcome, expected ? Outcome::Consistent : Outcome::Violated)
          << to_hist(small);
      const auto complaint = complain_about(h, GetParam(), verdict);
      ASSERT_FALSE(complaint) << *complaint << "\n" << to_hist(small);
      if (verdict.violation && verdict.violation->cycle.empty()) {
        ++cores_;
        // Where saturation finds a contradiction, there is a cycle to tell.
        ASSERT_TRUE(verdict.stats.get("choices").has_value()) << to_hist(small);
        judge_core(h, verdict.violation->core, small);
      }
    }
  }

  // The core is violated by itself, and no smaller one is in it.
  void judge_core(const History& h, const std::vector<TxnId>& core, const SmallHistory& small) {
    const auto is_consistent = [&](const std::vector<TxnId>& keep) {
      const History part = restrict_to(h, keep);
      return AllVersionOrders(part).is_consistent(GetParam());
    };
    ASSERT_FALSE(is_consistent(core)) << to_hist(small);
    for (const TxnId t : core) {
      std::vector<TxnId> less = core;
      std::erase(less, t);
      ASSERT_TRUE(is_consistent(less)) << to_hist(small);
    }
  }

  void judge_many(const RandomShape& shape, std::uint64_t first_seed, std::uint64_t count) {
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Rng rng(seed);
      judge(random_small(rng, shape));
      if (HasFatalFailure()) return;
    }
  }

  int consistent_ = 0;
  int violated_ = 0;
  int cores_ = 0;
};

TEST_P(StrongFuzz, AgreesWithAllVersionOrders) {
  judge_many({}, 1, 2500);
  judge_many({.sessions = 4, .max_txns = 7, .keys = 3, .max_ops = 4, .stray = 0.15}, 100'000, 2500);
  judge_many({.sessions = 6,
              .max_txns = 8,
              .keys = 2,
              .max_ops = 2,
              .aborted = 0.1,
              .reads = 0.5,
              .stray = 0.5},
             200'000, 1500);
  EXPECT_GT(consistent_, 1000);
  EXPECT_GT(violated_, 300);
}

TEST_P(StrongFuzz, ChoosesRight) {
  for (std::uint64_t seed = 300'000; seed < 302'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    judge(random_corners(rng, 3, 5, 8));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(consistent_, 300);
  if (GetParam() != StrongLevel::Ua && GetParam() != StrongLevel::Psi) {
    EXPECT_GT(cores_, 50);
  }
}

TEST_P(StrongFuzz, RespectsTheOrderOfLists) {
  for (std::uint64_t seed = 500'000; seed < 503'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const History h = random_lists(rng);
    AllVersionOrders reference(h);
    if (!h.faults().empty() || !reference.is_feasible()) continue;
    const bool expected = reference.is_consistent(GetParam());
    ++(expected ? consistent_ : violated_);
    for (const StrongOptions& options : phases()) {
      const Verdict verdict = check(h, options);
      ASSERT_EQ(verdict.outcome, expected ? Outcome::Consistent : Outcome::Violated);
      ASSERT_EQ(complain_about(h, GetParam(), verdict), std::nullopt);
    }
  }
  EXPECT_GT(consistent_, 100);
  EXPECT_GT(violated_, 100);
}

TEST_P(StrongFuzz, AgreesWithTheTextOfTheLevel) {
  for (std::uint64_t seed = 400'000; seed < 402'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small =
        random_small(rng, {.max_txns = 4, .keys = 3, .max_ops = 4, .stray = 0.25});
    const History h = build(small);
    BruteForce oracle(h);
    const Verdict verdict = check(h);
    for (const Framework framework : {Framework::Co, Framework::VisAr}) {
      const Level* level = LevelSet::built_in().lookup(name_of(GetParam()), framework);
      if (level == nullptr) continue;
      const bool expected = oracle.decide(*level).has_value();
      ASSERT_EQ(verdict.outcome, expected ? Outcome::Consistent : Outcome::Violated)
          << level->full_name() << "\n"
          << to_hist(small);
      if (!expected) continue;
      Witness witness = *verdict.witness;
      if (framework == Framework::VisAr) witness = as_vis_witness(h, GetParam(), witness);
      const auto failure = evaluate({level, {}}, {h, witness});
      ASSERT_FALSE(failure) << describe(*failure, h) << "\n" << to_hist(small);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, StrongFuzz, testing::ValuesIn(kStrongLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace isoscope
