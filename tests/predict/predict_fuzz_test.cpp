// Predictions against an enumeration of the whole space, on thousands of random serial runs.
#include <gtest/gtest.h>

#include "predict/comparison.h"
#include "verdict/logic.h"

namespace isoscope::predict {
namespace {

struct Case {
  const char* level;
  Boundary boundary;
};

class PredictFuzz : public testing::TestWithParam<Case> {};

TEST_P(PredictFuzz, AgreesWithTheWholeSpace) {
  const Level& level = **levels().find(GetParam().level);
  const bool is_vis = level.framework == Framework::VisAr;
  // The ground engine takes its time.
  const std::uint64_t num_seeds = logic_of(level) ? 1000 : 100;
  int num_predicted = 0;
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    Rng rng(seed * 2654435761);
    const History h = serial_run(rng, is_vis ? 4 : 5);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(h));
    bool is_predicted = false;
    compare_with_the_whole_space(h, level, GetParam().boundary, is_predicted);
    if (HasFatalFailure()) return;
    num_predicted += is_predicted ? 1 : 0;
  }
  EXPECT_GT(num_predicted, 2);
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
                    Case{"psi", Boundary::Strict}, Case{"ua", Boundary::Relaxed},
                    Case{"ua", Boundary::Strict}, Case{"nlu", Boundary::Relaxed},
                    Case{"nlu", Boundary::Strict}, Case{"plume-cc", Boundary::Relaxed},
                    Case{"plume-cc", Boundary::Strict}, Case{"update-ser", Boundary::Relaxed}),
    [](const auto& name) {
      std::string space(name_of(name.param.boundary));
      if (space == "strict+") space = "strict_plus";
      std::string level = name.param.level;
      std::ranges::replace(level, '-', '_');
      return level + "_" + space;
    });

// Levels with snapshots, on runs with statements and locks.
class PredictStatements : public testing::TestWithParam<Case> {};

TEST_P(PredictStatements, AgreesWithTheWholeSpace) {
  const Level& level = **levels().find(GetParam().level);
  int num_predicted = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed * 2654435761);
    const History h = serial_run_of_statements(rng);
    Budget budget;
    // A serial run may break a level by a read that comes before its lock in one statement.
    if (check(h, level, budget).verdict.outcome != Outcome::Consistent) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(h));
    bool is_predicted = false;
    compare_with_the_whole_space(h, level, GetParam().boundary, is_predicted);
    if (HasFatalFailure()) return;
    num_predicted += is_predicted ? 1 : 0;
  }
  if (level.name == "pg-ser" || level.full_name() == "ser@snap") {
    EXPECT_EQ(num_predicted, 0);
  } else {
    EXPECT_GT(num_predicted, 2);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Spaces, PredictStatements,
    testing::Values(Case{"pg-rc", Boundary::Relaxed}, Case{"pg-rc", Boundary::Strict},
                    Case{"pg-rc", Boundary::StrictPlus}, Case{"pg-rr", Boundary::Relaxed},
                    Case{"pg-ser", Boundary::Relaxed}, Case{"rc@snap", Boundary::Relaxed},
                    Case{"si@snap", Boundary::Relaxed}, Case{"ser@snap", Boundary::Relaxed},
                    Case{"mysql-rr", Boundary::Relaxed}, Case{"mysql-rr", Boundary::Strict}),
    [](const auto& name) {
      std::string text = std::string(name.param.level) + "_";
      text += name.param.boundary == Boundary::StrictPlus ? "strict_plus"
                                                          : name_of(name.param.boundary);
      std::ranges::replace(text, '-', '_');
      std::ranges::replace(text, '@', '_');
      return text;
    });

// Serial runs on keys and in sessions of their own, one after the other or interleaved.
History side_by_side(Rng& rng) {
  std::vector<History> runs;
  const std::uint64_t num_runs = 2 + rng.below(2);
  for (std::uint64_t i = 0; i < num_runs; ++i) runs.push_back(serial_run(rng, 4));
  HistoryBuilder builder(InitialValues::Zero);
  std::vector<std::size_t> next(runs.size(), 1);
  for (std::size_t left = runs.size(); left > 0;) {
    const std::size_t i = rng.below(runs.size());
    const History& h = runs[i];
    if (next[i] >= h.num_txns()) continue;
    const TxnId t{static_cast<std::uint32_t>(next[i]++)};
    if (next[i] == h.num_txns()) --left;
    const auto of_run = [&](const std::string& name) {
      return name == "T0" ? name : name + "_" + std::to_string(i);
    };
    const TxnId copy =
        builder.begin(builder.session(of_run(h.name(h.session(t)))), TxnStatus::Committed, {});
    builder.set_name(copy, of_run(h.name(t)));
    for (const EventId e : h.events(t)) {
      const KeyId x = builder.key(of_run(h.name(h.key(e))));
      if (h.is_read(e)) {
        builder.read_from(copy, x, of_run(h.name(h.writer(e))), {});
      } else {
        builder.write(copy, x, h.value(e), {});
      }
    }
  }
  Result<History> built = std::move(builder).build();
  EXPECT_TRUE(built.ok()) << (built.ok() ? "" : render(built.error()));
  return std::move(*built);
}

// By parts, or with likely predictions first, or neither: the same answers.
TEST_P(PredictFuzz, AgreesWithItselfByPartsAndWithoutQuickSearch) {
  const Level& level = **levels().find(GetParam().level);
  const Boundary boundary = GetParam().boundary;
  const std::uint64_t num_seeds = logic_of(level) ? 200 : 10;
  int num_predicted = 0;
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    Rng rng(seed * 40503);
    const History h = side_by_side(rng);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(h));
    Budget budget;
    const PredictAnswer plain = predict(
        h, level, levels(), {.boundary = boundary, .by_parts = false, .quick = false}, budget);
    for (const std::size_t most : {1, 4}) {
      const PredictAnswer found =
          predict(h, level, levels(), {.boundary = boundary, .most = most}, budget);
      ASSERT_EQ(found.outcome, plain.outcome);
      ASSERT_EQ(found.reads, plain.reads);
      ASSERT_EQ(found.choices, plain.choices);
      if (found.predictions.empty()) continue;
      ASSERT_EQ(found.predictions.front().changed.size(), plain.predictions.front().changed.size());
      for (const Prediction& prediction : found.predictions) {
        ASSERT_TRUE(prediction.is_fewest);
        ASSERT_FALSE(prediction.changed.empty());
        ASSERT_EQ(prediction.ends.size(), plain.predictions.front().ends.size());
        ASSERT_EQ(check(prediction.history, **levels().find("ser"), budget).verdict.outcome,
                  Outcome::Violated);
        if (boundary == Boundary::Relaxed) {
          ASSERT_EQ(check(prediction.history, level, budget).verdict.outcome, Outcome::Consistent);
        }
      }
    }
    num_predicted += plain.predictions.empty() ? 0 : 1;
  }
  EXPECT_GT(num_predicted, 0);
}

}  // namespace
}  // namespace isoscope::predict
