// The arbiter of pg-rc and pg-rr is PostgreSQL: small programs run through all schedules, every
// history seen satisfies the text of its level, and every history that the text allows is seen. Our
// machine of the server gives the same histories to the same program as .txn: those that the text
// allows, and whatever the server gave.
//
// A server of the test's own (tests/support/postgres_server.h). ISOSCOPE_LEVEL_PROGRAMS=300 runs so
// many programs a level, as the nightly tests do.
#include <gtest/gtest.h>

#include <set>

#include "force/scheduler.h"
#include "force/sessions.h"
#include "level_programs.h"
#include "random_statements.h"
#include "support/postgres_server.h"

namespace isoscope {
namespace {

using namespace level_programs;

// What the server answered, as far as the transaction came.
Outcome outcome_of(const Transaction& txn, const std::vector<force::Answer>& answers) {
  Outcome outcome;
  for (std::size_t i = 0; i < txn.size() && i < answers.size(); ++i) {
    if (answers[i].has_failed()) return outcome;
    std::vector<int> seen;
    for (const force::Row& row : answers[i].tables.back().rows) {
      const long long value = std::stoll(row.front().value());
      if (txn[i].kind == Kind::Blind) continue;
      seen.push_back(static_cast<int>((txn[i].kind == Kind::Update ? value / 100 : value) % 100));
    }
    outcome.seen.push_back(std::move(seen));
  }
  outcome.committed = answers.size() == txn.size() + 1 && !answers.back().has_failed();
  return outcome;
}

class LivePostgres : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    server_ = PostgresServer::start(why_not);
    if (!server_) GTEST_SKIP() << why_not;
    run_alone("CREATE TABLE t(id int PRIMARY KEY, v bigint); INSERT INTO t VALUES (1,0),(2,0)");
  }

  void run_alone(const std::string& sql) {
    auto stage = force::PgSessions::open({.dsn = server_->dsn()},
                                         {{.name = "alone", .script = force::say({sql})}});
    ASSERT_TRUE(stage.ok()) << render(stage.error());
    Budget budget = Budget::seconds(20);
    ASSERT_TRUE(force::play(**stage, {.turns = {0}}, budget).ok());
    ASSERT_FALSE((*stage)->answers(0).back().has_failed()) << (*stage)->answers(0).back().message;
  }

  std::vector<Outcome> play(const SmallProgram& program, const std::string& isolation,
                            const std::vector<std::size_t>& turns) {
    std::vector<force::ActorScript> actors;
    for (const Transaction& txn : program) {
      std::vector<std::string> statements;
      for (const Statement& s : txn) statements.push_back(sql_of(s));
      statements.emplace_back("COMMIT");
      std::vector<std::string> setup;
      if (actors.empty()) setup.emplace_back("UPDATE t SET v = 0");
      setup.push_back("BEGIN ISOLATION LEVEL " + isolation);
      actors.push_back({.name = fmt::format("s{}", actors.size() + 1),
                        .script = force::say_until_failure(statements),
                        .setup = setup});
    }
    auto stage = force::PgSessions::open({.dsn = server_->dsn()}, std::move(actors));
    EXPECT_TRUE(stage.ok()) << render(stage.error());
    if (!stage) return {};
    Budget budget = Budget::seconds(60);
    const auto played = force::play(**stage, {.turns = turns}, budget);
    EXPECT_TRUE(played.ok()) << render(played.error());
    std::vector<Outcome> outcomes;
    for (std::size_t t = 0; t < program.size(); ++t)
      outcomes.push_back(outcome_of(program[t], (*stage)->answers(t)));
    return outcomes;
  }

  void compare(const std::string& name, const std::string& isolation, std::uint64_t seed) {
    const auto pg_level = sql::server::find_pg_level(name);
    ASSERT_TRUE(pg_level);
    const Level& level = **LevelSet::built_in().find(name);
    const char* asked = std::getenv("ISOSCOPE_LEVEL_PROGRAMS");
    const std::uint64_t programs = asked != nullptr ? std::strtoull(asked, nullptr, 10) : cases(30);
    std::size_t seen_in_all = 0;
    for (std::uint64_t i = 0; i < programs; ++i) {
      Rng rng(seed + i);
      const SmallProgram program = random_program(rng);
      const Allowed allowed(program, level);
      const OnMachine machine = on_machine(program, *pg_level);
      EXPECT_EQ(machine.committed, allowed.texts()) << name << ", seed " << seed + i;
      std::vector<std::size_t> turns;
      for (std::size_t t = 0; t < program.size(); ++t)
        turns.insert(turns.end(), program[t].size() + 1, t);
      std::vector<std::vector<std::size_t>> schedules;
      do schedules.push_back(turns);
      while (std::next_permutation(turns.begin(), turns.end()));
      for (std::size_t j = schedules.size(); j > 1; --j)
        std::swap(schedules[j - 1], schedules[rng.below(j)]);
      std::set<std::string> missing = allowed.texts();
      std::size_t played = 0;
      for (const auto& schedule : schedules) {
        if (missing.empty() && played >= 6) break;
        ++played;
        const auto outcomes = play(program, isolation, schedule);
        ASSERT_FALSE(HasFatalFailure());
        ASSERT_EQ(outcomes.size(), program.size());
        const std::string text = text_of(program, outcomes);
        const History h = history_of(text);
        EXPECT_TRUE(BruteForce(h).decide(level).has_value())
            << name << ", seed " << seed + i << ": the server gave\n"
            << text;
        EXPECT_TRUE(machine.all.contains(text))
            << name << ", seed " << seed + i << ": the server gave, and our machine does not,\n"
            << text;
        missing.erase(text);
        ++seen_in_all;
      }
      for (const std::string& text : missing)
        ADD_FAILURE() << name << ", seed " << seed + i << ": no schedule gave\n" << text;
      if (HasFailure()) return;
    }
    EXPECT_GT(seen_in_all, programs);
  }

  std::unique_ptr<PostgresServer> server_;
};

TEST_F(LivePostgres, GivesReadCommittedAsTheTextSays) { compare("pg-rc", "READ COMMITTED", 1'000); }

TEST_F(LivePostgres, GivesRepeatableReadAsTheTextSays) {
  compare("pg-rr", "REPEATABLE READ", 2'000);
}

}  // namespace
}  // namespace isoscope
