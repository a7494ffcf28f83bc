// Runs that were executed before are found by the values that they read, and only by these.
#include "explore/known_runs.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/rng.h"

namespace isoscope::explore {
namespace {

// What some transaction does in a database of four keys: which keys it reads depends on what it has
// read.
KnownRun run_on(const std::vector<std::int64_t>& database) {
  KnownRun run{.is_committed = true};
  std::uint32_t key = 0;
  for (int i = 0; i < 3; ++i) {
    run.probes.push_back({ProgramKey{key}, database[key]});
    run.locals.push_back(database[key]);
    key = static_cast<std::uint32_t>((key + 1 + database[key] % 2) % 4);
    const bool is_known =
        std::any_of(run.probes.begin(), run.probes.end(),
                    [&](const KnownRun::Probe& probe) { return probe.key.index == key; });
    if (is_known) break;
  }
  return run;
}

TEST(KnownRuns, AreThoseThatWouldBeExecuted) {
  for (const std::size_t most : {KnownRuns::kMostSize, std::size_t{60}, std::size_t{0}}) {
    KnownRuns runs(2, most);
    Rng rng(7);
    std::size_t num_found = 0;
    for (int i = 0; i < 3'000; ++i) {
      std::vector<std::int64_t> database;
      for (int key = 0; key < 4; ++key) database.push_back(static_cast<std::int64_t>(rng.below(3)));
      const CallId call{static_cast<std::uint32_t>(rng.below(2))};
      const KnownRun expected = run_on(database);
      const KnownRun* found = runs.find(call, [&](ProgramKey key) { return database[key.index]; });
      if (found != nullptr) ++num_found;
      const KnownRun& run = found != nullptr ? *found : runs.add(call, expected);
      ASSERT_EQ(run.locals, expected.locals);
      if (i % 500 == 499) runs.clear();
    }
    if (most == KnownRuns::kMostSize) {
      EXPECT_GT(num_found, 2'000U);
    }
  }
}

}  // namespace
}  // namespace isoscope::explore
