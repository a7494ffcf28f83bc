#pragma once
// Runs a program on the store, once or many times, and counts what went wrong.
//
//   serial   transactions one after the other, each read taking the latest write
//   weak     each read takes any version that keeps the history legal at a level
//
// In both, the seed decides which session goes next. A transaction that cannot commit at si, psi or
// ser runs again with other choices; after a few attempts with the latest values of an order that
// explains the history so far.
//
// A seed stands for a run: run i of many is the run of seed + i, and the same on every machine.
#include <cstdint>
#include <optional>

#include "store/store.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::store {

enum class RunEnd : std::uint8_t { Complete, Expired };

// One run from the initial state, recorded in the store. Without an oracle: serial. An error if a
// transaction cannot go on, or if the level leaves it no way to do so.
Result<RunEnd> run_once(Store& store, std::uint64_t seed);

struct RunsOptions {
  std::uint64_t seed = 0;
  std::uint64_t runs = 1;
  Progress progress = {};
};

struct Runs {
  std::uint64_t runs = 0;               // finished
  std::uint64_t failed_assertions = 0;  // runs in which an assertion failed
  std::uint64_t unserializable = 0;
  std::optional<std::uint64_t> first_failed = {};  // seeds
  std::optional<std::uint64_t> first_unserializable = {};
  bool is_expired = false;  // before all runs were done
  // The run worth showing: the first that failed an assertion, else the first unserializable one,
  // else the first.
  std::uint64_t shown_seed = 0;
  Recording shown = {};
};

// Many runs, serial without a plan, else weak at its levels.
Result<Runs> run_many(const Executable& program, const LevelPlan* plan, const RunsOptions& options,
                      Budget& budget);

// Is there a serial order that explains the recorded run? Nothing if the time runs out.
std::optional<bool> is_serializable(const Executable& program, const Recording& recording,
                                    Budget& budget);

}  // namespace isoscope::store
