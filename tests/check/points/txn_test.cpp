// Programs in .txn on the machine of PostgreSQL's levels: every history satisfies the text of its
// level, and where each statement is one that SQL has, every history of the text is there.
#include <gtest/gtest.h>

#include "check/check.h"
#include "level_programs.h"
#include "random_statements.h"
#include "random_stmts.h"

namespace isoscope {
namespace {

using level_programs::Allowed;
using level_programs::on_machine;
using level_programs::OnMachine;
using sql::server::PgLevel;

const Level& level_of(PgLevel level) {
  return **LevelSet::built_in().find(std::string(name_of(level)));
}

// Programs of up to three transactions, against every assignment of writers to reads.
void compare(PgLevel level, std::size_t num_txns, std::uint64_t num_programs, std::uint64_t seed) {
  std::size_t histories = 0;
  std::size_t aborted = 0;
  std::size_t missing = 0;
  for (std::uint64_t i = 0; i < num_programs; ++i) {
    Rng rng(seed + i);
    const level_programs::SmallProgram program = level_programs::random_program(rng, num_txns);
    const Allowed allowed(program, level_of(level));
    const OnMachine machine = on_machine(program, level);
    // Of three transactions some histories need a pause between a statement's snapshot and its
    // lock.
    if (num_txns < 3) {
      ASSERT_EQ(machine.committed, allowed.texts())
          << name_of(level) << ", seed " << seed + i << "\n"
          << level_programs::txn_of(program);
    }
    missing += allowed.texts().size() - machine.committed.size();
    for (const std::string& text : machine.all)
      ASSERT_TRUE(BruteForce(history_of(text)).decide(level_of(level)).has_value())
          << name_of(level) << ", seed " << seed + i << "\n"
          << text;
    histories += machine.committed.size();
    aborted += machine.all.size() - machine.committed.size();
  }
  EXPECT_GT(histories, num_programs);
  EXPECT_GT(aborted, num_programs / 200);
  EXPECT_LT(missing * 50, histories);
}

TEST(TxnOnServer, ReadCommittedGivesWhatTheTextAllows) {
  compare(PgLevel::ReadCommitted, 2, cases(2'000), 10'000);
  compare(PgLevel::ReadCommitted, 3, cases(200), 20'000);
}

TEST(TxnOnServer, RepeatableReadGivesWhatTheTextAllows) {
  compare(PgLevel::RepeatableRead, 2, cases(2'000), 30'000);
  compare(PgLevel::RepeatableRead, 3, cases(200), 40'000);
}

// Any program: statements with branches over several keys, computed keys, aborts, retries.
void check_all(PgLevel level, std::uint64_t num_programs, std::uint64_t seed) {
  std::size_t histories = 0;
  std::size_t with_locks = 0;
  for (std::uint64_t i = 0; i < num_programs; ++i) {
    Rng rng(seed + i);
    const std::string text = random_stmts(rng);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok()) << render(program.error()) << "\n" << text;
    const std::size_t calls = program->outline().calls.size();
    const sql::server::Machine machine(*program, std::vector<PgLevel>(calls, level));
    std::size_t left = 60;
    sql::server::ScheduleOptions options;
    options.on_history = [&](const sql::server::State& state, const auto&, bool) {
      const auto h = to_history(machine, state);
      EXPECT_TRUE(h.ok()) << render(h.error()) << "\n" << text;
      if (!h) return false;
      EXPECT_TRUE(h->faults().empty()) << text;
      Budget budget = Budget::seconds(20);
      const CheckAnswer answer = check(*h, level_of(level), budget);
      const bool has_any = h->num_txns() > 1;
      EXPECT_TRUE(!has_any || answer.verdict.outcome != Outcome::Violated)
          << name_of(level) << ", seed " << seed + i << "\n"
          << text;
      ++histories;
      with_locks += h->locks().empty() ? 0 : 1;
      return --left > 0 && !::testing::Test::HasFailure();
    };
    explore(machine, {}, options);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(histories, num_programs);
  EXPECT_GT(with_locks, num_programs / 4);
}

TEST(TxnOnServer, ReadCommittedHistoriesSatisfyTheText) {
  check_all(PgLevel::ReadCommitted, cases(2'000), 50'000);
}

TEST(TxnOnServer, RepeatableReadHistoriesSatisfyTheText) {
  check_all(PgLevel::RepeatableRead, cases(2'000), 60'000);
}

TEST(TxnOnServer, SerializableHistoriesSatisfyTheText) {
  check_all(PgLevel::Serializable, cases(1'000), 70'000);
}

}  // namespace
}  // namespace isoscope
