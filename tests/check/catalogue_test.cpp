// The published levels of levels/catalogue: each is decided as brute force decides it, and they
// relate to each other and to the built-in ones as their authors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>

#include "check/check.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/input.h"
#include "support/paths.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

LevelSet catalogue() {
  LevelSet levels = LevelSet::built_in();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "levels/catalogue"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const auto text = read_whole(file.string());
    EXPECT_TRUE(text) << file;
    const auto added = levels.add(*text, file.string());
    EXPECT_TRUE(added) << (added ? "" : render(added.error()));
  }
  return levels;
}

TEST(Catalogue, NamesASourceForEachLevel) {
  const LevelSet levels = catalogue();
  const std::regex source(R"(\[[A-Za-z]+-[A-Za-z]+'\d\d\])");
  std::size_t count = 0;
  for (const auto& level : levels.all()) {
    if (level->built_in) continue;
    ++count;
    EXPECT_TRUE(std::regex_search(level->summary, source)) << level->full_name();
  }
  EXPECT_EQ(count, 47U);
}

constexpr std::pair<const char*, const char*> kEqual[] = {{"PL-2.99", "PL-3"},
                                                          {"graph-ser", "ser"},
                                                          {"graph-si", "si"},
                                                          {"graph-pc", "pc"},
                                                          {"graph-psi", "psi"},
                                                          {"strong-session-si", "si"},
                                                          {"walter-psi", "psi"},
                                                          {"causal+", "cc"},
                                                          {"causal-convergence", "cc"},
                                                          {"prefix-consistent-si", "si"},
                                                          {"conventional-si", "strong-si"},
                                                          {"strong-session-ser", "ser"},
                                                          {"external-consistency", "strict-ser"},
                                                          {"graph-strict-ser", "strict-ser"}};

// The first forbids what the second forbids.
constexpr std::pair<const char*, const char*> kStronger[] = {
    {"PL-3", "PL-3U"},
    {"PL-3", "PL-SI"},
    {"PL-SI", "PL-2+"},
    {"PL-3U", "PL-2+"},
    {"PL-2+", "PL-2L"},
    {"PL-2L", "PL-2"},
    {"PL-2", "PL-1"},
    {"PL-CS", "PL-2"},
    {"PL-CS", "no-lost-update"},
    {"PL-2+", "no-read-skew"},
    {"PL-2+", "no-lost-update"},
    {"PL-3", "no-write-skew"},
    {"PL-2+", "no-fuzzy-read"},
    {"ser", "PL-3"},
    {"si", "PL-SI"},
    {"rc", "PL-2"},
    {"rc", "monotonic-atomic-view"},
    {"ra", "ramp-ra"},
    {"ra", "ryw"},
    {"cc", "four-guarantees"},
    {"four-guarantees", "pram"},
    {"pram", "monotonic-writes"},
    {"four-guarantees", "wfr"},
    {"atomic-cut", "item-cut-isolation"},
    {"ramp-ra", "atomic-cut"},
    {"si", "generalized-si"},
    {"generalized-si", "consistent-prefix"},
    {"generalized-si", "nmsi"},
    {"psi", "nmsi"},
    {"pc", "consistent-prefix"},
    {"adya-si", "PL-FCV"},
    {"PL-FCV", "PL-2+"},
    {"ser", "plain-ser"},
    {"ser", "wsi"},
    {"wsi", "plain-ser"},
    {"cahill-ssi", "ser"},
    {"strict-ser", "rss"},
    {"rss", "ser"},
    {"real-time-causal", "cc"},
    {"strict-cc", "real-time-causal"},
    {"pc", "no-long-fork"}};

TEST(Catalogue, IsDecidedAsBruteForceDoesAndRelatesAsPublished) {
  const LevelSet levels = catalogue();
  constexpr std::uint64_t kCases = 400;
  std::map<const Level*, std::uint64_t> consistent;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Rng rng(seed);
    const History h =
        build(random_small(rng, {.max_txns = 4, .keys = 2, .max_ops = 4, .times = seed % 2 == 1}));
    BruteForce oracle(h);
    Checker checker(h);
    std::map<const Level*, bool> holds;
    for (const auto& level : levels.all()) {
      if (level->framework == Framework::CoSnap) continue;
      Budget budget;
      const Outcome outcome = checker.check({level.get(), {}}, budget).verdict.outcome;
      ASSERT_NE(outcome, Outcome::Unknown);
      holds[level.get()] = outcome == Outcome::Consistent;
      consistent[level.get()] += outcome == Outcome::Consistent ? 1 : 0;
      if (level->built_in || !is_small_enough(h, level->framework)) continue;
      EXPECT_EQ(holds[level.get()], oracle.decide(*level).has_value())
          << level->full_name() << ", seed " << seed;
    }
    const auto verdict = [&](const char* name) { return holds.at(*levels.find(name)); };
    for (const auto& [a, b] : kEqual)
      EXPECT_EQ(verdict(a), verdict(b)) << a << " = " << b << ", seed " << seed;
    for (const auto& [a, b] : kStronger)
      EXPECT_LE(verdict(a), verdict(b)) << a << " implies " << b << ", seed " << seed;
    if (HasFailure()) return;
  }
  // Each forbids something, but for PL-1: version orders are chosen.
  for (const auto& [level, times] : consistent) {
    EXPECT_GT(times, 0U) << level->full_name();
    if (level == *levels.find("PL-1")) continue;
    EXPECT_LT(times, kCases) << level->full_name();
  }
}

}  // namespace
}  // namespace isoscope
