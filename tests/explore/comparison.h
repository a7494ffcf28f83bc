#pragma once
// Explorations against the naive enumeration, and against each other.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/check.h"
#include "explore/explore.h"
#include "explore/naive.h"
#include "program/program.h"
#include "support/read_from_map.h"

namespace isoscope::explore {

using Map = std::vector<CallId>;

// The naive enumeration gives up beyond so many runs.
inline constexpr std::size_t kLimit = 20'000;

inline const LevelSet& levels() { return LevelSet::built_in(); }
inline const Level& level(std::string_view name) { return **levels().find(name); }

// The maps of the naive histories that the level allows, by brute force over its text.
inline std::set<Map> expected(const Program& program, const Naive& naive, const Level& base) {
  std::set<Map> allowed;
  for (const auto& [map, run] : naive.runs()) {
    const History h = to_history(program, run);
    const auto assignment = assign_levels(h, base, levels());
    EXPECT_TRUE(assignment.ok());
    if (BruteForce(h).decide(*assignment)) allowed.insert(map);
  }
  return allowed;
}

struct Found {
  std::set<Map> maps;
  Exploration all;
  bool has_duplicates = false;
};

inline Found explored(const Program& program, const Level& base, Algorithm algorithm,
                      const std::optional<std::string>& through = {}, unsigned threads = 1) {
  Found found;
  const auto plan = make_plan(program, base, levels(), algorithm, through);
  EXPECT_TRUE(plan.ok());
  if (!plan) return found;
  found.all =
      explore(program, *plan, {.threads = threads, .on_history = [&](const store::Recording& run) {
                                 if (!found.maps.insert(read_from_map(run)).second)
                                   found.has_duplicates = true;
                               }});
  return found;
}

// Every algorithm finds these histories at the level, each once, and no dead end where the paper
// promises none.
inline void expect_exactly(const Program& program, const Level& base,
                           const std::set<Map>& allowed) {
  const bool is_weak = base.name == "rc" || base.name == "ra" || base.name == "cc";
  const Found found = explored(program, base, Algorithm::Best);
  ASSERT_EQ(found.maps, allowed);
  ASSERT_FALSE(found.has_duplicates);
  ASSERT_EQ(found.all.histories, allowed.size());
  if (is_weak) {
    ASSERT_EQ(found.all.blocked, 0U);
  }
  if (base.name == "pc" || base.name == "si" || base.name == "ser") {
    const Found by_schedules = explored(program, base, Algorithm::Schedules);
    ASSERT_EQ(by_schedules.maps, allowed);
    ASSERT_FALSE(by_schedules.has_duplicates);
    const Found shared = explored(program, base, Algorithm::Schedules, {}, 3);
    ASSERT_EQ(shared.maps, allowed);
    ASSERT_EQ(shared.all.calls, by_schedules.all.calls);
  }
  const Found by_ce = explored(program, base, Algorithm::Ce);
  ASSERT_EQ(by_ce.maps, allowed);
  ASSERT_FALSE(by_ce.has_duplicates);
  ASSERT_EQ(explored(program, base, Algorithm::Dfs).maps, allowed);
  if (is_weak) {
    ASSERT_EQ(explored(program, base, Algorithm::Ce, "true").maps, allowed);
  }
}

}  // namespace isoscope::explore
