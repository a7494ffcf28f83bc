#include "generate/key_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace isoscope::simulation {
namespace {

constexpr int kDraws = 200'000;

// How often each rank is drawn; ranks count from 1.
std::vector<double> rank_shares(std::uint64_t n, double theta) {
  Rng rng(7);
  const ZipfRanks ranks(n, theta);
  std::vector<double> shares(n + 1, 0);
  for (int i = 0; i < kDraws; ++i) shares.at(ranks.draw(rng)) += 1.0 / kDraws;
  return shares;
}

// How often each key is drawn, the most popular first.
std::vector<double> key_shares(const HistoryPlan& plan) {
  Rng rng(plan.seed);
  const KeySampler keys(plan, rng);
  std::vector<double> shares(plan.keys, 0);
  for (int i = 0; i < kDraws; ++i) shares.at(keys.draw(rng)) += 1.0 / kDraws;
  std::ranges::sort(shares, std::greater<>());
  return shares;
}

struct ZipfCase {
  std::uint64_t n;
  double theta;
  friend void PrintTo(const ZipfCase& c, std::ostream* out) { *out << c.n << "^" << c.theta; }
};

class ZipfRanksOf : public ::testing::TestWithParam<ZipfCase> {};

TEST_P(ZipfRanksOf, FollowTheFormula) {
  const auto [n, theta] = GetParam();
  const std::vector<double> shares = rank_shares(n, theta);
  double total = 0;
  for (std::uint64_t k = 1; k <= n; ++k) total += std::pow(static_cast<double>(k), -theta);
  EXPECT_EQ(shares[0], 0);
  for (std::uint64_t k = 1; k <= n; ++k) {
    const double p = std::pow(static_cast<double>(k), -theta) / total;
    // Six standard deviations: one false alarm in 10^8 draws of a rank.
    EXPECT_NEAR(shares[k], p, 6 * std::sqrt(p * (1 - p) / kDraws) + 1e-9) << "rank " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Generate, ZipfRanksOf,
                         ::testing::Values(ZipfCase{1, 0.99}, ZipfCase{2, 1.0}, ZipfCase{10, 0.0},
                                           ZipfCase{10, 0.5}, ZipfCase{100, 0.99},
                                           ZipfCase{100, 1.0}, ZipfCase{100, 1.5},
                                           ZipfCase{100, 10.0}));

TEST(ZipfRanks, StayInRangeForABillionKeys) {
  Rng rng(3);
  for (const double theta : {0.0, 0.5, 0.99, 1.0, 2.0, 10.0}) {
    const ZipfRanks ranks(1'000'000'000, theta);
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t rank = ranks.draw(rng);
      ASSERT_GE(rank, 1U);
      ASSERT_LE(rank, 1'000'000'000U);
    }
  }
}

TEST(KeySampler, DrawsUniformly) {
  const std::vector<double> shares = key_shares({.keys = 10});
  EXPECT_NEAR(shares.front(), 0.1, 0.006);
  EXPECT_NEAR(shares.back(), 0.1, 0.006);
}

TEST(KeySampler, GivesFourFifthsToTheHotKeys) {
  const std::vector<double> shares = key_shares({.keys = 50, .distribution = KeyDistribution::Hot});
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.begin() + 10, 0.0), 0.8, 0.01);
  EXPECT_NEAR(shares.front(), 0.08, 0.006);
  EXPECT_NEAR(shares.back(), 0.2 / 40, 0.002);
}

TEST(KeySampler, CanHeatASingleKey) {
  for (const std::uint32_t keys : {1U, 2U, 3U}) {
    const std::vector<double> shares =
        key_shares({.keys = keys, .distribution = KeyDistribution::Hot});
    EXPECT_NEAR(shares.front(), keys == 1 ? 1.0 : 0.8, 0.01) << keys << " keys";
  }
}

TEST(KeySampler, ScattersPopularKeysWithoutLosingAny) {
  for (const std::uint32_t keys : {2U, 12U, 97U}) {
    const HistoryPlan plan{.keys = keys, .distribution = KeyDistribution::Zipf, .theta = 0.5};
    EXPECT_GT(key_shares(plan).back(), 0) << keys << " keys: none is left out";
  }
  // The most popular key depends on the seed.
  std::vector<std::uint32_t> popular;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const KeySampler keys({.keys = 1000, .distribution = KeyDistribution::Zipf, .theta = 9}, rng);
    popular.push_back(keys.draw(rng));
  }
  std::ranges::sort(popular);
  EXPECT_GT(std::unique(popular.begin(), popular.end()) - popular.begin(), 10);
}

}  // namespace
}  // namespace isoscope::simulation
