#include "predict/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "predict/pco.h"
#include "support/history_of.h"

namespace isoscope::predict {
namespace {

const LevelSet& levels() { return LevelSet::built_in(); }

PredictAnswer predicted(const History& h, std::string_view level, PredictOptions options = {}) {
  Budget budget;
  EXPECT_TRUE(check_observed(h, **levels().find(level), levels(), budget).ok());
  return predict(h, **levels().find(level), levels(), options, budget);
}

// Two deposits, one after the other: the paper's Figure 2.
constexpr const char* kDeposits = "a: t1=[r(acct,@T0) w(acct,1)]  b: t2=[r(acct,@t1) w(acct,2)]";

TEST(Predict, FindsTheLostUpdateBehindTwoDeposits) {
  const History h = history_of(kDeposits);
  for (const char* level : {"rc", "ra", "cc", "pc"}) {
    const PredictAnswer answer = predicted(h, level);
    ASSERT_EQ(answer.outcome, PredictOutcome::Predicted) << level;
    const Prediction& found = answer.predictions.front();
    ASSERT_EQ(found.changed.size(), 1U);
    EXPECT_EQ(h.name(found.changed.front().observed), "t1");
    EXPECT_EQ(found.changed.front().predicted, kInitialTxn);
    EXPECT_EQ(found.unserializable.verdict.violation->anomaly, Anomaly::LostUpdate);
  }
}

TEST(Predict, FindsNothingWhereSnapshotIsolationPreventsIt) {
  const History h = history_of(kDeposits);
  EXPECT_EQ(predicted(h, "si").outcome, PredictOutcome::None);
  EXPECT_EQ(predicted(h, "psi").outcome, PredictOutcome::None);
  EXPECT_EQ(predicted(h, "ser").outcome, PredictOutcome::None);
}

TEST(Predict, IsStrictAboutWhatHappensAfterAChangedRead) {
  // t2's write comes after its read, so under strict it is not there, and nothing is lost.
  EXPECT_EQ(predicted(history_of(kDeposits), "cc", {.boundary = Boundary::Strict}).outcome,
            PredictOutcome::None);
}

TEST(Predict, FindsWriteSkewUnderSnapshotIsolation) {
  const History h =
      history_of("a: t1=[r(x,@T0) r(y,@T0) w(x,1)]  b: t2=[r(x,@t1) r(y,@T0) w(y,1)]");
  const PredictAnswer answer = predicted(h, "si");
  ASSERT_EQ(answer.outcome, PredictOutcome::Predicted);
  EXPECT_EQ(answer.predictions.front().unserializable.verdict.violation->anomaly,
            Anomaly::WriteSkew);
}

TEST(Predict, ListsPredictionsWithDifferentTransactions) {
  const History h = history_of(
      "a: t1=[r(x,@T0) w(x,1)]  b: t2=[r(x,@t1) w(x,2)]  c: t3=[r(y,@T0) w(y,1)]  "
      "d: t4=[r(y,@t3) w(y,2)]");
  const PredictAnswer answer = predicted(h, "cc", {.most = 10});
  EXPECT_EQ(answer.predictions.size(), 2U);
}

// Four writers and four readers that see all combinations: no serial order, yet pco is acyclic.
TEST(Pco, DoesNotSeeFourCorners) {
  const History h = history_of(
      "s1: a=[w(x,1)]  s2: b=[w(x,2)]  s3: c=[w(z,1)]  s4: d=[w(z,2)]  "
      "s5: [r(x,@a) r(z,@c)]  s6: [r(x,@a) r(z,@d)]  s7: [r(x,@b) r(z,@c)]  "
      "s8: [r(x,@b) r(z,@d)]");
  EXPECT_FALSE(is_pco_cyclic(h));
  Budget budget;
  EXPECT_EQ(check(h, **levels().find("ser"), budget).verdict.outcome, Outcome::Violated);
  EXPECT_EQ(check(h, **levels().find("cc"), budget).verdict.outcome, Outcome::Consistent);
}

TEST(Pco, SeesALostUpdate) {
  EXPECT_TRUE(is_pco_cyclic(history_of("a: [r(x,@T0) w(x,1)]  b: [r(x,@T0) w(x,2)]")));
  EXPECT_FALSE(is_pco_cyclic(history_of(kDeposits)));
}

TEST(CheckObserved, AnswersWithARunThatIsUnserializableAlready) {
  const History h = history_of("a: [r(x,@T0) w(x,1)]  b: [r(x,@T0) w(x,2)]  c: [r(x,@T0)]!");
  Budget budget;
  const auto at_cc = check_observed(h, **levels().find("cc"), levels(), budget);
  ASSERT_TRUE(at_cc.ok() && at_cc->has_value());
  EXPECT_TRUE((*at_cc)->changed.empty());
  EXPECT_EQ((*at_cc)->allowed.verdict.outcome, Outcome::Consistent);
  EXPECT_EQ((*at_cc)->unserializable.verdict.violation->anomaly, Anomaly::LostUpdate);
  const auto at_si = check_observed(h, **levels().find("si"), levels(), budget);
  ASSERT_TRUE(at_si.ok() && at_si->has_value());
  EXPECT_EQ((*at_si)->allowed.verdict.outcome, Outcome::Violated);
}

TEST(Predict, ShowsNoValueThatMayBeAnother) {
  // Of what t2 writes, u comes before the changed read, and acct after it.
  const History h =
      history_of("a: t1=[r(acct,@T0) w(acct,1)]  b: t2=[w(u,7) r(acct,@t1) w(acct,2) w(acct,3)]");
  const PredictAnswer answer = predicted(h, "cc");
  ASSERT_EQ(answer.predictions.size(), 1U);
  const History& found = answer.predictions.front().history;
  std::vector<std::string> values;
  for (const EventId e : found.all_events()) {
    if (!found.is_read(e)) values.push_back(found.texts().show(found.value(e)));
  }
  EXPECT_THAT(values, testing::ElementsAre("1", "7", "?", "?"));
}

TEST(CheckObserved, RefusesNumbersOutOfOrder) {
  Budget budget;
  const Level& level = **levels().find("cc");
  const auto wrong =
      check_observed(history_of("s1: t1_2=[w(x,1)] t1_1=[w(x,2)]"), level, levels(), budget);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().what, testing::HasSubstr("t1_1 comes after number 2"));
  EXPECT_TRUE(
      check_observed(history_of("s1: t1_1=[w(x,1)] t1_3=[w(x,2)]"), level, levels(), budget).ok());
}

}  // namespace
}  // namespace isoscope::predict
