// Engines against the oracle, against each other and against laws, on random small histories.
//
// Each shard prints its seed with every failure, shrinks the history and writes it as a .hist
// file beside the test, ready for tests/regress. ISOSCOPE_FUZZ_SHARE=20 runs a fifth of the cases
// (for sanitizers), 1000 runs ten times as many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>

#include "check/check.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

constexpr int kShards = 8;
constexpr int kHistoriesPerShard = 2500;

int scaled(int cases) {
  const char* share = std::getenv("ISOSCOPE_FUZZ_SHARE");
  return share == nullptr ? cases : std::max(1, cases * std::atoi(share) / 100);
}

RandomShape random_shape(Rng& rng) {
  RandomShape shape;
  shape.sessions = 1 + static_cast<int>(rng.below(4));
  shape.max_txns = rng.chance(0.6) ? 4 : 6;
  shape.keys = 1 + static_cast<int>(rng.below(3));
  shape.max_ops = 1 + static_cast<int>(rng.below(4));
  shape.stray = rng.uniform() * 0.7;
  shape.aborted = rng.chance(0.3) ? 0.2 : 0;
  return shape;
}

Outcome decide(const History& h, const Level& level, Engine engine = Engine::Best) {
  Budget budget;
  return check(h, level, budget, {.engine = engine}).verdict.outcome;
}

// What is wrong with the answers about this history; empty if nothing is.
using Judge = std::function<std::string(const SmallHistory&)>;

class Laws : public ::testing::TestWithParam<int> {
 protected:
  // Runs the judge on many histories; shrinks and reports the first that it objects to.
  void on_random_histories(std::uint64_t salt, int cases, const Judge& judge) {
    const std::uint64_t seed = salt * 1000 + static_cast<std::uint64_t>(GetParam());
    Rng rng(seed);
    for (int i = 0; i < scaled(cases); ++i) {
      const SmallHistory small =
          rng.chance(0.1) ? near_long_fork(rng) : random_small(rng, random_shape(rng));
      const std::string complaint = judge(small);
      if (complaint.empty()) continue;
      const SmallHistory least =
          shrink(small, [&](const SmallHistory& s) { return !judge(s).empty(); });
      const std::string path = ::testing::TempDir() + "/laws-" + std::to_string(seed) + ".hist";
      std::ofstream(path) << "# " << judge(least) << "\n" << to_hist(least);
      FAIL() << "seed " << seed << ", case " << i << ": " << judge(least) << "\n"
             << to_hist(least) << "written to " << path;
    }
  }
};

std::string compare_with_oracle(const SmallHistory& small) {
  const History h = build(small);
  BruteForce oracle(h);
  Checker checker(h);
  for (const auto& level : LevelSet::built_in().all()) {
    if (!is_small_enough(h, level->framework)) continue;
    Budget budget;
    const Assignment assignment{.base = level.get(), .own = {}};
    const CheckAnswer answer = checker.check(assignment, budget);
    const bool possible = oracle.decide(*level).has_value();
    const Outcome expected = possible ? Outcome::Consistent : Outcome::Violated;
    if (answer.verdict.outcome != expected)
      return fmt::format("{}: engine says {}{}, oracle {}", level->full_name(),
                         name_of(answer.verdict.outcome), " " + answer.verdict.limit,
                         name_of(expected));
    if (answer.verdict.witness) {
      const auto failure = evaluate(assignment, Execution{h, *answer.verdict.witness});
      if (failure) return fmt::format("{}: {}", level->full_name(), describe(*failure, h));
    }
    const Confirmation how = answer.confirmation.how;
    if (how == Confirmation::Unchecked && logic_of(*level))
      return fmt::format("{}: the reason is not confirmed", level->full_name());
  }
  return {};
}

TEST_P(Laws, EnginesAgreeWithBruteForce) {
  on_random_histories(1, kHistoriesPerShard, compare_with_oracle);
}

std::string compare_with_ground(const SmallHistory& small) {
  const History h = build(small);
  for (const auto& level : LevelSet::built_in().all()) {
    const Outcome fast = decide(h, *level);
    const Outcome ground = decide(h, *level, Engine::Ground);
    if (fast != ground)
      return fmt::format("{}: fast path says {}, ground path {}", level->full_name(), name_of(fast),
                         name_of(ground));
  }
  return {};
}

TEST_P(Laws, FastAndGroundPathsAgree) { on_random_histories(2, 150, compare_with_ground); }

