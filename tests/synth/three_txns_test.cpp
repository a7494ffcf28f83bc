// The search against every history of three transactions and two keys, for every pair of built-in
// levels: with blind writes, any number of values, both ways to search.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "synth/brute_force_histories.h"
#include "synth/level_profiles.h"

namespace isoscope {
namespace {

// The least of all texts that a history has under names of its transactions and keys. Levels do not
// see names, so that one history of each kind is enough for the oracle, which is slow.
std::string canonical(const DrawnHistory& d) {
  std::vector<int> txn(static_cast<std::size_t>(d.txns));  // new name by old one
  std::vector<int> key(static_cast<std::size_t>(d.keys));
  std::iota(txn.begin(), txn.end(), 0);
  std::string least;
  do {
    std::iota(key.begin(), key.end(), 0);
    do {
      std::string text(txn.size() * txn.size() + 2 * txn.size() * key.size(), '0');
      char* const so = text.data();
      char* const writes = so + txn.size() * txn.size();
      char* const reads = writes + txn.size() * key.size();
      for (std::size_t t = 0; t < txn.size(); ++t) {
        const auto u = static_cast<std::size_t>(txn[t]);
        for (std::size_t later = t + 1; later < txn.size(); ++later) {
          if (d.session[t] == d.session[later])
            so[u * txn.size() + static_cast<std::size_t>(txn[later])] = '1';
        }
        for (std::size_t x = 0; x < key.size(); ++x) {
          const std::size_t cell = u * key.size() + static_cast<std::size_t>(key[x]);
          const int from = d.reads[t][x];
          const int writer = from <= 0 ? from : txn[static_cast<std::size_t>(from - 1)] + 1;
          writes[cell] = d.writes[t][x] != 0 ? '1' : '0';
          reads[cell] = static_cast<char>('1' + writer);
        }
      }
      if (least.empty() || text < least) least = std::move(text);
    } while (std::next_permutation(key.begin(), key.end()));
  } while (std::next_permutation(txn.begin(), txn.end()));
  return least;
}

TEST(SynthesizeThreeTransactions, AgreesWithAllHistoriesOfTwoKeys) {
  const Scope scope{.txns = 3, .keys = 2};
  std::unordered_set<std::string> seen;
  Profiles profiles(abstract_levels());
  const Level& any = **LevelSet::built_in().find("true");
  std::uint64_t without_cycle = 0;  // of so and wr
  for_each_history(scope, [&](const DrawnHistory& d) {
    if (!seen.insert(canonical(d)).second) return;
    const History h = build(d);
    profiles.add(h);
    if (BruteForce(h).decide(any)) ++without_cycle;
  });
  const Separated separated = profiles.separated();
  expect_same(separated, scope, false);
  expect_same(separated, scope, true);
  // The search counts the same histories, by its own idea of renaming.
  Budget budget;
  const auto counted = count_histories({.allow = {&any}, .scope = scope}, budget);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->count, without_cycle);
}

}  // namespace
}  // namespace isoscope
