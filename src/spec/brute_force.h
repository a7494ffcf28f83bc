#pragma once
// The oracle: tries every witness until one satisfies the level.
//
// Knows nothing about levels but how to ask spec/evaluate.h. What it leaves out is only what the
// framework itself forbids: orders that contradict so, wr or a known version order, and views
// vis⁻¹(t) that lack what t's session or reads demand or in which some read of t would see
// another writer, and snapshots in which one would.
//
//     BruteForce oracle(h);
//     std::optional<Witness> w = oracle.decide({.base = &level});
//
// Cost  At most 6! commit orders, or 4! arbitrations with up to 2^6 visibilities each, or 5! commit
//       orders with up to 5^7 choices of snapshots. Witnesses are listed once a history and used
//       for all levels, but those with snapshots, which are made one after the other.
#include <optional>
#include <vector>

#include "spec/evaluate.h"

namespace isoscope {

inline constexpr std::size_t kMaxBruteForceCo = 6;          // present transactions besides T0
inline constexpr std::size_t kMaxBruteForceVis = 4;         // the same, over vis, ar
inline constexpr std::size_t kMaxBruteForceSnap = 5;        // the same, over co, snap …
inline constexpr std::size_t kMaxBruteForceStatements = 7;  // … with so many statements that read

// Is the history small enough for the framework?
bool is_small_enough(const History& h, Framework framework);

class BruteForce {
 public:
  // Requires: `h` outlives the oracle.
  explicit BruteForce(const History& h) : h_(h) {}

  // A witness, or nothing if no witness satisfies the assignment.
  // Requires: is_small_enough() for the levels' framework, check_assignable(levels).
  std::optional<Witness> decide(const Assignment& levels);
  std::optional<Witness> decide(const Level& level) { return decide(Assignment{&level, {}}); }

 private:
  const std::vector<Witness>& witnesses(const Assignment& levels);

  const History& h_;
  std::optional<std::vector<Witness>> co_;
  std::optional<std::vector<Witness>> vis_ar_;  // with all of so in vis
  std::vector<Witness> special_;                // for levels without so
};

// For a single question.
std::optional<Witness> brute_force(const History& h, const Assignment& levels);

}  // namespace isoscope
