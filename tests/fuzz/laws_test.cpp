// Engines against the oracle, against each other and against laws, on random small histories.
//
// Each shard prints its seed with every failure, shrinks the history and writes it as a .hist
// file beside the test, ready for tests/regress. ISOSCOPE_FUZZ_SHARE=20 runs a fifth of the cases
// (for sanitizers), 1000 runs ten times as many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "fuzz/judges.h"

namespace isoscope {
namespace {

constexpr int kShards = 8;
constexpr int kHistoriesPerShard = 2500;

int scaled(int cases) {
  const char* share = std::getenv("ISOSCOPE_FUZZ_SHARE");
  return share == nullptr ? cases : std::max(1, cases * std::atoi(share) / 100);
}

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

TEST_P(Laws, EnginesAgreeWithBruteForce) {
  on_random_histories(1, kHistoriesPerShard, compare_with_oracle);
}

TEST_P(Laws, FastAndGroundPathsAgree) { on_random_histories(2, 150, compare_with_ground); }

TEST_P(Laws, StrongerLevelsAcceptNoMore) {
  on_random_histories(3, kHistoriesPerShard, check_hierarchy);
}

TEST_P(Laws, NamesAndOrderOfSessionsDoNotMatter) {
  on_random_histories(4, kHistoriesPerShard / 2, compare_disguised);
}

TEST_P(Laws, MixturesAgreeWithBruteForce) {
  const std::uint64_t seed = 5000 + static_cast<std::uint64_t>(GetParam());
  Rng rng(seed);
  for (int i = 0; i < scaled(400); ++i) {
    RandomShape shape = random_shape(rng);
    shape.levels = kMixtures[rng.below(kMixtures.size())];
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
