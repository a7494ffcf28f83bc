#include "check/points/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_statements.h"
#include "spec/levels.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

Verdict decide(std::string_view level, const History& h) {
  Budget budget;
  return check_points(h, {.base = *LevelSet::built_in().find(level), .own = {}}, budget);
}

std::string told(const History& h, const Violation& v) {
  std::string out;
  for (const Edge& e : v.cycle) {
    const auto point = [&](TxnId t, std::uint32_t statement) {
      return statement == Edge::kCommit ? h.name(t)
                                        : fmt::format("{}.{}", h.name(t), statement + 1);
    };
    out += fmt::format("{}{} -{}-> {}", out.empty() ? "" : "; ", point(e.from, e.from_statement),
                       name_of(e.kind), point(e.to, e.to_statement));
  }
  return out;
}

struct Told {
  const char* level;
  const char* hist;
  const char* cycle;
  const char* axiom;
  Anomaly anomaly;
};

TEST(CheckPoints, TellsTheShortestCycle) {
  const Told kTold[] = {
      {"pg-rc", "s1: [w(x,1) | w(y,1)] s2: [r(x,1) | r(y,0)]", "T1 -wr-> T2.1; T2.2 -rw-> T1",
       "Monotone", Anomaly::NonMonotonicRead},
      {"pg-rc", "s1: [w(x,1)] [r(x,0)]", "T1 -so-> T2.1; T2.1 -rw-> T1", "Session",
       Anomaly::StaleSessionRead},
      {"pg-rc", "s1: [w(x,1) | w(y,1)] s2: [r(x,1) w(x,2) | r(y,0)]",
       "T1 -co-> T2.2; T2.2 -rw-> T1", "Waits", Anomaly::NonMonotonicRead},
      {"pg-rc", "s1: [i(x,1)] s2: [r(x,1) l(x) | r(x,0)]", "T1 -wr-> T2.1; T2.2 -rw-> T1", "Seen",
       Anomaly::NonMonotonicRead},
      {"mysql-rr", "s1: [i(x,1) | w(y,1)] s2: [r(x,1) l(x) | r(y,0)]",
       "T1 -wr-> T2.1; T2.2 -rw-> T1", "Seen", Anomaly::FracturedRead},
      {"pg-rr", "s1: [w(x,1)] s2: [r(x,0) | r(x,1)]", "T1 -wr-> T2.2; T2.1 -rw-> T1", "One",
       Anomaly::NonRepeatableRead},
      {"rc@snap", "s1: [w(x,1) | w(y,1)] s2: [r(x,1) r(y,0) |]", "T1 -wr-> T2.1; T2.1 -rw-> T1", "",
       Anomaly::FracturedRead},
      {"pg-rr", "s1: [w(x,1)] s2: [r(x,1) | w(y,1)] s3: [r(y,1) | r(x,0)]",
       "T1 -wr-> T2.1; T2 -wr-> T3.1; T3.2 -rw-> T1", "One", Anomaly::CausalityViolation},
      // No snapshot misses anything: they are circular without snapshots, too.
      {"pg-rr", "s1: [r(y,1)] [w(y,1)]", "T1 -so-> T2; T2 -wr-> T1.1", "One",
       Anomaly::CircularInformation},
      {"rc@snap", "s1: [w(x,1) | r(y,1)] s2: [w(y,1) | r(x,1)]", "T1 -wr-> T2.2; T2 -wr-> T1.2", "",
       Anomaly::CircularInformation},
  };
  for (const Told& t : kTold) {
    SCOPED_TRACE(t.hist);
    const History h = history_of(t.hist);
    const Verdict verdict = decide(t.level, h);
    ASSERT_TRUE(verdict.violation.has_value());
    EXPECT_EQ(told(h, *verdict.violation), t.cycle);
    EXPECT_EQ(verdict.violation->axiom, t.axiom);
    EXPECT_EQ(verdict.violation->anomaly, t.anomaly);
  }
}

