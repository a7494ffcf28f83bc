// Small pictures: what each strong level says about each anomaly, and how it says it.
#include "check/strong/strong.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/strong/reference.h"
#include "history/builder.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Verdict check(const History& h, StrongLevel level) {
  Budget budget;
  return check_strong(h, level, budget);
}

std::vector<EdgeKind> kinds(const std::vector<Edge>& cycle) {
  std::vector<EdgeKind> result;
  for (const Edge& e : cycle) result.push_back(e.kind);
  return result;
}

struct Picture {
  std::string_view name;
  std::string_view violated;  // levels, of "pc psi ua si ser"
  std::string_view text;
  std::size_t steps = 0;  // of the shortest cycle at ser; 0 where a core tells it
};
void PrintTo(const Picture& p, std::ostream* out) { *out << p.name; }

constexpr std::string_view kAll = "pc psi ua si ser";

const Picture kPictures[] = {
    {"OneAfterTheOther", "", "s1: [r(x,0) w(x,1)] s2: [r(x,1) w(x,2)] s1: [r(x,2)]"},
    {"NoTransactions", "", ""},
    {"OnlyBlindWrites", "", "s1: [w(x,1) w(y,1)] s2: [w(x,2) w(y,2)] s3: [w(x,3)] s4: [w(y,4)]"},
    {"ReadOfOwnWrite", "", "s1: [w(x,1) r(x,1)] s2: [w(x,2) r(x,2)]"},
    {"LostUpdate", "psi ua si ser", "s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]", 2},
    {"LostUpdateOfAVersion", "psi ua si ser",
     "s0: [w(x,7)]  s1: [r(x,7) w(x,1)]  s2: [r(x,7) w(x,2)]", 2},
    {"WriteSkew", "ser", "s1: [r(x,0) w(y,1)]  s2: [r(y,0) w(x,1)]", 2},
    {"LongFork", "pc si ser", "s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)] s4: [r(y,1) r(x,0)]",
     4},
    {"LongForkSeenByTheAborted", "pc si ser",
     "s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)]! s4: [r(y,1) r(x,0)]!", 4},
    {"ReadOnlyAnomaly", "ser",
     "s1: [r(x,0) r(y,0) w(x,1)]  s2: [r(y,0) w(y,1)]  s3: [r(x,0) r(y,1)]", 3},
    {"CausalityViolation", "pc psi si ser",
     "s1: [w(x,1)]  s2: [r(x,1) w(y,1)]  s3: [r(y,1) r(x,0)]", 3},
    {"FracturedRead", kAll, "s1: [w(x,1) w(y,1)]  s2: [r(x,1) r(y,0)]", 2},
    {"StaleSessionRead", kAll, "s1: [w(x,1)] [r(x,0)]", 2},
    {"StaleSessionReadOfAVersion", "pc psi si ser", "s1: [w(x,1)] [w(x,2)]  s2: [r(x,2)] [r(x,1)]",
     3},
    {"TwoVersionsInOneTransaction", kAll, "s1: [w(x,1)]  s2: [w(x,2)]  s3: [r(x,1) r(x,2)]", 2},
    {"InitialAndLaterVersionInOneTransaction", kAll, "s1: [w(x,1)]  s2: [r(x,0) r(x,1)]", 2},
    {"CircularInformation", kAll, "s1: [r(y,1) w(x,1)]  s2: [r(x,1) w(y,1)]", 2},
    // Whichever of x and of z comes first, two of the readers contradict it.
    {"FourCorners", "pc si ser",
     "s1: [w(x,1)] s2: [w(x,2)] s3: [w(z,1)] s4: [w(z,2)]"
     "s5: [r(x,1) r(z,1)] s6: [r(x,1) r(z,2)] s7: [r(x,2) r(z,1)] s8: [r(x,2) r(z,2)]"},
    // A blind write in between: what pc lets pass, and the others not.
    {"OverwriteWithoutSeeing", "psi ua si ser",
     "s1: [r(x,0) w(x,1) w(y,1)]  s2: [r(x,0) w(x,2) w(z,2)]  s3: [r(y,1)] s4: [r(z,2)]", 2},
    // Two sessions see two blind writes in opposite orders.
    {"OppositeOrdersOfOneKey", "pc psi si ser",
     "s1: [w(x,1)]  s2: [w(x,2)]  s3: [r(x,1)] [r(x,2)]  s4: [r(x,2)] [r(x,1)]", 2},
};

