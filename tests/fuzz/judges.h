#pragma once
// What must hold of the answers about one small history: engines agree with the oracle, with each
// other, and obey laws. A judge returns what is wrong, or an empty text.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "check/check.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "support/random_history.h"

namespace isoscope {

using Judge = std::function<std::string(const SmallHistory&)>;

template <class Random>
RandomShape random_shape(Random& rng) {
  RandomShape shape;
  shape.sessions = 1 + static_cast<int>(rng.below(4));
  shape.max_txns = rng.chance(0.6) ? 4 : 6;
  shape.keys = 1 + static_cast<int>(rng.below(3));
  shape.max_ops = 1 + static_cast<int>(rng.below(4));
  shape.stray = rng.uniform() * 0.7;
  shape.aborted = rng.chance(0.3) ? 0.2 : 0;
  shape.times = rng.chance(0.2);
  return shape;
}

inline Outcome decide(const History& h, const Level& level, Engine engine = Engine::Best) {
  Budget budget;
  return check(h, level, budget, {.engine = engine}).verdict.outcome;
}

// Without times a strict level is the level.
inline bool is_idle(const Level& level, const History& h) {
  return level.uses_real_time && !h.has_times();
}

inline std::string compare_with_oracle(const SmallHistory& small) {
  const History h = build(small);
  BruteForce oracle(h);
  Checker checker(h);
  for (const auto& level : LevelSet::built_in().all()) {
    // Statements and locks have random histories of their own (tests/check/points).
    if (level->framework == Framework::CoSnap) continue;
    if (!is_small_enough(h, level->framework) || is_idle(*level, h)) continue;
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
    if (how == Confirmation::Unchecked && (logic_of(*level) || strict_logic_of(*level)))
      return fmt::format("{}: the reason is not confirmed", level->full_name());
  }
  return {};
}

inline std::string compare_with_ground(const SmallHistory& small) {
  const History h = build(small);
  for (const auto& level : LevelSet::built_in().all()) {
    if (level->framework == Framework::CoSnap) continue;  // tests/check/points
    if (is_idle(*level, h)) continue;
    const Outcome fast = decide(h, *level);
    const Outcome ground = decide(h, *level, Engine::Ground);
    if (fast != ground)
      return fmt::format("{}: fast path says {}, ground path {}", level->full_name(), name_of(fast),
                         name_of(ground));
  }
  return {};
}

struct Implication {
  const char* stronger;
  const char* weaker;
};
inline constexpr Implication kImplications[] = {
    {"ser", "si"},
    {"si", "psi"},
    {"psi", "cc"},
    {"cc", "ra"},
    {"ra", "rc"},
    {"si", "pc"},
    {"pc", "cc"},
    {"psi", "ua"},
    {"ua", "ra"},
    {"ua", "nlu"},
    {"ser", "update-ser"},
    {"ra", "plume-ra"},
    {"cc", "plume-cc"},
    {"rc", "true"},
    {"plume-cc", "cc"},
    {"strict-ser", "ser"},
    {"strong-si", "si"},
    {"strict-psi", "psi"},
    {"strict-pc", "pc"},
    {"strict-cc", "cc"},
    {"strict-ra", "ra"},
    {"strict-rc", "rc"},
    {"strict-ua", "ua"},
    {"strict-ser", "strong-si"},
    {"strong-si", "strict-psi"},
    {"strong-si", "strict-pc"},
    {"strict-psi", "strict-cc"},
    {"strict-pc", "strict-cc"},
    {"strict-cc", "strict-ra"},
    {"strict-ra", "strict-rc"},
    {"strict-psi", "strict-ua"},
    {"strict-ua", "strict-ra"},
};
inline constexpr const char* kInBothFrameworks[] = {
    "ra",        "cc",        "pc",        "si",        "ser",
    "strict-ra", "strict-cc", "strict-pc", "strong-si", "strict-ser"};

inline std::string check_hierarchy(const SmallHistory& small) {
  const History h = build(small);
  Checker checker(h);
  const auto outcome = [&](const std::string& name) {
    Budget budget;
    return checker.check({.base = *LevelSet::built_in().find(name), .own = {}}, budget)
        .verdict.outcome;
  };
  const auto is_worth_asking = [&](const std::string& name) {
    return !is_idle(**LevelSet::built_in().find(name), h);
  };
  for (const auto& [stronger, weaker] : kImplications) {
    if (!is_worth_asking(stronger)) continue;
    if (outcome(stronger) == Outcome::Consistent && outcome(weaker) != Outcome::Consistent)
      return fmt::format("{} holds, {} does not", stronger, weaker);
  }
  for (const std::string name : kInBothFrameworks) {
    if (!is_worth_asking(name)) continue;
    if (outcome(name + "@co") != outcome(name + "@vis"))
      return fmt::format("{}@co and {}@vis differ", name, name);
  }
  return {};
}

// The same history with other key numbers, and with its sessions in another order.
inline SmallHistory disguised(const SmallHistory& small) {
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

inline std::string compare_disguised(const SmallHistory& small) {
  const History h = build(small);
  const History other = build(disguised(small));
  for (const char* name : {"rc", "ra", "cc", "pc", "ua", "psi", "si", "ser", "update-ser"}) {
    const Level& level = **LevelSet::built_in().find(name);
    if (decide(h, level) != decide(other, level))
      return fmt::format("{} changes with the names", name);
  }
  return {};
}

// Sets of levels that single transactions may have beside each other.
inline const std::vector<std::vector<std::string>> kMixtures = {{"rc", "ra", "cc", "true"},
                                                                {"ser", "ra"},
                                                                {"rc", "si", "ser"},
                                                                {"psi", "ra"},
                                                                {"pc", "ua", "ser"}};

inline std::string compare_mixture(const SmallHistory& small) {
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

}  // namespace isoscope
