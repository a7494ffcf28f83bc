#pragma once
// The grounded decision against brute force, on one history.
#include <gtest/gtest.h>

#include <string>

#include "check/ground/ground.h"
#include "history/restrict.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "spec/levels.h"
#include "support/random_history.h"

namespace isoscope {

// How axioms are grounded must not matter: all at once, or only what a model breaks.
inline const GroundOptions kStyles[] = {{}, {.eager_instances = 0, .eager_transitivity = 0}};

// What is wrong with the verdict, or nothing.
inline std::string complaint(const History& h, const Assignment& levels, const Verdict& verdict,
                             BruteForce& oracle) {
  const bool consistent = oracle.decide(levels).has_value();
  if (verdict.outcome == Outcome::Unknown) return "unknown: " + verdict.limit;
  if ((verdict.outcome == Outcome::Consistent) != consistent)
    return consistent ? "brute force finds a witness" : "brute force finds no witness";
  if (consistent) {
    const auto failure = evaluate(levels, {h, *verdict.witness});
    return failure ? describe(*failure, h) : "";
  }
  // The core alone is violated; restrict_to() numbers its transactions in order.
  const History part = restrict_to(h, verdict.violation->core);
  Assignment part_levels{levels.base, {}};
  if (levels.is_mixed()) {
    part_levels.own.push_back(&levels.of(kInitialTxn));
    for (const TxnId t : verdict.violation->core) part_levels.own.push_back(&levels.of(t));
  }
  if (BruteForce(part).decide(part_levels)) return "the core has a witness";
  return "";
}

inline Assignment own_levels(const History& h, const Level& base, Framework framework) {
  Assignment levels{&base, {}};
  for (const TxnId t : h.txns()) {
    levels.own.push_back(h.level(t).empty() ? nullptr
                                            : LevelSet::built_in().lookup(h.level(t), framework));
  }
  return levels;
}

// Compares on one history; on failure shrinks it and prints what is needed to repeat it.
template <class LevelsOf>
bool agrees(const SmallHistory& small, std::uint64_t seed, const LevelsOf& levels_of,
            const GroundOptions& options) {
  const auto failing = [&](const SmallHistory& candidate) {
    const History h = build(candidate);
    BruteForce oracle(h);
    const Assignment levels = levels_of(h);
    Budget budget;
    return complaint(h, levels, check_ground(h, levels, budget, options), oracle);
  };
  const std::string why = failing(small);
  if (why.empty()) return true;
  const SmallHistory smaller =
      shrink(small, [&](const SmallHistory& candidate) { return !failing(candidate).empty(); });
  ADD_FAILURE() << "seed " << seed << ", level " << levels_of(build(small)).base->full_name()
                << ": " << why << "\n"
                << to_hist(small) << "shrunk:\n"
                << to_hist(smaller) << failing(smaller);
  return false;
}

}  // namespace isoscope
