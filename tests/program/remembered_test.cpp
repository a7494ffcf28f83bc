// An executor that remembers does what the one inside does, whatever was asked before.
#include "program/remembered.h"

#include <gtest/gtest.h>

#include "program/program.h"
#include "program/random_program.h"
#include "support/rng.h"

namespace isoscope {
namespace {

// Reads of these keys are no choices: they show 1.
bool is_fixed(ProgramKey x) { return x.index % 3 == 1; }

// An executor, which may be one that remembers, and what its call has done.
struct Driven {
  Executor& executor;
  Remembering* remembering = nullptr;  // the same
  std::vector<WriteEvent> writes = {};
  std::vector<FixedRead> fixed = {};

  Stop go_on() {
    if (remembering != nullptr) {
      if (const auto known = remembering->known()) {
        writes.insert(writes.end(), known->writes.begin(), known->writes.end());
        fixed.insert(fixed.end(), known->fixed.begin(), known->fixed.end());
        return known->stop;
      }
    }
    const std::size_t num_writes = writes.size();
    const std::size_t num_fixed = fixed.size();
    for (;;) {
      const Stop stop = executor.run();
      if (stop.kind == StopKind::Write) {
        writes.push_back({stop.key, stop.value});
      } else if (stop.kind == StopKind::Read && is_fixed(stop.key)) {
        fixed.push_back({stop.key, static_cast<std::uint32_t>(writes.size())});
        executor.answer(1);
      } else {
        if (remembering != nullptr)
          remembering->learn({std::span<const WriteEvent>(writes).subspan(num_writes),
                              std::span<const FixedRead>(fixed).subspan(num_fixed), stop});
        return stop;
      }
    }
  }

  std::string shown() const {
    std::string text;
    for (const WriteEvent& w : writes)
      text += "w " + std::to_string(w.key.index) + " " + std::to_string(w.value) + "\n";
    for (const FixedRead& r : fixed)
      text += "f " + std::to_string(r.key.index) + " " + std::to_string(r.num_writes) + "\n";
    return text;
  }
};

// Everything that can be seen of a call whose choices are answered by `answers`, then by 0; from
// the choice `kept` on, it runs twice: the second time from the state that was put aside.
std::string trace_of(Driven driven, CallId call, std::vector<std::int64_t> answers,
                     std::size_t kept) {
  std::string trace;
  std::vector<std::int64_t> state;
  Driven then = driven;
  std::size_t num_reads = 0;
  Executor& executor = driven.executor;
  executor.start(call);
  for (int rounds = 0; rounds < 2;) {
    const Stop stop = driven.go_on();
    trace += std::to_string(static_cast<int>(stop.kind)) + " " + std::to_string(stop.key.index) +
             " " + std::to_string(stop.value) + "\n" + driven.shown();
    if (stop.kind == StopKind::Read) {
      if (num_reads == kept && rounds == 0) {
        const auto now = executor.state();
        state.assign(now.begin(), now.end());
        then.writes = driven.writes;
        then.fixed = driven.fixed;
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
      trace += "failed " +
               std::to_string(executor.failed_assertion().value_or(AssertionId{99}).index) + "\n";
    }
    if (++rounds == 2 || state.empty()) break;
    executor.restore(call, state);
    driven.writes = then.writes;
    driven.fixed = then.fixed;
    num_reads = kept;
    answers.resize(kept + 1);
    answers[kept] += 1;
    executor.answer(answers[num_reads++]);
  }
  return trace;
}

TEST(Remembering, ChangesNothingThatCanBeSeen) {
  std::size_t num_compared = 0;
  for (const std::size_t most : {kMostRememberedBytes, std::size_t{3'000}, std::size_t{0}}) {
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
        ASSERT_EQ(trace_of({*remembering_one, remembering_one.get()}, call, answers, kept),
                  trace_of({*plain}, call, answers, kept));
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
  EXPECT_FALSE(executor->known().has_value());
  EXPECT_EQ(executor->run().kind, StopKind::Commit);
  executor->start(CallId{0});
  ASSERT_EQ(executor->num_locals(), 2U);
  EXPECT_EQ(executor->state()[0], 0);
  EXPECT_EQ(executor->state()[1], 0);
  EXPECT_FALSE(executor->failed_assertion().has_value());
  EXPECT_FALSE(executor->known().has_value());
  EXPECT_EQ(executor->run().kind, StopKind::Read);
}

// What happens between two choices is executed once, whatever the values that were read before.
TEST(Remembering, KnowsASegmentTheSecondTime) {
  const Program program = *parse_program(
      "session s { { a := read(x); write(y, a); write(y, a + 1); b := read(z) } }\n");
  const auto executor = remembering(program, program.executor());
  const auto run = [&](std::int64_t answer) {
    executor->start(CallId{0});
    std::vector<bool> known;
    for (int i = 0; i < 2; ++i) {
      const auto segment = executor->known();
      known.push_back(segment.has_value());
      if (!segment) {
        std::vector<WriteEvent> writes;
        Stop stop = executor->run();
        for (; stop.kind == StopKind::Write; stop = executor->run())
          writes.push_back({stop.key, stop.value});
        executor->learn({writes, {}, stop});
      } else if (i == 1) {
        EXPECT_EQ(segment->writes.size(), 2U);
        EXPECT_EQ(segment->writes.back().value, answer + 1);
      }
      executor->answer(answer);
    }
    return known;
  };
  EXPECT_EQ(run(3), (std::vector<bool>{false, false}));
  EXPECT_EQ(run(3), (std::vector<bool>{true, true}));
  EXPECT_EQ(run(4), (std::vector<bool>{true, false}));
  EXPECT_EQ(run(4), (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace isoscope
