#include "store/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/formats.h"
#include "store/store_of.h"
#include "support/history_of.h"
#include "support/random_program.h"

namespace isoscope::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const History& h, Format format) {
  std::string text;
  const auto written = write_history(h, format, [&](std::string_view piece) { text += piece; });
  EXPECT_TRUE(written.ok()) << render(written.error());
  return text;
}

Replay replay_of(const Program& program, const History& h, const std::string& level = "") {
  Budget budget;
  const auto script = script_of(program, h);
  EXPECT_TRUE(script.ok()) << (script ? "" : render(script.error()));
  if (!script) return {};
  std::optional<LevelPlan> plan;
  if (!level.empty()) plan = plan_of(program, level);
  auto result = replay(program, *script, plan ? &*plan : nullptr, budget);
  EXPECT_TRUE(result.ok()) << (result ? "" : render(result.error()));
  return result ? *std::move(result) : Replay{};
}

std::vector<std::string> told(const Program& program, const Replay& replayed) {
  std::vector<std::string> all;
  for (const Divergence& divergence : replayed.divergences)
    all.push_back(describe(program, divergence));
  return all;
}

const char* const kBank =
    "init acct = 100\n"
    "txn withdraw(amount) { b := read(acct); if (b < amount) { abort }; write(acct, b - amount) }\n"
    "session alice { withdraw(60); withdraw(60); { a := read(acct) } }\n"
    "session bob { withdraw(60) }\n";

TEST(Replay, FollowsEveryRecordedTrace) {
  Rng rng(11);
  for (const std::string level : {"rc", "ra", "cc", "pc", "psi", "si", "ser", "ua"}) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::string text = random_program(rng, {.sessions = 3, .max_calls = 7, .aborts = 0.4});
      const Program program = program_of(text);
      SCOPED_TRACE(level + "\n" + text);
      const Recording recording = weak_run(program, level, i);
      const std::string trace = text_of(to_history(program, recording), Format::Jsonl);
      const auto read = parse_history(trace, Format::Jsonl);
      ASSERT_TRUE(read.ok()) << render(read.error()) << trace;
      const Replay replayed = replay_of(program, *read, level);
      ASSERT_THAT(told(program, replayed), IsEmpty()) << level << " " << i << "\n" << text << trace;
      ASSERT_EQ(text_of(to_history(program, replayed.recording), Format::Jsonl), trace);
      ASSERT_EQ(replayed.recording.failed_at_end, recording.failed_at_end);
    }
  }
}

TEST(Replay, FollowsTracesThatLeaveOutAbortedTransactions) {
  Rng rng(12);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string text = random_program(rng, {.sessions = 3, .max_calls = 7, .aborts = 0.4});
    const Program program = program_of(text);
    const Recording recording = weak_run(program, "cc", i);
    const std::string trace = text_of(to_numbered_history(program, recording), Format::IsoPredict);
    if (trace.empty()) continue;  // nothing committed
    const auto read = parse_history(trace, Format::IsoPredict);
    ASSERT_TRUE(read.ok()) << render(read.error()) << trace;
    const Replay replayed = replay_of(program, *read);
    ASSERT_THAT(told(program, replayed), IsEmpty()) << i << "\n" << text << trace;
    for (const CallId call : recording.txns.ids()) {
      if (!recording.txns[call].is_committed) continue;
      const auto& now = replayed.recording.txns[call].accesses;
      const auto& then = recording.txns[call].accesses;
      ASSERT_EQ(now.size(), then.size()) << i << "\n" << text << trace;
      for (std::size_t k = 0; k < now.size(); ++k) {
        ASSERT_EQ(now[k].writer, then[k].writer) << i << "\n" << text << trace;
        ASSERT_EQ(now[k].value, then[k].value) << i << "\n" << text << trace;
      }
    }
  }
}

TEST(Replay, MatchesTransactionsByPlaceWhereNamesSayNothing) {
  const Program program = program_of(kBank);
  const History h = history_of(
      "init acct=100\n"
      "s1: [r(acct,100) w(acct,40)] [r(acct,40)]! [r(acct,40)]\n"
      "s2: [r(acct,40)]!\n");
  const Replay replayed = replay_of(program, h, "ser");
  EXPECT_THAT(told(program, replayed), IsEmpty());
  EXPECT_TRUE(replayed.is_complete);
}

