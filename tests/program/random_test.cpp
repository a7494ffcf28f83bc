// Random programs: compiled code against the tree as it stands; broken texts against nothing.
#include <gmock/gmock.h>

#include "program/naive_interpreter.h"
#include "program/random_program.h"
#include "program/run_of.h"

namespace isoscope {
namespace {

TEST(RandomPrograms, RunLikeTheirSyntaxTree) {
  int faults = 0;
  int failures = 0;
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = RandomProgram(seed).text();
    const auto program = parse_program(text);
    if (!program) {
      // The only thing that can be wrong: an argument that overflows.
      ASSERT_EQ(program.error().what, "this constant overflows") << render(program.error());
      continue;
    }
    ++compared;
    const SerialRun run = run_serially(*program);
    const auto syntax = txn::parse_syntax(text);
    ASSERT_TRUE(syntax.ok());
    const SerialRun expected = NaiveInterpreter(*syntax).run();
    ASSERT_EQ(run.trace, expected.trace) << text;
    ASSERT_EQ(run.store, expected.store) << text;
    ASSERT_EQ(run.committed, expected.committed) << text;
    ASSERT_EQ(run.fault.has_value(), expected.fault.has_value()) << text;
    if (run.fault) {
      ASSERT_EQ(run.fault->where, expected.fault->where) << text;
      ++faults;
    } else {
      ASSERT_EQ(run.failed, expected.failed) << text;
    }
    failures += run.failed ? 1 : 0;
  }
  EXPECT_GT(compared, 2'000);
  EXPECT_GT(faults, 50);
  EXPECT_GT(failures, 50);
}

TEST(RandomPrograms, AreParsedOrRefusedHoweverBroken) {
  constexpr std::string_view kBytes = "(){}[];,.:=@#+-*/%&|^!<> \n019azx\x80";
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::string text = RandomProgram(seed).text();
    for (std::uint64_t i = rng.below(4) + 1; i > 0; --i) {
      const std::uint64_t at = rng.below(text.size());
      const std::uint64_t length = std::min<std::uint64_t>(rng.below(6), text.size() - at);
      switch (rng.below(3)) {
        case 0:
          text[at] = kBytes[rng.below(kBytes.size())];
          break;
        case 1:
          text.erase(at, length);
          break;
        default:
          text.insert(at, text.substr(rng.below(text.size()), length));
      }
    }
    const auto program = parse_program(text);
    if (program) {
      ++accepted;
      (void)run_serially(*program, 5'000);
    } else {
      EXPECT_GT(program.error().where.line, 0U) << render(program.error());
      EXPECT_FALSE(program.error().what.empty());
    }
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace isoscope
