#pragma once
// Which pairs of levels some drawn history separates, and whether the search says the same.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "synth/synth.h"

namespace isoscope {

using Levels = std::vector<const Level*>;
using Separated = std::map<std::pair<const Level*, const Level*>, bool>;

// All built-in levels that speak of transactions only, and not of time.
inline Levels abstract_levels() {
  Levels levels;
  for (const auto& each : LevelSet::built_in().all()) {
    if (each->name != "rc" && require_plain(*each, "synth")) levels.push_back(each.get());
  }
  return levels;
}

// Which levels allow each history; by pair, is there one that separates them?
class Profiles {
 public:
  explicit Profiles(const Levels& levels) : levels_(levels) {}

  void add(const History& h) {
    BruteForce oracle(h);
    std::vector<bool> allowed;
    for (const Level* each : levels_) allowed.push_back(oracle.decide(*each).has_value());
    seen_.insert(std::move(allowed));
  }

  Separated separated() const {
    Separated result;
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = 0; b < levels_.size(); ++b) {
        bool& found = result[{levels_[a], levels_[b]}];
        for (const auto& profile : seen_) found = found || (profile[a] && !profile[b]);
      }
    }
    return result;
  }

 private:
  Levels levels_;
  std::set<std::vector<bool>> seen_;
};

// With `plain`, no drawn history has a transaction that reads a key from two writers, or that
// aborts. Where there is no other, the search may still find one that has.
inline void expect_same(const Separated& all, const Scope& scope, bool generic, bool plain = true) {
  for (const auto& [pair, separated] : all) {
    const auto [a, b] = pair;
    Budget budget = Budget::seconds(60);
    const auto answer =
        synthesize({.allow = {a}, .forbid = {b}, .scope = scope, .generic = generic}, budget);
    const std::string what =
        a->full_name() + " without " + b->full_name() + (generic ? ", generic" : "");
    ASSERT_TRUE(answer.ok()) << what << ": " << render(answer.error());
    const bool is_wider = answer->outcome == SynthOutcome::Found &&
                          (answer->scope.repeated_reads || answer->scope.aborted_txns);
    if (!(plain && is_wider && !separated)) {
      EXPECT_EQ(answer->outcome, separated ? SynthOutcome::Found : SynthOutcome::None) << what;
    }
    EXPECT_TRUE(!answer->found || answer->found->is_rechecked) << what;
  }
}

}  // namespace isoscope
