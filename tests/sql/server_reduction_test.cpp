// Schedules with one order of steps that commute against all schedules: the same histories, ends
// and deadlocks, with fewer steps.
#include <gtest/gtest.h>

#include <set>

#include "check/points/random_statements.h"
#include "check/points/random_stmts.h"
#include "random_innodb.h"
#include "random_locks.h"
#include "random_sql.h"
#include "sql/server/schedules.h"
#include "sql/server/state_digest.h"

namespace isoscope::sql::server {
namespace {

struct Found {
  Schedules all;
  std::set<Digest> histories;
  std::set<Digest> ends;
};

Found explore_all(const Machine& machine, bool is_reduced) {
  Found found;
  ScheduleOptions options{.budget = Budget::seconds(20), .is_reduced = is_reduced};
  options.on_history = [&](const State& state, const std::vector<Choice>& schedule, bool) {
    found.histories.insert(history_of(state));
    found.ends.insert(digest_of(end_of(machine, state)));
    // The schedule leads there.
    State again = machine.start();
    for (const Choice& choice : schedule) machine.take(again, choice);
    EXPECT_EQ(history_of(again), history_of(state));
    return true;
  };
  found.all = explore(machine, {}, options);
  return found;
}

struct Steps {
  std::uint64_t reduced = 0;
  std::uint64_t all = 0;
};

void compare(const Machine& machine, Steps& steps) {
  const Found all = explore_all(machine, false);
  if (all.all.is_out_of_time || all.all.fault) return;
  const Found reduced = explore_all(machine, true);
  ASSERT_FALSE(reduced.all.is_out_of_time);
  ASSERT_EQ(reduced.histories, all.histories);
  ASSERT_EQ(reduced.ends, all.ends);
  ASSERT_EQ(reduced.all.histories, all.all.histories);
  ASSERT_EQ(reduced.all.deadlocks > 0, all.all.deadlocks > 0);
  ASSERT_LE(reduced.all.steps, all.all.steps);
  steps.reduced += reduced.all.steps;
  steps.all += all.all.steps;
}

std::vector<PgLevel> random_levels(Rng& rng, std::size_t calls) {
  const PgLevel base = rng.chance(0.5) ? PgLevel::ReadCommitted : PgLevel::RepeatableRead;
  std::vector<PgLevel> levels(calls, base);
  if (rng.chance(0.3)) {
    for (PgLevel& level : levels) {
      if (rng.chance(0.5)) level = static_cast<PgLevel>(rng.below(3));
    }
  }
  return levels;
}

TEST(ScheduleReduction, FindsTheHistoriesOfTxnPrograms) {
  Steps steps;
  for (std::uint64_t seed = 1; seed <= cases(1'500); ++seed) {
    Rng rng(seed + 500'000);
    const std::string text = random_stmts(rng);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok());
    const Machine machine(*program, random_levels(rng, program->outline().calls.size()));
    compare(machine, steps);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(steps.reduced, steps.all);
  RecordProperty("factor", std::to_string(static_cast<double>(steps.all) /
                                          static_cast<double>(steps.reduced)));
}

TEST(ScheduleReduction, FindsTheHistoriesOfSqlPrograms) {
  Steps steps;
  for (std::uint64_t seed = 1; seed <= cases(600); ++seed) {
    Rng rng(seed + 700'000);
    auto app = parse_application(RandomSql(Choices(seed)).program());
    ASSERT_TRUE(app.ok());
    if (!app->problems.empty()) continue;
    const auto program = SqlProgram::create(*std::move(app));
    ASSERT_TRUE(program.ok());
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Machine machine(**program, random_levels(rng, (*program)->outline().calls.size()));
    compare(machine, steps);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(steps.reduced, steps.all);
  RecordProperty("factor", std::to_string(static_cast<double>(steps.all) /
                                          static_cast<double>(steps.reduced)));
}

// The program of a text that has no problems.
std::unique_ptr<SqlProgram> program_of(const std::string& text) {
  auto app = parse_application(text);
  EXPECT_TRUE(app.ok() && app->problems.empty());
  return *SqlProgram::create(*std::move(app));
}

TEST(ScheduleReduction, FindsTheHistoriesOfProgramsOnMariaDb) {
  Steps steps;
  for (std::uint64_t seed = 1; seed <= cases(200); ++seed) {
    const std::string text = RandomInnodb(seed + 40'000).text();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = program_of(text);
    Rng rng(seed);
    std::vector<PgLevel> levels(program->outline().calls.size());
    for (PgLevel& level : levels)
      level = rng.chance(0.5) ? PgLevel::ReadCommitted : PgLevel::RepeatableRead;
    compare(Machine(*program, levels, {}, false, ServerKind::MariaDb), steps);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(steps.reduced, steps.all);
}

TEST(ScheduleReduction, FindsTheHistoriesOfAdvisoryLocks) {
  Steps steps;
  for (std::uint64_t seed = 1; seed <= cases(100); ++seed) {
    const std::string text = random_locks(seed + 50'000);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto program = program_of(text);
    Rng rng(seed);
    compare(Machine(*program, random_levels(rng, program->outline().calls.size())), steps);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(steps.reduced, steps.all);
}

// Four sessions that each read and write a row of their own, and read a common one.
TEST(ScheduleReduction, TakesOneOrderOfIndependentSteps) {
  const auto program = parse_program(
      "txn f(i) { a := read(c); b := read(t[i]); write(t[i], a + b) }\n"
      "session s[1..4] { f(self) }\n");
  ASSERT_TRUE(program.ok());
  const Machine machine(*program, std::vector<PgLevel>(4, PgLevel::ReadCommitted));
  const Found reduced = explore_all(machine, true);
  const Found all = explore_all(machine, false);
  EXPECT_EQ(reduced.histories, all.histories);
  EXPECT_EQ(reduced.all.histories, 1U);
  EXPECT_LT(2 * reduced.all.steps, all.all.steps);
}

}  // namespace
}  // namespace isoscope::sql::server