struct Implication {
  const char* stronger;
  const char* weaker;
};
constexpr Implication kImplications[] = {
    {"ser", "si"},      {"si", "psi"},  {"psi", "cc"},         {"cc", "ra"},
    {"ra", "rc"},       {"si", "pc"},   {"pc", "cc"},          {"psi", "ua"},
    {"ua", "ra"},       {"ua", "nlu"},  {"ser", "update-ser"}, {"ra", "plume-ra"},
    {"cc", "plume-cc"}, {"rc", "true"}, {"plume-cc", "cc"},
};
constexpr const char* kInBothFrameworks[] = {"ra", "cc", "pc", "si", "ser"};

std::string check_hierarchy(const SmallHistory& small) {
  const History h = build(small);
  Checker checker(h);
  const auto outcome = [&](const std::string& name) {
    Budget budget;
    return checker.check({.base = *LevelSet::built_in().find(name), .own = {}}, budget)
        .verdict.outcome;
  };
  for (const auto& [stronger, weaker] : kImplications) {
    if (outcome(stronger) == Outcome::Consistent && outcome(weaker) != Outcome::Consistent)
      return fmt::format("{} holds, {} does not", stronger, weaker);
  }
  for (const std::string name : kInBothFrameworks) {
    if (outcome(name + "@co") != outcome(name + "@vis"))
      return fmt::format("{}@co and {}@vis differ", name, name);
  }
  return {};
}

TEST_P(Laws, StrongerLevelsAcceptNoMore) {
  on_random_histories(3, kHistoriesPerShard, check_hierarchy);
}

// The same history with other key numbers, and with its sessions in another order.
SmallHistory disguised(const SmallHistory& small) {
  const int n = static_cast<int>(small.txns.size());
  std::vector<int> order(small.txns.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return small.txns[static_cast<std::size_t>(a)].session >
           small.txns[static_cast<std::size_t>(b)].session;
  });
  std::vector<int> position(small.txns.size());
  for (int i = 0; i < n; ++i)
    position[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
  SmallHistory result;
  for (int old : order) {
    SmallTxn txn = small.txns[static_cast<std::size_t>(old)];
    for (SmallOp& op : txn.ops) {
      op.key = 7 - op.key;
      if (op.writer >= 0) op.writer = position[static_cast<std::size_t>(op.writer)];
    }
    result.txns.push_back(std::move(txn));
  }
  return result;
}

std::string compare_disguised(const SmallHistory& small) {
  const History h = build(small);
  const History other = build(disguised(small));
  for (const char* name : {"rc", "ra", "cc", "pc", "ua", "psi", "si", "ser", "update-ser"}) {
    const Level& level = **LevelSet::built_in().find(name);
    if (decide(h, level) != decide(other, level))
      return fmt::format("{} changes with the names", name);
  }
  return {};
}

TEST_P(Laws, NamesAndOrderOfSessionsDoNotMatter) {
  on_random_histories(4, kHistoriesPerShard / 2, compare_disguised);
}

std::string compare_mixture(const SmallHistory& small) {
  const History h = build(small);
  const LevelSet& levels = LevelSet::built_in();
  auto assignment = assign_levels(h, **levels.find("cc"), levels);
  if (!assignment) return render(assignment.error());
  if (!is_small_enough(h, assignment->base->framework)) return {};
  Budget budget;
  const CheckAnswer answer = Checker(h).check(*assignment, budget);
  const Outcome expected = brute_force(h, *assignment) ? Outcome::Consistent : Outcome::Violated;
  if (answer.verdict.outcome == expected) return {};
  return fmt::format("mixture over {}: engine says {} {}, oracle {}", assignment->base->full_name(),
                     name_of(answer.verdict.outcome), answer.verdict.limit, name_of(expected));
}

TEST_P(Laws, MixturesAgreeWithBruteForce) {
  const std::uint64_t seed = 5000 + static_cast<std::uint64_t>(GetParam());
  Rng rng(seed);
  const std::vector<std::vector<std::string>> mixtures = {{"rc", "ra", "cc", "true"},
                                                          {"ser", "ra"},
                                                          {"rc", "si", "ser"},
                                                          {"psi", "ra"},
                                                          {"pc", "ua", "ser"}};
  for (int i = 0; i < scaled(400); ++i) {
    RandomShape shape = random_shape(rng);
    shape.levels = mixtures[rng.below(mixtures.size())];
    const SmallHistory small = random_small(rng, shape);
    if (compare_mixture(small).empty()) continue;
    const SmallHistory least =
        shrink(small, [](const SmallHistory& s) { return !compare_mixture(s).empty(); });
    FAIL() << "seed " << seed << ", case " << i << ": " << compare_mixture(least) << "\n"
           << to_hist(least);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, Laws, ::testing::Range(0, kShards));

}  // namespace
}  // namespace isoscope
