// The arbiter of pg-rc and pg-rr is PostgreSQL: small programs run through all schedules, every
// history seen satisfies the text of its level, and every history that the text allows is seen. Our
// machine of the server gives the same histories to the same program as .txn: those that the text
// allows, and whatever the server gave. Programs with INSERT and DELETE have no form as .txn.
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

// The number of the write that a statement has seen, by a row of its answer.
int seen_by(const SmallProgram& program, const Statement& s, const force::Row& row) {
  const long long value = std::stoll(row.front().value());
  switch (s.kind) {
    case Kind::Select:
    case Kind::SelectTwo:
    case Kind::ForUpdate:
    case Kind::ForShare:
    case Kind::Delete: return static_cast<int>(value % 100);
    case Kind::Blind: break;
    case Kind::Insert: return remover(program, s.row);
    case Kind::Upsert:
    case Kind::UpsertBeside:
      if (row.at(1).value() == "0") return remover(program, s.row);
      [[fallthrough]];
    case Kind::Update: return static_cast<int>(value / 100 % 100);
  }
  return 0;
}

// What the server answered, as far as the transaction came.
Outcome outcome_of(const SmallProgram& program, const Transaction& txn,
                   const std::vector<force::Answer>& answers) {
  Outcome outcome;
  for (std::size_t i = 0; i < txn.size() && i < answers.size(); ++i) {
    if (answers[i].has_failed()) return outcome;
    std::vector<int> seen;
    for (const force::Row& row : answers[i].tables.back().rows) {
      seen.push_back(seen_by(program, txn[i], row));
      if (txn[i].kind == Kind::UpsertBeside)
        seen.push_back(static_cast<int>(std::stoll(row.at(2).value()) % 100));
    }
    if (seen.empty()) seen.push_back(remover(program, txn[i].row));
    outcome.seen.push_back(std::move(seen));
  }
  outcome.committed = answers.size() == txn.size() + 1 && !answers.back().has_failed();
  return outcome;
}

// All orders of the statements and commits.
std::vector<force::Turns> schedules_of(const SmallProgram& program) {
  force::Turns turns;
  for (std::uint32_t t = 0; t < program.size(); ++t)
    turns.insert(turns.end(), program[t].size() + 1, force::ActorId{t});
  std::vector<force::Turns> schedules;
  do schedules.push_back(turns);
  while (std::next_permutation(turns.begin(), turns.end()));
  return schedules;
}

