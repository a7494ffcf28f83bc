// Predictions against an enumeration of the whole space, on thousands of random serial runs.
#include <gtest/gtest.h>

#include "formats/formats.h"
#include "predict/brute.h"
#include "predict/pco.h"
#include "predict/predict.h"
#include "support/rng.h"

namespace isoscope::predict {
namespace {

const LevelSet& levels() { return LevelSet::built_in(); }

// Transactions one after the other, each read showing the latest write.
History serial_run(Rng& rng, std::size_t max_txns) {
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

std::string text_of(const History& h) {
  std::string text;
  (void)write_history(h, Format::Hist, [&](std::string_view piece) { text += piece; });
  return text;
}

struct Case {
  const char* level;
  Boundary boundary;
};

class PredictFuzz : public testing::TestWithParam<Case> {};

TEST_P(PredictFuzz, AgreesWithTheWholeSpace) {
  const Level& level = **levels().find(GetParam().level);
  const std::string name = GetParam().level;
  const bool later_writes =
      GetParam().boundary == Boundary::StrictPlus || name == "si" || name == "psi" || name == "ua";
  const bool by_event = name == "rc";
  const bool is_vis = level.framework == Framework::VisAr;
  int num_predicted = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Rng rng(seed * 2654435761);
    const History h = serial_run(rng, is_vis ? 4 : 5);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(h));
    const BruteAnswer expected = BrutePredictor(h, level, GetParam().boundary, later_writes).run();
    Budget budget;
    ASSERT_TRUE(check_observed(h, level, levels(), budget).ok());
    const PredictAnswer found =
        predict(h, level, levels(), {.boundary = GetParam().boundary}, budget);
    ASSERT_EQ(found.outcome == PredictOutcome::Predicted, expected.is_predicted);
    if (!expected.is_predicted) continue;
    ++num_predicted;
    const Prediction& first = found.predictions.front();
    ASSERT_EQ(first.changed.size(), by_event ? expected.fewest_events : expected.fewest_keys);
    ASSERT_EQ(first.allowed.verdict.outcome, Outcome::Consistent);
    ASSERT_EQ(first.unserializable.verdict.outcome, Outcome::Violated);
    ASSERT_FALSE(BruteForce(first.history).decide(**levels().find("ser")).has_value());
    if (!later_writes) {
      ASSERT_TRUE(BruteForce(first.history).decide(level).has_value());
    }
    // What the paper's condition finds, and only that.
    const PredictAnswer approx =
        predict(h, level, levels(), {.boundary = GetParam().boundary, .encoding = Encoding::Approx},
                budget);
    if (approx.outcome == PredictOutcome::Predicted) {
      ASSERT_TRUE(is_pco_cyclic(approx.predictions.front().history));
    }
  }
  EXPECT_GT(num_predicted, 5);
}
INSTANTIATE_TEST_SUITE_P(
    Spaces, PredictFuzz,
    testing::Values(Case{"rc", Boundary::Relaxed}, Case{"rc", Boundary::Strict},
                    Case{"rc", Boundary::StrictPlus}, Case{"ra", Boundary::Relaxed},
                    Case{"ra", Boundary::Strict}, Case{"cc", Boundary::Relaxed},
                    Case{"cc", Boundary::Strict}, Case{"cc", Boundary::StrictPlus},
                    Case{"pc", Boundary::Relaxed}, Case{"pc", Boundary::Strict},
                    Case{"si", Boundary::Relaxed}, Case{"si", Boundary::Strict},
                    Case{"si", Boundary::StrictPlus}, Case{"psi", Boundary::Relaxed},
                    Case{"psi", Boundary::Strict}),
    [](const auto& name) {
      std::string space(name_of(name.param.boundary));
      if (space == "strict+") space = "strict_plus";
      return std::string(name.param.level) + "_" + space;
    });

}  // namespace
}  // namespace isoscope::predict
