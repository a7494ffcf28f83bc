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

}  // namespace
}  // namespace isoscope::predict
