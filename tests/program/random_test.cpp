// Random programs: compiled code against the tree as it stands; broken texts against nothing.
#include <gmock/gmock.h>

#include "program/comparison.h"
#include "program/random_program.h"

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
    SerialRun run;
    compare_with_syntax_tree(text, *program, run);
    if (HasFatalFailure()) return;
    faults += run.fault ? 1 : 0;
    failures += run.failed ? 1 : 0;
  }
  EXPECT_GT(compared, 2'000);
  EXPECT_GT(faults, 50);
  EXPECT_GT(failures, 50);
}

// One call to its end, every read answered by the next random number.
std::vector<std::int64_t> finish(Executor& executor, Stop stop, Rng& rng) {
  std::vector<std::int64_t> seen;
  for (int steps = 0; steps < 200; ++steps) {
    seen.insert(seen.end(), {static_cast<std::int64_t>(stop.kind), stop.key.index, stop.value});
    if (stop.kind != StopKind::Read && stop.kind != StopKind::Write) break;
    if (stop.kind == StopKind::Read) executor.answer(static_cast<std::int64_t>(rng.below(3)));
    stop = executor.run();
  }
  seen.insert(seen.end(), executor.state().begin(), executor.state().end());
  return seen;
}

TEST(RandomPrograms, GoOnFromAReadAsOftenAsOneLikes) {
  int reads = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto program = parse_program(RandomProgram(seed).text());
    if (!program) continue;
    const auto executor = program->executor();
    const auto other = program->executor();
    Rng answers(seed);
    for (std::uint32_t i = 0; i < program->outline().calls.size(); ++i) {
      const CallId call{i};
      executor->start(call);
      for (int steps = 0; steps < 20; ++steps) {
        const Stop stop = executor->run();
        if (stop.kind != StopKind::Read && stop.kind != StopKind::Write) break;
        const std::vector<std::int64_t> state(executor->state().begin(), executor->state().end());
        Rng rng(seed);
        const auto expected = finish(*executor, stop, rng);
        // From the saved state, by a machine that has done something else in between.
        other->start(CallId{0});
        (void)other->run();
        other->restore(call, state);
        Rng again(seed);
        ASSERT_EQ(finish(*other, stop, again), expected);
        executor->restore(call, state);
        if (stop.kind == StopKind::Read) {
          ++reads;
          executor->answer(static_cast<std::int64_t>(answers.below(3)));
        }
      }
    }
  }
  EXPECT_GT(reads, 1'000);
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
        case 0: text[at] = kBytes[rng.below(kBytes.size())]; break;
        case 1: text.erase(at, length); break;
        default: text.insert(at, text.substr(rng.below(text.size()), length));
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
