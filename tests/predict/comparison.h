#pragma once
// Predictions against an enumeration of the whole space, on one serial run.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "formats/formats.h"
#include "predict/brute.h"
#include "predict/pco.h"
#include "predict/predict.h"
#include "support/rng.h"
#include "verdict/confirm.h"

namespace isoscope::predict {

inline const LevelSet& levels() { return LevelSet::built_in(); }

// Transactions one after the other, each read showing the latest write.
template <class Random>  // Rng or Choices
History serial_run(Random& rng, std::size_t max_txns) {
  HistoryBuilder builder(InitialValues::Zero);
  const std::uint64_t num_sessions = 2 + rng.below(2);
  const std::uint64_t num_keys = 1 + rng.below(3);
  std::vector<SessionId> sessions;
  for (std::uint64_t s = 0; s < num_sessions; ++s)
    sessions.push_back(builder.session("s" + std::to_string(s)));
  std::vector<std::string> latest(num_keys, "T0");
  const std::uint64_t num_txns = 2 + rng.below(max_txns - 1);
  std::int64_t value = 0;
  for (std::uint64_t i = 1; i <= num_txns; ++i) {
    const TxnId t = builder.begin(sessions[rng.below(num_sessions)], TxnStatus::Committed, {});
    const std::string name = "T" + std::to_string(i);
    std::vector<std::string> own = latest;
    const std::uint64_t size = 1 + rng.below(4);
    for (std::uint64_t j = 0; j < size; ++j) {
      const std::uint64_t x = rng.below(num_keys);
      const KeyId key = builder.key("k" + std::to_string(x));
      if (rng.chance(0.55)) {
        if (own[x] != name) builder.read_from(t, key, own[x], {});
      } else {
        builder.write(t, key, Value::of(++value), {});
        own[x] = name;
      }
    }
    latest = own;
  }
  Result<History> h = std::move(builder).build();
  EXPECT_TRUE(h.ok()) << (h.ok() ? "" : render(h.error()));
  return std::move(*h);
}

// The same with statements, locks and two columns of a row, for levels over co, snap. Short, since
// all orders with all snapshots are tried.
inline History serial_run_of_statements(Rng& rng) {
  HistoryBuilder builder(InitialValues::Zero);
  const std::vector<std::string> keys = rng.chance(0.5)
                                            ? std::vector<std::string>{"x", "y"}
                                            : std::vector<std::string>{"t[1].a", "t[1].b"};
  std::vector<std::string> latest(keys.size(), "T0");
  const std::uint64_t num_txns = 2 + rng.below(2);
  std::int64_t value = 0;
  for (std::uint64_t i = 1; i <= num_txns; ++i) {
    const SessionId session = builder.session("s" + std::to_string(rng.below(3)));
    const TxnId t = builder.begin(session, TxnStatus::Committed, {});
    const std::string name = "T" + std::to_string(i);
    const std::uint64_t num_statements = 1 + rng.below(3);
    for (std::uint64_t j = 0; j < num_statements; ++j) {
      builder.begin_statement(t);
      const std::uint64_t size = 1 + rng.below(2);
      for (std::uint64_t k = 0; k < size; ++k) {
        const std::uint64_t x = rng.below(keys.size());
        const KeyId key = builder.key(keys[x]);
        if (rng.chance(0.2)) {
          const auto mode = static_cast<LockMode>(rng.below(3));
          builder.lock(t, builder.text(keys[x]), mode, {});
        } else if (rng.chance(0.55)) {
          builder.read_from(t, key, latest[x], {});
        } else {
          builder.write(t, key, Value::of(++value), {});
          latest[x] = name;
        }
      }
    }
  }
  Result<History> h = std::move(builder).build();
  EXPECT_TRUE(h.ok()) << (h.ok() ? "" : render(h.error()));
  return std::move(*h);
}

inline std::string text_of(const History& h) {
  std::string text;
  (void)write_history(h, Format::Hist, [&](std::string_view piece) { text += piece; });
  return text;
}

// Sets `is_predicted` to what both say.
inline void compare_with_the_whole_space(const History& h, const Level& level, Boundary boundary,
                                         bool& is_predicted) {
  // docs/predict.md says at which levels writes after a strict boundary count.
  const std::set<std::string> early = {"rc", "ra", "cc", "pc", "ser"};
  const bool is_snap = level.framework == Framework::CoSnap;
  const bool later_writes =
      boundary == Boundary::StrictPlus || is_snap || !early.contains(level.name);
  const std::set<std::string> single = {"ra", "cc", "pc", "ua", "psi", "si", "ser"};
  const bool by_event = is_snap || !single.contains(level.name);
  const BruteAnswer expected = BrutePredictor(h, level, boundary, later_writes).run();
  Budget budget;
  ASSERT_TRUE(check_observed(h, level, levels(), budget).ok());
  const PredictAnswer found = predict(h, level, levels(), {.boundary = boundary}, budget);
  is_predicted = found.outcome == PredictOutcome::Predicted;
  ASSERT_EQ(is_predicted, expected.is_predicted);
  // What the paper's condition finds, and only that.
  const PredictAnswer approx =
      predict(h, level, levels(), {.boundary = boundary, .encoding = Encoding::Approx}, budget);
  ASSERT_NE(approx.outcome, PredictOutcome::Unknown);
  ASSERT_EQ(approx.outcome == PredictOutcome::Predicted, expected.is_pco_cyclic);
  if (!is_predicted) return;
  const Prediction& first = found.predictions.front();
  ASSERT_EQ(first.changed.size(), by_event ? expected.fewest_events : expected.fewest_keys);
  ASSERT_EQ(first.allowed.verdict.outcome, Outcome::Consistent);
  ASSERT_EQ(first.unserializable.verdict.outcome, Outcome::Violated);
  ASSERT_FALSE(BruteForce(first.history).decide(**levels().find("ser")).has_value());
  if (!later_writes) {
    ASSERT_TRUE(BruteForce(first.history).decide(level).has_value());
  }
  if (approx.outcome == PredictOutcome::Predicted) {
    ASSERT_TRUE(is_pco_cyclic(approx.predictions.front().history));
  }
  // The cycle shows a transaction whose reads have changed, and is one.
  const Violation& violation = *first.unserializable.verdict.violation;
  const auto is_changed = [&](TxnId t) {
    return std::ranges::any_of(first.changed, [&](const ChangedRead& read) {
      return h.txn(read.read) == first.observed_txn[t.index];
    });
  };
  if (violation.cycle.empty()) {
    ASSERT_TRUE(std::ranges::any_of(violation.core, is_changed));
  } else {
    ASSERT_TRUE(std::ranges::any_of(violation.cycle,
                                    [&](const Edge& edge) { return is_changed(edge.from); }));
    ASSERT_EQ(check_cycle(first.history, Logic::Ser, violation.cycle), std::nullopt);
  }
}

}  // namespace isoscope::predict
