// Programs without branches do what is predicted of them, whatever their sessions are called and in
// whatever order they are declared.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "predict/validate.h"
#include "program/program.h"
#include "store/runs.h"
#include "support/rng.h"

namespace isoscope::predict {
namespace {

// Two to four sessions, s1 to s4 in any order, whose calls read and write fixed keys.
std::string straight_program(Rng& rng) {
  std::vector<std::string> names = {"s1", "s2", "s3", "s4"};
  names.resize(2 + rng.below(3));
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[rng.below(i)]);
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("session {} {{\n", name);
    const std::uint64_t calls = 1 + rng.below(2);
    for (std::uint64_t call = 0; call < calls; ++call) {
      text += "  { a := 0\n";
      const std::uint64_t size = 1 + rng.below(4);
      for (std::uint64_t i = 0; i < size; ++i) {
        const char key = "xyz"[rng.below(3)];
        text += rng.chance(0.5) ? fmt::format("    b := read({}); a := a + b\n", key)
                                : fmt::format("    write({}, a + {})\n", key, 1 + rng.below(9));
      }
      text += "  }\n";
    }
    text += "}\n";
  }
  return text;
}

struct Space {
  const char* level;
  Boundary boundary;
};

class ValidateFuzz : public testing::TestWithParam<Space> {};

TEST_P(ValidateFuzz, FindsThatStraightProgramsDoWhatIsPredicted) {
  const LevelSet& levels = LevelSet::built_in();
  const Level& level = **levels.find(GetParam().level);
  const Boundary boundary = GetParam().boundary;
  std::size_t num_predicted = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed * 2654435761);
    const std::string text = straight_program(rng);
    const auto program = parse_program(text);
    ASSERT_TRUE(program.ok()) << render(program.error());
    store::Store store(*program);
    ASSERT_TRUE(store::run_once(store, seed).ok());
    // Under the program's names, and under numbers, as other formats have them.
    const History observed = rng.chance(0.5)
                                 ? store::to_history(*program, store.recording())
                                 : store::to_numbered_history(*program, store.recording());
    Budget budget;
    if (!check_observed(observed, level, levels, budget)) continue;
    const PredictAnswer answer =
        predict(observed, level, levels, {.boundary = boundary, .most = 3}, budget);
    for (const Prediction& prediction : answer.predictions) {
      ++num_predicted;
      const auto validation = validate(*program, prediction, level, levels, boundary, budget);
      ASSERT_TRUE(validation.ok()) << "seed " << seed << "\n" << text << render(validation.error());
      std::string told;
      for (const store::Divergence& divergence : validation->divergences)
        told += store::describe(*program, divergence) + "\n";
      ASSERT_EQ(told, "") << "seed " << seed << "\n" << text;
      ASSERT_TRUE(validation->is_validated) << "seed " << seed << "\n" << text;
    }
  }
  EXPECT_GT(num_predicted, 10U);
}
INSTANTIATE_TEST_SUITE_P(
    Spaces, ValidateFuzz,
    testing::Values(Space{"rc", Boundary::Relaxed}, Space{"rc", Boundary::Strict},
                    Space{"rc", Boundary::StrictPlus}, Space{"ra", Boundary::Relaxed},
                    Space{"cc", Boundary::Relaxed}, Space{"cc", Boundary::Strict},
                    Space{"cc", Boundary::StrictPlus}, Space{"pc", Boundary::Relaxed},
                    Space{"pc", Boundary::Strict}, Space{"si", Boundary::Relaxed},
                    Space{"si", Boundary::Strict}, Space{"psi", Boundary::Relaxed},
                    Space{"psi", Boundary::Strict}, Space{"ua", Boundary::Relaxed},
                    Space{"ua", Boundary::Strict}),
    [](const auto& name) {
      std::string space(name_of(name.param.boundary));
      if (space == "strict+") space = "strict_plus";
      return std::string(name.param.level) + "_" + space;
    });

}  // namespace
}  // namespace isoscope::predict
