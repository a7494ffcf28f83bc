// The arbiter of pg-rc and pg-rr is PostgreSQL: small programs run through all schedules, every
// history seen satisfies the text of its level, and every history that the text allows is seen.
//
// A server of the test's own (tests/support/postgres_server.h). ISOSCOPE_LEVEL_PROGRAMS=300 runs so
// many programs a level, as the nightly tests do.
#include <gtest/gtest.h>

#include <set>

#include "force/scheduler.h"
#include "force/sessions.h"
#include "random_statements.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/history_of.h"
#include "support/postgres_server.h"

namespace isoscope {
namespace {

// What a statement does to a row, or reads of two.
enum class Kind { Select, SelectTwo, Blind, Update, ForUpdate, ForShare };

struct Statement {
  Kind kind = Kind::Select;
  int row = 1;
  int number = 0;  // what it writes: unique, and tells its transaction
};
using Transaction = std::vector<Statement>;
using Program = std::vector<Transaction>;

std::string sql_of(const Statement& s) {
  const std::string from = fmt::format("FROM t WHERE id = {}", s.row);
  switch (s.kind) {
    case Kind::Select:
      return "SELECT v " + from;
    case Kind::SelectTwo:
      return "SELECT v FROM t ORDER BY id";
    case Kind::Blind:
      return fmt::format("UPDATE t SET v = {} WHERE id = {} RETURNING v", s.number, s.row);
    case Kind::Update:  // the new value ends in its number and tells the old one before it
      return fmt::format("UPDATE t SET v = v * 100 + {} WHERE id = {} RETURNING v", s.number,
                         s.row);
    case Kind::ForUpdate:
      return "SELECT v " + from + " FOR UPDATE";
    case Kind::ForShare:
      return "SELECT v " + from + " FOR SHARE";
  }
  return {};
}

bool reads(const Statement& s) { return s.kind != Kind::Blind; }
bool writes(const Statement& s) { return s.kind == Kind::Blind || s.kind == Kind::Update; }

// A transaction as far as it came, and what its reads saw: numbers of writes, 0 for the initial
// one.
struct Outcome {
  bool committed = false;
  std::vector<std::vector<int>> seen;  // by statement that was answered
};

std::string text_of(const Program& program, const std::vector<Outcome>& outcomes) {
  std::string out;
  for (std::size_t t = 0; t < program.size(); ++t) {
    std::string ops;
    for (std::size_t i = 0; i < outcomes[t].seen.size(); ++i) {
      const Statement& s = program[t][i];
      const auto& seen = outcomes[t].seen[i];
      if (s.kind == Kind::ForUpdate) ops += fmt::format("l(x{}) ", s.row);
      if (s.kind == Kind::ForShare) ops += fmt::format("ls(x{}) ", s.row);
      if (s.kind == Kind::SelectTwo) {
        ops += fmt::format("r(x1,{}) r(x2,{}) ", seen[0], seen[1]);
      } else if (reads(s)) {
        ops += fmt::format("r(x{},{}) ", s.row, seen[0]);
      }
      if (writes(s)) ops += fmt::format("w(x{},{}) ", s.row, s.number);
      ops += "| ";
    }
    out += fmt::format("s{}: [{}]{}\n", t + 1, ops, outcomes[t].committed ? "" : "!");
  }
  return out;
}

// All histories of the program in which everything commits and the level allows what is read.
class Allowed {
 public:
  Allowed(const Program& program, const Level& level) : program_(program), level_(level) {
    for (const Transaction& txn : program) {
      outcomes_.push_back({.committed = true, .seen = {}});
      for (const Statement& s : txn)
        outcomes_.back().seen.emplace_back(s.kind == Kind::SelectTwo ? 2U : reads(s) ? 1U : 0U);
    }
    choose(0, 0, 0);
  }
  const std::set<std::string>& texts() const { return texts_; }

 private:
  void choose(std::size_t t, std::size_t i, std::size_t part) {
    if (t == program_.size()) {
      const std::string text = text_of(program_, outcomes_);
      const History h = history_of(text);
      if (h.faults().empty() && BruteForce(h).decide(level_)) texts_.insert(text);
      return;
    }
    if (i == program_[t].size()) return choose(t + 1, 0, 0);
    std::vector<int>& seen = outcomes_[t].seen[i];
    if (part == seen.size()) return choose(t, i + 1, 0);
    const int row =
        program_[t][i].kind == Kind::SelectTwo ? static_cast<int>(part) + 1 : program_[t][i].row;
    for (const int number : visible(t, i, row)) {
      seen[part] = number;
      choose(t, i, part + 1);
    }
  }

  // The own last write, or else the last write of anybody who writes the row.
  std::vector<int> visible(std::size_t t, std::size_t i, int row) const {
    int own = 0;
    for (std::size_t j = 0; j < i; ++j) {
      if (writes(program_[t][j]) && program_[t][j].row == row) own = program_[t][j].number;
    }
    if (own != 0) return {own};
    std::vector<int> all = {0};
    for (std::size_t u = 0; u < program_.size(); ++u) {
      int last = 0;
      for (const Statement& s : program_[u]) {
        if (u != t && writes(s) && s.row == row) last = s.number;
      }
      if (last != 0) all.push_back(last);
    }
    return all;
  }

  const Program& program_;
  const Level& level_;
  std::vector<Outcome> outcomes_;
  std::set<std::string> texts_;
};

Program random_program(Rng& rng) {
  Program program(2);
  for (std::size_t t = 0; t < program.size(); ++t) {
    const std::size_t size = 1 + rng.below(2) + (t == 0 && rng.chance(0.5) ? 1 : 0);
    for (std::size_t i = 0; i < size; ++i)
      program[t].push_back({static_cast<Kind>(rng.below(6)), 1 + static_cast<int>(rng.below(2)),
                            static_cast<int>(10 * (t + 1) + i + 1)});
  }
  return program;
}

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

  std::vector<Outcome> play(const Program& program, const std::string& isolation,
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
    const Level& level = **LevelSet::built_in().find(name);
    const char* asked = std::getenv("ISOSCOPE_LEVEL_PROGRAMS");
    const std::uint64_t programs = asked != nullptr ? std::strtoull(asked, nullptr, 10) : cases(30);
    std::size_t seen_in_all = 0;
    for (std::uint64_t i = 0; i < programs; ++i) {
      Rng rng(seed + i);
      const Program program = random_program(rng);
      const Allowed allowed(program, level);
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