class StrongPictures : public testing::TestWithParam<Picture> {};

TEST_P(StrongPictures, GetTheirVerdicts) {
  const History h = history_of(GetParam().text);
  for (const StrongLevel level : kStrongLevels) {
    SCOPED_TRACE(name_of(level));
    const std::string padded = " " + std::string(GetParam().violated) + " ";
    const bool expected = padded.find(" " + std::string(name_of(level)) + " ") != std::string::npos;
    const Verdict verdict = check(h, level);
    EXPECT_EQ(verdict.outcome, expected ? Outcome::Violated : Outcome::Consistent);
    EXPECT_EQ(AllVersionOrders(h).is_consistent(level), !expected);
    EXPECT_EQ(complain_about(h, level, verdict), std::nullopt);
    if (!expected) continue;
    EXPECT_EQ(verdict.violation->anomaly, Anomaly::None);
    EXPECT_EQ(verdict.violation->axiom, "");
    if (level == StrongLevel::Ser) {
      EXPECT_EQ(verdict.violation->cycle.size(), GetParam().steps);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StrongPictures, testing::ValuesIn(kPictures),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(StrongExplanations, TellALostUpdateByAnOverwrittenReadAndAForcedOrder) {
  const History h = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]");
  for (const StrongLevel level : {StrongLevel::Si, StrongLevel::Psi, StrongLevel::Ua}) {
    const Verdict verdict = check(h, level);
    ASSERT_EQ(verdict.outcome, Outcome::Violated);
    const std::vector<Edge>& cycle = verdict.violation->cycle;
    ASSERT_THAT(cycle, SizeIs(2));
    EXPECT_THAT(kinds(cycle), Contains(EdgeKind::Rw));
    EXPECT_THAT(kinds(cycle), Contains(EdgeKind::Ww));
    for (const Edge& e : cycle) {
      if (e.kind == EdgeKind::Rw) {
        EXPECT_THAT(e.path, IsEmpty());  // the initial value is read
      }
      if (e.kind == EdgeKind::Ww) {
        EXPECT_THAT(kinds(e.path), testing::ElementsAre(EdgeKind::Rw));
      }
    }
  }
}

TEST(StrongExplanations, TellWhyAVersionIsOvertaken) {
  // s3 has seen T2 and yet reads x from T1, so T2 came first; s4 says the opposite.
  const History h =
      history_of("s1: [w(x,1)]  s2: [w(x,2) w(y,2)]  s3: [r(y,2)] [r(x,1)]  s4: [r(x,1)] [r(x,2)]");
  const Verdict verdict = check(h, StrongLevel::Ser);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(complain_about(h, StrongLevel::Ser, verdict), std::nullopt);
  EXPECT_FALSE(verdict.violation->cycle.empty());
}

TEST(StrongExplanations, TakeARunOfASessionForOneStep) {
  std::string text = "s1: [w(x,1)]";
  for (int i = 0; i < 20; ++i) text += " [w(z" + std::to_string(i) + ",1)]";
  text += " [r(x,0)]";
  const History h = history_of(text);
  const Verdict verdict = check(h, StrongLevel::Ser);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_THAT(kinds(verdict.violation->cycle),
              testing::UnorderedElementsAre(EdgeKind::So, EdgeKind::Rw));
}

TEST(StrongExplanations, NameTheFourCornersAsTheCore) {
  const History h = history_of(
      "s0: [w(y,1)] [r(y,1)]"
      "s1: [w(x,1)] s2: [w(x,2)] s3: [w(z,1)] s4: [w(z,2)]"
      "s5: [r(x,1) r(z,1)] s6: [r(x,1) r(z,2)] s7: [r(x,2) r(z,1)] s8: [r(x,2) r(z,2)]"
      "s9: [r(y,1) w(v,1)]");
  const Verdict verdict = check(h, StrongLevel::Ser);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_THAT(verdict.violation->cycle, IsEmpty());
  EXPECT_THAT(verdict.violation->core, SizeIs(8));
  EXPECT_THAT(verdict.violation->core,
              Each(testing::AllOf(testing::Ge(TxnId{3}), testing::Le(TxnId{10}))));
}

TEST(CheckStrong, AnswersUnknownWhenTheBudgetHasExpired) {
  const History h = history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1)] s4: [r(x,2)]");
  for (const StrongLevel level : kStrongLevels) {
    Budget budget = Budget::seconds(0);
    const Verdict verdict = check_strong(h, level, budget);
    EXPECT_EQ(verdict.outcome, Outcome::Unknown);
    EXPECT_EQ(verdict.limit, "the time limit");
  }
}

