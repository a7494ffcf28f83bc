#include "generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace isoscope {
namespace {

using ::testing::HasSubstr;

struct KeptTxn {
  std::uint64_t number;
  std::uint32_t session;
  TxnStatus status;
  std::vector<PlainOp> ops;
  friend bool operator==(const KeptTxn&, const KeptTxn&) = default;
};

std::vector<KeptTxn> txns_of(const HistoryPlan& plan) {
  std::vector<KeptTxn> txns;
  const auto sizes = generate_txns(plan, [&txns](const PlainTxn& txn) {
    txns.push_back({txn.number, txn.session, txn.status, {txn.ops.begin(), txn.ops.end()}});
  });
  EXPECT_TRUE(sizes.ok());
  return txns;
}

// A small plan with contention.
HistoryPlan busy(Logic level) {
  return {.level = level, .sessions = 8, .txns = 300, .ops = 6, .keys = 20};
}

class GenerateAt : public ::testing::TestWithParam<Logic> {};
INSTANTIATE_TEST_SUITE_P(Store, GenerateAt, ::testing::ValuesIn(kStoreLevels),
                         [](const auto& at) { return std::string(name_of(at.param)); });

TEST_P(GenerateAt, RepeatsItselfForTheSameSeed) {
  HistoryPlan plan = busy(GetParam());
  plan.inject = "write-skew";
  plan.log_aborted = true;
  const auto txns = txns_of(plan);
  EXPECT_EQ(txns, txns_of(plan));
  plan.seed = 2;
  EXPECT_NE(txns, txns_of(plan));
}

TEST_P(GenerateAt, HasTheSizesThatThePlanAsksFor) {
  const auto txns = txns_of(busy(GetParam()));
  ASSERT_EQ(txns.size(), 300U);
  std::set<std::uint32_t> sessions;
  std::set<std::uint32_t> keys;
  for (const KeptTxn& txn : txns) {
    EXPECT_EQ(txn.status, TxnStatus::Committed);
    EXPECT_EQ(txn.ops.size(), 6U);
    sessions.insert(txn.session);
    for (const PlainOp& op : txn.ops) keys.insert(op.key);
  }
  EXPECT_EQ(sessions.size(), 8U);
  EXPECT_EQ(*sessions.rbegin(), 7U);
  EXPECT_EQ(keys.size(), 20U);
  EXPECT_EQ(*keys.rbegin(), 19U);
}

TEST_P(GenerateAt, WritesEveryValueOnceAndNeverZero) {
  HistoryPlan plan = busy(GetParam());
  plan.log_aborted = true;
  std::set<std::int64_t> values;
  for (const KeptTxn& txn : txns_of(plan)) {
    for (const PlainOp& op : txn.ops) {
      if (op.is_write) {
        EXPECT_NE(op.value, 0);
        EXPECT_TRUE(values.insert(op.value).second) << op.value;
      }
    }
  }
}

TEST_P(GenerateAt, ReadsOwnWritesAndNothingInexcusable) {
  HistoryPlan plan = busy(GetParam());
  plan.log_aborted = true;
  plan.ops = 60;  // every transaction meets its own writes again
  plan.txns = 60;
  const auto h = generate_history(plan);
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(h->faults().empty());
}

TEST_P(GenerateAt, BuildsTheHistoryThatItStreams) {
  HistoryPlan plan = busy(GetParam());
  plan.log_aborted = true;
  const auto txns = txns_of(plan);
  const auto h = generate_history(plan);
  ASSERT_TRUE(h.ok());
  ASSERT_EQ(h->num_txns(), txns.size() + 1);
  for (const KeptTxn& txn : txns) {
    const TxnId t{static_cast<std::uint32_t>(txn.number)};
    EXPECT_EQ(h->status(t), txn.status);
    EXPECT_EQ(h->given_name(h->session(t)), Value::of(txn.session));
    ASSERT_EQ(h->events(t).size(), txn.ops.size());
    EventId e = h->events(t).front();
    for (const PlainOp& op : txn.ops) {
      EXPECT_EQ(h->is_write(e), op.is_write);
      EXPECT_EQ(h->key_name(h->key(e)), Value::of(op.key));
      EXPECT_EQ(h->value(e), Value::of(op.value));
      ++e.index;
    }
  }
}

TEST_P(GenerateAt, StopsWhenTheBudgetExpires) {
  HistoryPlan plan = busy(GetParam());
  plan.txns = std::numeric_limits<std::uint64_t>::max();
  const auto sizes = generate_txns(
      plan, [](const PlainTxn&) {}, Budget::seconds(0.01));
  ASSERT_TRUE(sizes.ok());
  EXPECT_FALSE(sizes->complete);
}

TEST(Generate, LogsAbortedTransactionsOnlyWhenAsked) {
  for (const Logic level : {Logic::Si, Logic::Psi}) {
    HistoryPlan plan = busy(level);
    std::uint64_t logged = 0;
    const auto count = [&logged](const PlainTxn& txn) {
      if (txn.status == TxnStatus::Aborted) ++logged;
    };
    const auto silent = generate_txns(plan, count);
    EXPECT_EQ(logged, 0U);
    plan.log_aborted = true;
    const auto sizes = generate_txns(plan, count);
    ASSERT_TRUE(sizes.ok() && silent.ok());
    EXPECT_GT(logged, 0U) << name_of(level);
    EXPECT_EQ(logged, sizes->aborted);
    EXPECT_EQ(silent->aborted, sizes->aborted);
    EXPECT_EQ(sizes->committed, 300U);
    EXPECT_GT(sizes->events, silent->events);
  }
}

TEST(Generate, CountsWhatItHandsOut) {
  const auto sizes = generate_txns(busy(Logic::Ser), [](const PlainTxn&) {});
  ASSERT_TRUE(sizes.ok());
  EXPECT_EQ(sizes->committed, 300U);
  EXPECT_EQ(sizes->aborted, 0U);
  EXPECT_EQ(sizes->events, 1800U);
  EXPECT_TRUE(sizes->complete);
}

TEST(Generate, VariesSizesAroundTheirMean) {
  HistoryPlan plan = busy(Logic::Ser);
  plan.vary = true;
  plan.txns = 20'000;
  double sum = 0;
  std::size_t largest = 0;
  std::size_t ones = 0;
  for (const KeptTxn& txn : txns_of(plan)) {
    ASSERT_GE(txn.ops.size(), 1U);
    sum += static_cast<double>(txn.ops.size());
    largest = std::max(largest, txn.ops.size());
    if (txn.ops.size() == 1) ++ones;
  }
  EXPECT_NEAR(sum / 20'000, 6, 0.3);
  EXPECT_NEAR(static_cast<double>(ones) / 20'000, 1.0 / 6, 0.02);
  EXPECT_GT(largest, 30U);
}

TEST(Generate, MixesReadsAndWritesByTheirShare) {
  HistoryPlan plan = busy(Logic::Ser);
  plan.txns = 10'000;
  plan.read_share = 0.9;
  double reads = 0;
  for (const KeptTxn& txn : txns_of(plan)) {
    for (const PlainOp& op : txn.ops) reads += op.is_write ? 0 : 1;
  }
  EXPECT_NEAR(reads / 60'000, 0.9, 0.01);
}

TEST(Generate, PrecedesEveryWriteOfRmwByARead) {
  HistoryPlan plan = busy(Logic::Ser);
  plan.shape = TxnShape::Rmw;
  plan.read_share = 0.25;
  plan.txns = 2'000;
  double lone_reads = 0;
  double reads = 0;
  for (const KeptTxn& txn : txns_of(plan)) {
    ASSERT_EQ(txn.ops.size(), 6U);
    for (std::size_t i = 0; i < txn.ops.size(); ++i) {
      if (txn.ops[i].is_write) {
        ASSERT_GT(i, 0U);
        EXPECT_FALSE(txn.ops[i - 1].is_write);
        EXPECT_EQ(txn.ops[i - 1].key, txn.ops[i].key);
      } else if (i + 1 < txn.ops.size()) {  // the last one has no room for a write
        ++reads;
        if (!txn.ops[i + 1].is_write) ++lone_reads;
      }
    }
  }
  EXPECT_NEAR(lone_reads / reads, 0.25, 0.03);
}

TEST(Generate, SplitsReadersFromWriters) {
  HistoryPlan plan = busy(Logic::Ser);
  plan.shape = TxnShape::Split;
  plan.read_share = 0.7;
  plan.txns = 5'000;
  double readers = 0;
  for (const KeptTxn& txn : txns_of(plan)) {
    const bool writes = txn.ops.front().is_write;
    for (const PlainOp& op : txn.ops) EXPECT_EQ(op.is_write, writes);
    readers += writes ? 0 : 1;
  }
  EXPECT_NEAR(readers / 5'000, 0.7, 0.03);
}

// The most extreme plans that are valid: they finish.
TEST_P(GenerateAt, CopesWithOneOfEverything) {
  const HistoryPlan plan{
      .level = GetParam(), .sessions = 1, .txns = 50, .ops = 1, .keys = 1, .replicas = 1, .lag = 1};
  EXPECT_EQ(txns_of(plan).size(), 50U);
}

TEST_P(GenerateAt, CopesWithWritersOfASingleKey) {
  const HistoryPlan plan{.level = GetParam(),
                         .sessions = 1000,
                         .txns = 500,
                         .ops = 1,
                         .keys = 1,
                         .read_share = 0,
                         .replicas = 100,
                         .lag = 100};
  EXPECT_EQ(txns_of(plan).size(), 500U);
}

struct Mistake {
  const char* says;
  HistoryPlan plan;
  friend void PrintTo(const Mistake& m, std::ostream* out) { *out << m.says; }
};

class RejectedPlan : public ::testing::TestWithParam<Mistake> {};

TEST_P(RejectedPlan, SaysWhatIsWrong) {
  const auto valid = validate(GetParam().plan);
  ASSERT_FALSE(valid.ok());
  EXPECT_THAT(valid.error().what, HasSubstr(GetParam().says));
  EXPECT_FALSE(generate_history(GetParam().plan).ok());
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    Generate, RejectedPlan,
    ::testing::Values(
        Mistake{"at least 1 session", {.sessions = 0}},
        Mistake{"at most 1000000 sessions", {.sessions = 4'000'000'000}},
        Mistake{"at most 1000000 operations", {.ops = 4'000'000'000}},
        Mistake{"at most 1000 replicas", {.replicas = 4'000'000'000}},
        Mistake{"at least 1 transaction", {.txns = 0}}, Mistake{"at least 1 operation", {.ops = 0}},
        Mistake{"at least 2 operations", {.ops = 1, .shape = TxnShape::Rmw}},
        Mistake{"at least 1 key", {.keys = 0}}, Mistake{"at most", {.keys = 4'294'967'295}},
        Mistake{"share of reads", {.read_share = 1.5}},
        Mistake{"share of reads", {.read_share = kNan}}, Mistake{"exponent", {.theta = -1}},
        Mistake{"exponent", {.theta = kNan}}, Mistake{"at least 1 replica", {.replicas = 0}},
        Mistake{"lag", {.lag = 0}},
        Mistake{"lag", {.lag = std::numeric_limits<double>::infinity()}},
        Mistake{"place of an anomaly", {.inject = "long-fork", .inject_at = 2}},
        Mistake{"unknown anomaly 'lost-updat'", {.inject = "lost-updat"}},
        Mistake{"an anomaly needs at least 4 sessions", {.sessions = 3, .inject = "long-fork"}}));

TEST(Generate, RefusesAHistoryThatMemoryCannotHold) {
  const HistoryPlan plan{.txns = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_TRUE(validate(plan).ok());
  const auto h = generate_history(plan);
  ASSERT_FALSE(h.ok());
  EXPECT_THAT(h.error().what, HasSubstr("too large for memory"));
}

TEST(ValidatePlan, SuggestsTheAnomalyThatWasMeant) {
  EXPECT_THAT(validate({.inject = "lost-updat"}).error().hint, HasSubstr("lost-update"));
}

TEST(ValidatePlan, AcceptsTheDefaults) { EXPECT_TRUE(validate({}).ok()); }

}  // namespace
}  // namespace isoscope