class LivePostgres : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    server_ = PostgresServer::start(why_not);
    if (!server_) GTEST_SKIP() << why_not;
    run_alone("CREATE TABLE t(id int PRIMARY KEY, v bigint)");
  }

  void run_alone(const std::string& sql) {
    auto stage = force::PgSessions::open({.dsn = server_->dsn()},
                                         {{.name = "alone", .script = force::say({sql})}});
    ASSERT_TRUE(stage.ok()) << render(stage.error());
    Budget budget = Budget::seconds(20);
    ASSERT_TRUE(force::play(**stage, {.turns = {force::ActorId{0}}}, budget).ok());
    ASSERT_FALSE((*stage)->answers({0}).back().has_failed())
        << (*stage)->answers({0}).back().message;
  }

  std::vector<Outcome> play(const SmallProgram& program, const std::string& isolation,
                            const force::Turns& turns) {
    std::vector<force::ActorScript> actors;
    for (const Transaction& txn : program) {
      std::vector<std::string> statements;
      for (const Statement& s : txn) statements.push_back(sql_of(s));
      statements.emplace_back("COMMIT");
      std::vector<std::string> setup;
      if (actors.empty()) setup = {"DELETE FROM t", "INSERT INTO t VALUES (1, 0), (2, 0)"};
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
    for (std::uint32_t t = 0; t < program.size(); ++t)
      outcomes.push_back(outcome_of(program, program[t], (*stage)->answers({t}).entries()));
    return outcomes;
  }

  // The histories of all schedules.
  std::set<std::string> histories(const SmallProgram& program, const std::string& isolation) {
    std::set<std::string> texts;
    for (const auto& schedule : schedules_of(program)) {
      const auto outcomes = play(program, isolation, schedule);
      if (outcomes.size() == program.size()) texts.insert(text_of(program, outcomes));
    }
    return texts;
  }

  void compare(const std::string& name, const std::string& isolation, std::uint64_t seed,
               bool with_rows = false) {
    const auto pg_level = sql::server::find_pg_level(name);
    ASSERT_TRUE(pg_level);
    const Level& level = level_of(name);
    const char* asked = std::getenv("ISOSCOPE_LEVEL_PROGRAMS");
    const std::uint64_t programs = asked != nullptr ? std::strtoull(asked, nullptr, 10) : cases(30);
    std::size_t seen_in_all = 0;
    for (std::uint64_t i = 0; i < programs; ++i) {
      Rng rng(seed + i);
      const SmallProgram program = with_rows ? random_row_program(rng) : random_program(rng);
      const Allowed allowed(program, level);
      const OnMachine machine = with_rows ? OnMachine() : on_machine(program, *pg_level);
      if (!with_rows) {
        EXPECT_EQ(machine.committed, allowed.texts()) << name << ", seed " << seed + i;
      }
      std::vector<force::Turns> schedules = schedules_of(program);
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
        EXPECT_TRUE(with_rows || machine.all.contains(text))
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

  static const Level& level_of(const std::string& name) {
    return **LevelSet::built_in().find(name);
  }

  std::unique_ptr<PostgresServer> server_;
};

TEST_F(LivePostgres, GivesReadCommittedAsTheTextSays) { compare("pg-rc", "READ COMMITTED", 1'000); }

TEST_F(LivePostgres, GivesRepeatableReadAsTheTextSays) {
  compare("pg-rr", "REPEATABLE READ", 2'000);
}

TEST_F(LivePostgres, InsertsAtReadCommittedAsTheTextSays) {
  compare("pg-rc", "READ COMMITTED", 3'000, true);
}

TEST_F(LivePostgres, InsertsAtRepeatableReadAsTheTextSays) {
  compare("pg-rr", "REPEATABLE READ", 4'000, true);
}

// Histories that tell levels apart, and what the server gives at each of its levels: the level's
// text allows just what some schedule shows.
TEST_F(LivePostgres, TellsLevelsApartAsTheirTextsDo) {
  struct Separating {
    const char* why;
    SmallProgram program;
    const char* history;
    bool read_committed;
    bool repeatable_read;
  };
  const Separating kSeparating[] = {
      {"who waited at READ COMMITTED sees whom it waited for, its snapshot at REPEATABLE READ "
       "stays",
       {{{Kind::Blind, 1, 11}, {Kind::ForShare, 2, 12}},
        {{Kind::Blind, 2, 21}, {Kind::Select, 1, 22}}},
       "s1: [w(x1,11) | ls(x2) r(x2,0) | ]\ns2: [w(x2,21) | r(x1,0) | ]\n",
       false,
       true},
      {"a snapshot for each statement",
       {{{Kind::Blind, 1, 11}}, {{Kind::Select, 1, 21}, {Kind::Select, 1, 22}}},
       "s1: [w(x1,11) | ]\ns2: [r(x1,0) | r(x1,11) | ]\n",
       true,
       false},
      {"one snapshot is not enough for either level, where a row is written that was waited for",
       {{{Kind::Blind, 1, 11}, {Kind::Blind, 2, 12}},
        {{Kind::Select, 2, 21}, {Kind::Update, 1, 22}, {Kind::Select, 2, 23}}},
       "s1: [w(x1,11) | w(x2,12) | ]\ns2: [r(x2,0) | r(x1,11) w(x1,22) | r(x2,0) | ]\n",
       false,
       false},
      {"what a statement has read, inserted or not, the next one does not miss",
       {{{Kind::Insert, 3, 11}}, {{Kind::ForUpdate, 3, 21}, {Kind::Select, 3, 22}}},
       "s1: [r(x3,nil) i(x3,11) | ]\ns2: [l(x3) r(x3,11) | r(x3,nil) | ]\n",
       false,
       false},
      {"what an upsert waited for, its own snapshot misses and the next one has",
       {{{Kind::Insert, 3, 11}, {Kind::Blind, 1, 12}},
        {{Kind::UpsertBeside, 3, 21}, {Kind::Select, 1, 22}}},
       "s1: [r(x3,nil) i(x3,11) | w(x1,12) | ]\ns2: [r(x3,11) w(x3,21) r(x1,0) | r(x1,12) | ]\n",
       true,
       false},
      {"a key that was freed is taken, and who freed it is seen at READ COMMITTED alone",
       {{{Kind::Blind, 2, 11}, {Kind::Delete, 1, 12}},
        {{Kind::Select, 2, 21}, {Kind::Insert, 1, 22}, {Kind::Select, 2, 23}}},
       "s1: [w(x2,11) | r(x1,0) d(x1) | ]\ns2: [r(x2,0) | r(x1,nil) i(x1,22) | r(x2,0) | ]\n",
       false,
       true},
  };
  for (const Separating& s : kSeparating) {
    SCOPED_TRACE(s.why);
    const std::string text = std::string("init x3=nil\n") + s.history;
    const History h = history_of(text);
    EXPECT_EQ(BruteForce(h).decide(level_of("pg-rc")).has_value(), s.read_committed);
    EXPECT_EQ(BruteForce(h).decide(level_of("pg-rr")).has_value(), s.repeatable_read);
    const auto shown = histories(s.program, "READ COMMITTED");
    EXPECT_EQ(shown.contains(text), s.read_committed) << fmt::format("{}", fmt::join(shown, "\n"));
    EXPECT_EQ(histories(s.program, "REPEATABLE READ").contains(text), s.repeatable_read);
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace isoscope