TEST(CheckStrong, TellsItsProgress) {
  const History h = history_of("s1: [w(x,1)] s2: [w(x,2)] s3: [r(x,1)] s4: [r(x,2)]");
  std::vector<std::string> phases;
  Budget budget;
  StrongOptions options;
  options.progress = [&](std::string_view phase, double) { phases.emplace_back(phase); };
  EXPECT_EQ(check_strong(h, StrongLevel::Ser, budget, options).outcome, Outcome::Consistent);
  EXPECT_THAT(phases, testing::ElementsAre("collecting reads and writes",
                                           "deriving the order of versions", "trying an order"));
  phases.clear();
  const History lost = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]");
  EXPECT_EQ(check_strong(lost, StrongLevel::Ser, budget, options).outcome, Outcome::Violated);
  EXPECT_THAT(phases,
              testing::ElementsAre("collecting reads and writes", "explaining the violation"));
}

// A transaction of unknown outcome that nobody reads from is no member of the history.
TEST(CheckStrong, LeavesOutAbsentTransactions) {
  const History h = history_of("s1: [r(x,0) w(x,1)]  s2: [r(x,0) w(x,2)]?");
  const Verdict verdict = check(h, StrongLevel::Ser);
  ASSERT_EQ(verdict.outcome, Outcome::Consistent);
  EXPECT_THAT(verdict.witness->order, testing::ElementsAre(kInitialTxn, TxnId{1}));
}

// Two lists of the same two transactions, appended in opposite orders.
TEST(CheckStrong, RejectsListsThatContradictEachOther) {
  HistoryBuilder b(InitialValues::None);
  const KeyId x = b.key("x");
  const KeyId y = b.key("y");
  const TxnId t1 = b.begin(b.session("s1"), TxnStatus::Committed, {});
  const TxnId t2 = b.begin(b.session("s2"), TxnStatus::Committed, {});
  const TxnId t3 = b.begin(b.session("s3"), TxnStatus::Committed, {});
  const Value one = Value::of(1);
  const Value two = Value::of(2);
  for (const KeyId key : {x, y}) {
    b.append(t1, key, one, {});
    b.append(t2, key, two, {});
  }
  b.read_list(t3, x, std::vector{one, two}, {});
  b.read_list(t3, y, std::vector{two, one}, {});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  for (const StrongLevel level : kStrongLevels) {
    const Verdict verdict = check(*h, level);
    ASSERT_EQ(verdict.outcome, Outcome::Violated) << name_of(level);
    EXPECT_THAT(kinds(verdict.violation->cycle), testing::ElementsAre(EdgeKind::Ww, EdgeKind::Ww));
    EXPECT_EQ(complain_about(*h, level, verdict), std::nullopt);
  }
}

TEST(AsVisWitness, LeavesOutALargeVis) {
  HistoryBuilder b(InitialValues::Zero);
  for (std::size_t i = 0; i < kMaxVisTxns; ++i) {
    const TxnId t = b.begin(b.session("s1"), TxnStatus::Committed, {});
    b.write(t, b.key("x"), Value::of(static_cast<std::int64_t>(i) + 1), {});
  }
  const auto h = std::move(b).build();
  for (const StrongLevel level : kStrongLevels) {
    const Verdict verdict = check(*h, level);
    ASSERT_EQ(verdict.outcome, Outcome::Consistent);
    const Witness witness = as_vis_witness(*h, level, *verdict.witness);
    EXPECT_EQ(witness.framework, Framework::VisAr);
    EXPECT_EQ(witness.order.size(), kMaxVisTxns + 1);
    EXPECT_FALSE(witness.vis.has_value());
  }
}

}  // namespace
}  // namespace isoscope
