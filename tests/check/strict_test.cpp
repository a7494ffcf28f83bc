// Strict levels: what ended before is seen.
#include "check/strict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "check/level_table.h"
#include "formats/formats.h"
#include "history/real_time.h"
#include "support/rng.h"

namespace isoscope {
namespace {

History history_of_text(const std::string& text, Format format = Format::Hist) {
  auto h = parse_history(text, format);
  EXPECT_TRUE(h.ok()) << (h.ok() ? "" : render(h.error()));
  return *std::move(h);
}

CheckAnswer strict_answer(const History& h, std::string_view level) {
  Budget budget;
  return check(h, **LevelSet::built_in().find(level), budget);
}

Outcome outcome_at(const std::string& text, std::string_view level, Format format = Format::Hist) {
  return strict_answer(history_of_text(text, format), level).verdict.outcome;
}

TEST(StrictLevels, RejectAStaleRead) {
  const std::string stale = "s1: [w(x,1)]<1,2>  s2: [r(x,0)]<3,4>";
  for (const char* level : {"rc", "ra", "cc", "pc", "psi", "si", "ser", "strict-rc"})
    EXPECT_EQ(outcome_at(stale, level), Outcome::Consistent) << level;
  for (const char* level :
       {"strict-ra", "strict-cc", "strict-pc", "strict-ua", "strict-psi", "strong-si", "strict-ser",
        "strict-ra@vis", "strict-cc@vis", "strict-pc@vis", "strong-si@vis", "strict-ser@vis"})
    EXPECT_EQ(outcome_at(stale, level), Outcome::Violated) << level;
}

TEST(StrictLevels, LetConcurrentTransactionsBe) {
  for (const char* times : {"<1,3>  s2: [r(x,0)]<3,4>", "<1,>  s2: [r(x,0)]<3,4>",
                            "<1,2>  s2: [r(x,0)]", "  s2: [r(x,0)]<3,4>"})
    EXPECT_EQ(outcome_at(std::string("s1: [w(x,1)]") + times, "strict-ser"), Outcome::Consistent)
        << times;
}

TEST(StrictLevels, NameTheAnomaly) {
  const auto named = [](const std::string& text) {
    const CheckAnswer a = strict_answer(history_of_text(text), "strict-ser");
    EXPECT_TRUE(a.verdict.violation.has_value()) << text;
    return a.verdict.violation ? a.verdict.violation->anomaly : Anomaly::None;
  };
  EXPECT_EQ(named("s1: [w(x,1)]<1,2> s2: [r(x,0)]<3,4>"), Anomaly::StaleRead);
  EXPECT_EQ(named("s1: [r(x,1)]<1,2> s2: [w(x,1)]<3,4>"), Anomaly::ReadBeforeWrite);
  // What is wrong without the clock is told without it.
  EXPECT_EQ(named("s1: [r(x,0) w(y,1)]<1,2> s2: [r(y,0) w(x,1)]<1,2>"), Anomaly::WriteSkew);
}

TEST(StrictLevels, ShowRealTimeInTheCycle) {
  const History h = history_of_text("s1: [w(x,1)]<1,2> s2: [w(y,1)]<3,4> s3: [r(y,1) r(x,0)]<2,9>");
  const CheckAnswer a = strict_answer(h, "strict-ser");
  ASSERT_EQ(a.verdict.outcome, Outcome::Violated);
  EXPECT_EQ(a.confirmation.how, Confirmation::Traced);
  EXPECT_TRUE(rests_on_real_time(a.verdict.violation->cycle));
}

// An aborted transaction has its place in time, too: what it saw was there.
TEST(StrictLevels, KnowWhatAnAbortedTransactionSaw) {
  const std::string text = "s1: [w(x,1)]<1,9>  s2: [r(x,1)]!<2,3>  s3: [r(x,0)]<4,5>";
  EXPECT_EQ(outcome_at(text, "ser"), Outcome::Consistent);
  EXPECT_EQ(outcome_at(text, "strict-ser"), Outcome::Violated);
  EXPECT_EQ(outcome_at(text, "strong-si"), Outcome::Violated);
}

// As Elle's documentation describes them: a process that does not see its own past is a process
// anomaly, forbidden where sessions count; one that only the clock reveals is a realtime anomaly,
// forbidden by strict serializability alone.
TEST(StrictLevels, AnswerElle) {
  const auto op = [](int index, const char* type, int process, const char* value) {
    return fmt::format("{{:index {}, :type :{}, :process {}, :f :txn, :value [{}]}}\n", index, type,
                       process, value);
  };
  const std::string realtime = op(0, "invoke", 0, "[:append :x 1]") +
                               op(1, "ok", 0, "[:append :x 1]") +
                               op(2, "invoke", 1, "[:r :x nil]") + op(3, "ok", 1, "[:r :x []]");
  EXPECT_EQ(outcome_at(realtime, "ser", Format::Elle), Outcome::Consistent);
  EXPECT_EQ(outcome_at(realtime, "strict-ser", Format::Elle), Outcome::Violated);

  const std::string concurrent = op(0, "invoke", 0, "[:append :x 1]") +
                                 op(1, "invoke", 1, "[:r :x nil]") +
                                 op(2, "ok", 0, "[:append :x 1]") + op(3, "ok", 1, "[:r :x []]");
  EXPECT_EQ(outcome_at(concurrent, "strict-ser", Format::Elle), Outcome::Consistent);

  // Of what ended as :info nobody knows when it took effect.
  const std::string info = op(0, "invoke", 0, "[:append :x 1]") +
                           op(1, "info", 0, "[:append :x 1]") + op(2, "invoke", 1, "[:r :x nil]") +
                           op(3, "ok", 1, "[:r :x []]") + op(4, "invoke", 1, "[:r :x nil]") +
                           op(5, "ok", 1, "[:r :x [1]]");
  EXPECT_EQ(outcome_at(info, "strict-ser", Format::Elle), Outcome::Consistent);

  const std::string process = op(0, "invoke", 0, "[:append :x 1]") +
                              op(1, "ok", 0, "[:append :x 1]") + op(2, "invoke", 0, "[:r :x nil]") +
                              op(3, "ok", 0, "[:r :x []]");
  EXPECT_EQ(outcome_at(process, "ser", Format::Elle), Outcome::Violated);
  History alone = history_of_text(process, Format::Elle).copy();
  alone = std::move(alone).without_session_order();
  EXPECT_EQ(strict_answer(alone, "ser").verdict.outcome, Outcome::Consistent);
  EXPECT_EQ(strict_answer(alone, "strict-ser").verdict.outcome, Outcome::Violated);
}

// A store that runs one transaction after the other, its clients waiting now and then.
std::string serial_run(Rng& rng, int txns, bool swap_times) {
  std::string text;
  int x = 0;
  std::int64_t now = 0;
  for (int i = 1; i <= txns; ++i) {
    const std::int64_t start = now - static_cast<std::int64_t>(rng.below(3));
    const std::int64_t end = ++now + static_cast<std::int64_t>(rng.below(3));
    text += fmt::format("s{}: [r(x,{}) w(x,{})]<{},{}>\n", i, x, i, start, end);
    x = i;
    if (rng.chance(0.3)) now += 5;
  }
  if (swap_times) text += fmt::format("s0: [r(x,1)]<{},{}>\n", now + 10, now + 11);
  return text;
}

TEST(StrictLevels, AreConfirmedOnLargeHistories) {
  Rng rng(5);
  for (const bool is_stale : {false, true}) {
    const History h = history_of_text(serial_run(rng, 1500, is_stale));
    for (const char* level : {"strict-rc", "strict-cc", "strict-pc", "strong-si", "strict-ser"}) {
      SCOPED_TRACE(level);
      const CheckAnswer a = strict_answer(h, level);
      const bool violated = is_stale && std::string_view(level) != "strict-rc";
      EXPECT_EQ(a.verdict.outcome, violated ? Outcome::Violated : Outcome::Consistent);
      EXPECT_TRUE(a.confirmation.how == Confirmation::Replayed ||
                  a.confirmation.how == Confirmation::Traced);
    }
  }
}

TEST(RealTimeHistory, IsLinear) {
  Rng rng(7);
  const History h = history_of_text(serial_run(rng, 2000, false));
  const RealTimeHistory timed(h);
  EXPECT_LE(timed.history().num_txns(), 2 * h.num_txns());
  EXPECT_LE(timed.history().num_events(), h.num_events() + 4 * h.num_txns());
  std::size_t originals = 0;
  for (TxnId t : timed.history().txns()) originals += timed.original(t).is_none() ? 0U : 1U;
  EXPECT_EQ(originals, h.num_txns());
}

TEST(Strongest, KnowsWhatImpliesWhat) {
  const auto level = [](const char* name) -> const Level& {
    return **LevelSet::built_in().find(name);
  };
  EXPECT_TRUE(implies(level("strict-ser"), level("si")));
  EXPECT_TRUE(implies(level("strict-ser"), level("strong-si")));
  EXPECT_FALSE(implies(level("ser"), level("strict-rc")));
  EXPECT_FALSE(implies(level("strict-pc"), level("psi")));
  EXPECT_THAT(strongest_of({&level("rc"), &level("pc"), &level("psi"), &level("cc")}),
              testing::ElementsAre(&level("pc"), &level("psi")));
}

}  // namespace
}  // namespace isoscope