TEST(Replay, FindsOutWhichCallsAbortedIfTheHistoryDoesNotSay) {
  const Program program = program_of(kBank);
  const History h = history_of(
      "init acct=100\n"
      "alice: [r(acct,100) w(acct,40)] [r(acct,40)]\n");
  const auto script = script_of(program, h);
  ASSERT_TRUE(script.ok());
  ASSERT_EQ(script->calls.size(), 3U);
  EXPECT_EQ(script->calls[1].direction, Direction::Free);  // the second withdrawal
  EXPECT_EQ(script->calls[1].is_committed, false);
  EXPECT_THAT(told(program, replay_of(program, h, "ser")), IsEmpty());
}

TEST(Replay, TellsAReadOfAnotherKey) {
  const Program program = program_of(
      "session s { { a := read(x); if (a == 0) { b := read(y) } else { b := read(z) } } }\n"
      "session t { { write(x, 1) } }\n");
  const History h = history_of("s: [r(x,0) r(z,0)]\nt: [w(x,1)]\n");
  EXPECT_THAT(told(program, replay_of(program, h)),
              ElementsAre("s[1], read 2: expected z from T0, but read y from T0"));
}

TEST(Replay, TellsAWriterThatDidNotWrite) {
  const Program program = program_of(
      "session s { { a := read(y); if (a == 1) { write(x, 1) } } }\n"
      "session t { { a := read(x) } }\n");
  const History h = history_of("s: [r(y,0) w(x,1)]\nt: [r(x,1)]\n");
  EXPECT_THAT(told(program, replay_of(program, h)),
              ElementsAre("s[1]: expected a write of x, but it did not write that",
                          "t[1], read 1: expected x from s[1], but read x from T0"));
}

TEST(Replay, TellsAWriteOfAnotherKey) {
  const Program program =
      program_of("session s { { a := read(x); write(y, 1); write(t[1, 2], 1) } }\n");
  EXPECT_THAT(told(program, replay_of(program, history_of("s: [r(x,0) w(z,1) w(y,1)]\n"))),
              ElementsAre("s[1]: expected a write of z, but it wrote t[1,2]"));
  EXPECT_THAT(told(program, replay_of(program, history_of("s: [r(x,0) w(y,1)]\n"))),
              ElementsAre("s[1]: expected no further write, but it wrote t[1,2]"));
}

TEST(Replay, TakesNumbersForPlacesWhateverSessionsAreCalled) {
  const Program program =
      program_of("session s2 { { write(x, 1) } }\nsession s1 { { a := read(x) } }\n");
  const auto trace = parse_history("WRITE KEY[x] Txn(1, 1)\nREAD KEY[x] Txn(2, 1) From(1, 1)\n",
                                   Format::IsoPredict);
  ASSERT_TRUE(trace.ok());
  EXPECT_THAT(told(program, replay_of(program, *trace)), IsEmpty());
  EXPECT_THAT(told(program, replay_of(program, history_of("s1: [r(x,1)]\ns2: [w(x,1)]\n"))),
              IsEmpty());
}

TEST(Replay, TellsReadsThatTheLevelForbids) {
  const Program program = example("lost-update");
  const History h =
      history_of("alice: [r(counter,0) w(counter,1)]\nbob: [r(counter,0) w(counter,1)]");
  EXPECT_THAT(told(program, replay_of(program, h)), IsEmpty());
  EXPECT_THAT(told(program, replay_of(program, h, "cc")), IsEmpty());
  EXPECT_THAT(told(program, replay_of(program, h, "si")),
              ElementsAre("bob[1]: expected a commit, but the level forbids it"));
  const Program reader = program_of(
      "session w { { write(x, 1); write(y, 1) } }\nsession r { { b := read(y); a := read(x) } }");
  const History fractured = history_of("w: [w(x,1) w(y,1)]\nr: [r(y,0) r(x,1)]");
  EXPECT_THAT(told(reader, replay_of(reader, fractured, "rc")), IsEmpty());
  EXPECT_THAT(
      told(reader, replay_of(reader, fractured, "ra")),
      ElementsAre(
          "r[1], read 2: expected x from w[1], but the level forbids that: read x from T0"));
}

