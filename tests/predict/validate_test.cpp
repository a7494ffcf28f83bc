#include "predict/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"
#include "store/runs.h"
#include "workload/workload.h"

namespace isoscope::predict {
namespace {

const LevelSet& levels() { return LevelSet::built_in(); }

Program program_of(const std::string& text) {
  auto program = parse_program(text);
  if (program) return std::move(*program);
  ADD_FAILURE() << render(program.error()) << "\nin\n" << text;
  return std::move(*parse_program(""));
}

History serial_history(const Program& program, std::uint64_t seed) {
  store::Store store(program);
  EXPECT_TRUE(store::run_once(store, seed).ok());
  return store::to_history(program, store.recording());
}

// The first prediction from the serial run of a seed, validated; nothing if there is none.
std::optional<Validation> validated(const Program& program, std::uint64_t seed, const char* level,
                                    Boundary boundary) {
  Budget budget;
  const History observed = serial_history(program, seed);
  EXPECT_TRUE(check_observed(observed, **levels().find(level), levels(), budget).ok());
  const PredictAnswer answer =
      predict(observed, **levels().find(level), levels(), {.boundary = boundary}, budget);
  if (answer.predictions.empty()) return std::nullopt;
  auto validation = validate(program, answer.predictions.front(), **levels().find(level), levels(),
                             boundary, budget);
  EXPECT_TRUE(validation.ok()) << (validation ? "" : render(validation.error()));
  if (!validation) return std::nullopt;
  return *std::move(validation);
}

constexpr const char* kDeposit = "txn deposit(n) { b := read(acct); write(acct, b + n) }\n";

TEST(Validate, MakesTwoDepositsLoseOne) {
  const Program program =
      program_of(std::string(kDeposit) + "session a { deposit(1) }\nsession b { deposit(2) }\n");
  const auto validation = validated(program, 1, "cc", Boundary::Relaxed);
  ASSERT_TRUE(validation.has_value());
  EXPECT_TRUE(validation->is_validated);
  EXPECT_TRUE(validation->divergences.empty());
  EXPECT_EQ(validation->serial.verdict.violation->anomaly, Anomaly::LostUpdate);
}

TEST(Validate, TellsThatAWithdrawalAbortsInstead) {
  const Program program =
      program_of(std::string(kDeposit) +
                 "txn withdraw(n) { b := read(acct); if (b < n) { abort }; write(acct, b - n) }\n"
                 "session a { deposit(50) }\nsession b { withdraw(40) }\n");
  std::size_t predictions = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto validation = validated(program, seed, "cc", Boundary::Relaxed);
    if (!validation) continue;  // the withdrawal came first, and aborted
    ++predictions;
    EXPECT_FALSE(validation->is_validated) << "seed " << seed;
    ASSERT_FALSE(validation->divergences.empty()) << "seed " << seed;
    EXPECT_EQ(validation->divergences.front().kind, store::DivergenceKind::Outcome);
    EXPECT_THAT(validation->reason, ::testing::HasSubstr("diverges"));
  }
  EXPECT_GT(predictions, 0U);
}

TEST(Validate, LetsNoAbortedAttemptStandInTheWay) {
  // b's attempt reads acct and aborts. Were it to read a's deposit, b's own could not miss that.
  const Program program = program_of(std::string(kDeposit) +
                                     "txn attempt() { b := read(acct); abort }\n"
                                     "session a { deposit(1) }\n"
                                     "session b { attempt(); deposit(2) }\n");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const History observed = serial_history(program, seed);
    const auto validation = validated(program, seed, "cc", Boundary::Relaxed);
    ASSERT_TRUE(validation.has_value()) << "seed " << seed;
    EXPECT_TRUE(validation->is_validated) << "seed " << seed;
    EXPECT_TRUE(validation->divergences.empty()) << "seed " << seed;
    for (const TxnId t : validation->history.txns())
      EXPECT_NE(validation->history.status(t), TxnStatus::Aborted) << "seed " << seed;
  }
}

TEST(Validate, RunsAStrictBoundaryTransactionToItsEnd) {
  // Strict predictions stop at the changed read; the run goes on and writes.
  WorkloadPlan plan{.workload = "tpcc"};
  const Program program = program_of(*generate_program(plan));
  Budget budget;
  const Level& level = **levels().find("cc");
  const PredictAnswer answer =
      predict(serial_history(program, 1), level, levels(), {.boundary = Boundary::Strict}, budget);
  ASSERT_EQ(answer.predictions.size(), 1U);
  const Prediction& prediction = answer.predictions.front();
  const auto validation = validate(program, prediction, level, levels(), Boundary::Strict, budget);
  ASSERT_TRUE(validation.ok());
  EXPECT_TRUE(validation->is_validated);
  std::size_t predicted_events = 0;
  for (const TxnId t : prediction.history.txns())
    predicted_events += prediction.history.events(t).size();
  std::size_t events = 0;
  for (const TxnId t : validation->history.txns()) events += validation->history.events(t).size();
  EXPECT_GT(events, predicted_events);
}

TEST(Validate, ConfirmsNearlyAllPredictionsOfBenchmarks) {
  std::size_t predictions = 0;
  std::size_t confirmed = 0;
  for (const char* workload : {"smallbank", "tpcc"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const WorkloadPlan plan{.workload = workload, .seed = seed};
      const Program program = program_of(*generate_program(plan));
      for (const char* level : {"cc", "rc"}) {
        for (const Boundary boundary : {Boundary::Strict, Boundary::Relaxed}) {
          const auto validation = validated(program, seed, level, boundary);
          if (!validation) continue;
          ++predictions;
          if (validation->is_validated) ++confirmed;
          // What the run did is legal in any case.
          Budget budget;
          EXPECT_EQ(check(validation->history, **levels().find(level), budget).verdict.outcome,
                    Outcome::Consistent)
              << workload << " seed " << seed << " at " << level;
        }
      }
    }
  }
  EXPECT_GE(predictions, 30U);
  EXPECT_GE(100 * confirmed, 95 * predictions) << confirmed << " of " << predictions;
}

}  // namespace
}  // namespace isoscope::predict
