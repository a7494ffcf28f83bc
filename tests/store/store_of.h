#pragma once
// Programs, levels and runs, for tests of the store.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "program/program.h"
#include "store/runs.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::store {

// The program that `text` is; the test fails if it is none.
inline Program program_of(const std::string& text) {
  auto program = parse_program(text);
  if (program) return std::move(*program);
  ADD_FAILURE() << render(program.error()) << "\nin\n" << text;
  return std::move(*parse_program(""));
}

inline Program example(const std::string& name) {
  auto text = read_whole(source_dir() + "/examples/programs/" + name + ".txn");
  EXPECT_TRUE(text.ok()) << name;
  return program_of(text ? *text : "");
}

inline const Level& level_of(const std::string& name) {
  auto level = LevelSet::built_in().find(name);
  EXPECT_TRUE(level.ok()) << name;
  return **level;
}

inline LevelPlan plan_of(const Program& program, const std::string& level) {
  auto plan = plan_levels(program, level_of(level), LevelSet::built_in());
  EXPECT_TRUE(plan.ok()) << (plan ? "" : render(plan.error()));
  return plan ? *plan : LevelPlan{};
}

inline Store weak_store(const Program& program, const std::string& level) {
  Budget budget;
  const LevelPlan plan = plan_of(program, level);
  auto oracle = make_oracle(program, &plan, budget);
  EXPECT_TRUE(oracle.ok());
  return Store(program, *std::move(oracle));
}

inline Recording weak_run(const Program& program, const std::string& level, std::uint64_t seed) {
  Store store = weak_store(program, level);
  const auto end = run_once(store, seed);
  EXPECT_TRUE(end.ok()) << (end ? "" : render(end.error()));
  return store.recording();
}

inline Recording serial_run(const Program& program, std::uint64_t seed) {
  Store store(program);
  const auto end = run_once(store, seed);
  EXPECT_TRUE(end.ok()) << (end ? "" : render(end.error()));
  return store.recording();
}

}  // namespace isoscope::store
