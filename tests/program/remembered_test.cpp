// An executor that remembers does what the one inside does, whatever was asked before.
#include "program/remembered.h"

#include <gtest/gtest.h>

#include "program/program.h"
#include "program/random_program.h"
#include "support/rng.h"

namespace isoscope {
namespace {

// Everything that can be seen of a call whose reads are answered by `answers`, then by 0; from the
// read `kept` on, it runs twice: the second time from the state that was put aside.
std::string trace_of(Executor& executor, CallId call, std::vector<std::int64_t> answers,
                     std::size_t kept) {
  std::string trace;
  std::vector<std::int64_t> state;
  std::size_t num_reads = 0;
  executor.start(call);
  for (int rounds = 0; rounds < 2;) {
    const Stop stop = executor.run();
    trace += std::to_string(static_cast<int>(stop.kind)) + " " + std::to_string(stop.key.index) +
             " " + std::to_string(stop.value) + "\n";
    if (stop.kind == StopKind::Write) continue;
    if (stop.kind == StopKind::Read) {
      if (num_reads == kept && rounds == 0) {
        const auto now = executor.state();
        state.assign(now.begin(), now.end());
      }
      executor.answer(num_reads < answers.size() ? answers[num_reads] : 0);
      ++num_reads;
      continue;
    }
    if (stop.kind == StopKind::Fault) {
      trace += executor.fault().what;
    } else {
      for (const std::int64_t local : executor.state().first(executor.num_locals()))
        trace += std::to_string(local) + " ";
      trace += "failed " + std::to_string(executor.failed_assertion().value_or(99)) + "\n";
    }
    if (++rounds == 2 || state.empty()) break;
    executor.restore(call, state);
    num_reads = kept;
    answers.resize(kept + 1);
    answers[kept] += 1;
    executor.answer(answers[num_reads++]);
  }
  return trace;
}

TEST(Remembering, ChangesNothingThatCanBeSeen) {
  std::size_t num_compared = 0;
  for (const std::size_t most : {std::size_t{100'000}, std::size_t{40}, std::size_t{0}}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Rng rng(seed);
      const std::string text = RandomProgram(seed).text();
      auto program = parse_program(text);
      if (!program) continue;
      SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
      const std::size_t num_calls = program->outline().calls.size();
      if (num_calls == 0) continue;
      const auto plain = program->executor();
      const auto remembering_one = remembering(*program, program->executor(), most);
      for (int i = 0; i < 40; ++i) {
        const CallId call{static_cast<std::uint32_t>(rng.below(num_calls))};
        std::vector<std::int64_t> answers;
        for (std::uint64_t n = rng.below(6); n-- > 0;)
          answers.push_back(static_cast<std::int64_t>(rng.below(3)));
        const std::size_t kept = rng.below(4);
        ASSERT_EQ(trace_of(*remembering_one, call, answers, kept),
                  trace_of(*plain, call, answers, kept));
        ++num_compared;
      }
    }
  }
  EXPECT_GT(num_compared, 10'000U);
}

// Of a call that is left out, nothing has run.
TEST(Remembering, KnowsTheLocalsOfACallThatHasNotRun) {
  const Program program = *parse_program("session s { { a := read(x); b := a + 1 } { c := 7 } }\n");
  const auto executor = remembering(program, program.executor());
  executor->start(CallId{1});
  (void)executor->run();
  executor->start(CallId{0});
  ASSERT_EQ(executor->num_locals(), 2U);
  EXPECT_EQ(executor->state()[0], 0);
  EXPECT_EQ(executor->state()[1], 0);
  EXPECT_FALSE(executor->failed_assertion().has_value());
  EXPECT_EQ(executor->run().kind, StopKind::Read);
}

}  // namespace
}  // namespace isoscope