TEST(CheckPoints, NamesLostUpdatesAndWriteSkew) {
  const History lost = history_of("s1: [r(x,0) w(x,1) |] s2: [r(x,0) w(x,2) |]");
  EXPECT_EQ(decide("pg-rc", lost).violation->anomaly, Anomaly::LostUpdate);
  EXPECT_EQ(decide("pg-rr", lost).violation->anomaly, Anomaly::LostUpdate);
  const History plain = history_of("s1: [r(x,0) | w(x,1)] s2: [r(x,0) | w(x,2)]");
  EXPECT_EQ(decide("pg-rr", plain).violation->anomaly, Anomaly::LostUpdate);
  EXPECT_EQ(decide("pg-rr", plain).violation->axiom, "FirstUpdater");
  EXPECT_EQ(decide("si@snap", plain).violation->axiom, "Conflict");
  const History skew = history_of("s1: [r(x,0) | w(y,1)] s2: [r(y,0) | w(x,1)]");
  EXPECT_EQ(decide("pg-rr", skew).outcome, Outcome::Consistent);
  const Verdict serial = decide("pg-ser", skew);
  ASSERT_TRUE(serial.violation.has_value());
  EXPECT_EQ(serial.violation->anomaly, Anomaly::WriteSkew);
  EXPECT_EQ(serial.violation->axiom, "Serializable");
}

TEST(CheckPoints, ChoosesOrdersThatAreOpen) {
  // Blind writers of x; both orders fail, each for another reader.
  const History h = history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1) | r(x,2) | r(x,1)]");
  const Verdict verdict = decide("pg-rc", h);
  ASSERT_TRUE(verdict.violation.has_value());
  EXPECT_TRUE(verdict.violation->cycle.empty());
  EXPECT_THAT(verdict.violation->core, ::testing::ElementsAre(TxnId{1}, TxnId{2}, TxnId{3}));
  EXPECT_EQ(decide("pg-rc", history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,2) | r(x,1)]")).outcome,
            Outcome::Consistent);
}

TEST(CheckPoints, KnowsRulesByTheirWords) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(levels
                  .add("level mine over co, snap\n"
                       "axiom Past: forall w: read, a, b: txn.\n"
                       "    of(w, b) and so(a, b) implies snap(a, w)\n"
                       "level strange over co, snap\n"
                       "axiom NotAll: forall t: txn, r: read. snap(t, r) implies t = t\n",
                       "my.level")
                  .ok());
  EXPECT_TRUE(has_points({.base = *levels.find("mine"), .own = {}}));
  EXPECT_FALSE(has_points({.base = *levels.find("strange"), .own = {}}));
}

// A recorded run of transfers: each transaction reads and updates two accounts. With
// ISOSCOPE_FUZZ_SHARE=1000 it has a million transactions.
TEST(CheckPoints, TakesLinearTimeWhereTheOrderIsKnown) {
  HistoryBuilder b(InitialValues::Zero);
  const int txns = static_cast<int>(cases(100'000));
  constexpr std::uint32_t kKeys = 1'000;
  std::vector<KeyId> keys;
  for (std::uint32_t i = 0; i < kKeys; ++i) keys.push_back(b.key(fmt::format("acct[{}].bal", i)));
  std::vector<int> value(kKeys);
  Rng rng(1);
  for (int i = 1; i <= txns; ++i) {
    const TxnId t = b.begin(b.session(fmt::format("s{}", i % 16)), TxnStatus::Committed, {1, 1});
    for (int j = 0; j < 2; ++j) {
      const auto k = rng.below(kKeys);
      b.begin_statement(t);
      b.read(t, keys[k], Value::of(value[k]), {1, 1});
      value[k] = 2 * i + j;
      b.write(t, keys[k], Value::of(value[k]), {1, 1});
      b.end_statement(t);
    }
    b.set_commit_number(t, i);
  }
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  for (const char* level : {"pg-rc", "pg-rr", "pg-ser"}) {
    const Verdict verdict = decide(level, *h);
    EXPECT_EQ(verdict.outcome, Outcome::Consistent) << level;
    EXPECT_EQ(verdict.stats.get("open pairs"), 0) << level;
  }
}

}  // namespace
}  // namespace isoscope