TEST(Replay, TellsMoreAndFewerReadsAndOtherEnds) {
  const Program program = program_of(kBank);
  const History h = history_of(
      "init acct=100\n"
      "alice: [r(acct,100) r(acct,100) w(acct,40)] [w(acct,0)]\n"
      "bob: [r(acct,100)]!\n");
  EXPECT_THAT(
      told(program, replay_of(program, h)),
      ElementsAre("alice[1], read 2: expected acct from T0, but the call ended after 1 read",
                  "alice[2], read 1: expected no further read, but read acct from alice[1]",
                  "alice[2]: expected a commit, but it aborted",
                  "bob[1]: expected an abort, but it committed"));
}

TEST(Replay, TellsTheFirstChangedReadOfAMutilatedTrace) {
  Rng rng(13);
  int mutilated = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string text = random_program(rng, {.sessions = 3, .max_calls = 6});
    const Program program = program_of(text);
    Recording recording = weak_run(program, "cc", i);
    auto script = script_of(program, to_history(program, recording));
    ASSERT_TRUE(script.ok());
    // One read shall see a call that has not run yet.
    const std::size_t at = rng.below(script->calls.size());
    ScriptedCall& scripted = script->calls[at];
    if (scripted.reads.empty()) continue;
    const std::size_t read = rng.below(scripted.reads.size());
    scripted.reads[read].writer = script->calls.back().call;
    if (at + 1 != script->calls.size()) continue;
    ++mutilated;
    Budget budget;
    const auto replayed = replay(program, *script, nullptr, budget);
    ASSERT_TRUE(replayed.ok());
    ASSERT_FALSE(replayed->divergences.empty()) << i;
    const Divergence& first = replayed->divergences.front();
    EXPECT_EQ(first.kind, DivergenceKind::Writer);
    EXPECT_EQ(first.call, scripted.call);
    EXPECT_EQ(first.read, static_cast<std::uint32_t>(read + 1));
  }
  EXPECT_GT(mutilated, 20);
}

TEST(Replay, RunsAPredictionUpToItsBoundary) {
  // As observed, bob reads what alice left; as predicted, both read the initial value. Alice's
  // later calls are not foreseen and do not run.
  const Program program = program_of(kBank);
  const Script script{.calls = {{.call = CallId{3}, .reads = {{"acct", kInitialWriter}}},
                                {.call = CallId{0},
                                 .direction = Direction::Prefix,
                                 .reads = {{"acct", kInitialWriter}}}}};
  Budget budget;
  const auto replayed = replay(program, script, nullptr, budget);
  ASSERT_TRUE(replayed.ok());
  EXPECT_THAT(replayed->divergences, IsEmpty());
  EXPECT_FALSE(replayed->is_complete);
  EXPECT_THAT(replayed->recording.order, ElementsAre(CallId{3}, CallId{0}));
  EXPECT_TRUE(replayed->recording.txns[CallId{0}].is_committed);
  EXPECT_EQ(is_serializable(program, replayed->recording, budget), false);
}

TEST(Replay, RefusesAScriptThatLeavesOutCalls) {
  const Program program = program_of(kBank);
  Budget budget;
  const auto replayed = replay(program, {.calls = {{.call = CallId{1}}}}, nullptr, budget);
  ASSERT_FALSE(replayed.ok());
  EXPECT_THAT(replayed.error().what, HasSubstr("alice[2] cannot run when alice[1] is next"));
  EXPECT_FALSE(replay(program, {.calls = {{.call = CallId{9}}}}, nullptr, budget).ok());
}

TEST(Replay, RefusesAHistoryThatDoesNotFit) {
  const Program program = program_of(kBank);
  const auto error_of = [&](const char* hist) {
    const History h = history_of(hist);
    const auto script = script_of(program, h);
    EXPECT_FALSE(script.ok());
    return script ? Error{} : script.error();
  };
  EXPECT_THAT(error_of("a: [r(x,0)] b: [r(x,0)] c: [r(x,0)]").what,
              HasSubstr("the history has 3 sessions and the program 2"));
  const Error error = error_of("alice: [r(acct,0)]\nbob: [r(acct,0)]\n  [r(acct,0)]");
  EXPECT_THAT(error.what, HasSubstr("session bob of the history has 2 transactions"));
  EXPECT_EQ(error.where.line, 3U);
  EXPECT_THAT(error_of("alice: [r(acct,1) w(y,1)]\nbob: [r(y,1) w(acct,1)]").what,
              HasSubstr("have a cycle"));
}

}  // namespace
}  // namespace isoscope::store
