// The history of random clients: what of their transactions is in it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "check/check.h"
#include "force/plan_file.h"
#include "force/stress_client.h"
#include "force/stress_plan.h"
#include "spec/levels.h"
#include "support/history_of.h"

namespace isoscope::force {
namespace {

using Kind = StressOp::Kind;

class StressHistory : public ::testing::Test {
 protected:
  // Transactions of clients of their own, in the order of their ends.
  History of(StressWorkload workload, const std::string& isolation,
             const std::vector<StressTxn>& txns) {
    options_ = {.workload = workload, .isolation = isolation};
    StressState state{
        .options = options_, .rows = StressRows(options_), .table = "t", .begin = "BEGIN"};
    std::vector<std::unique_ptr<StressClient>> clients;
    for (const StressTxn& txn : txns) {
      clients.push_back(std::make_unique<StressClient>(state, clients.size()));
      clients.back()->txns.push_back(txn);
      clients.back()->txns.back().ended = clients.size();
    }
    Budget budget;
    auto h = history_of_clients(clients, options_, budget);
    EXPECT_TRUE(h.ok()) << (h ? "" : h.error().what);
    return std::move(*h);
  }
  static Outcome checked(const History& h, std::string_view level) {
    Budget budget;
    return check(h, **LevelSet::built_in().find(level), budget).verdict.outcome;
  }
  static std::size_t reads(const History& h, std::string_view status) {
    std::size_t count = 0;
    for (const TxnId t : h.txns()) {
      if (t.index == 0 || h.is_committed(t) != (status == "committed")) continue;
      for (const EventId e : h.events(t)) count += h.is_read(e) ? 1 : 0;
    }
    return count;
  }

  StressOptions options_;
};

StressTxn ended(TxnStatus status, std::vector<StressOp> ops) {
  return {.status = status, .ops = std::move(ops), .error = "40001"};
}

// Write skew, one half of which the server has aborted.
const std::vector<StressTxn> kHalfOfASkew = {
    ended(TxnStatus::Committed, {{.kind = Kind::Read, .row = {1}, .seen = {0}},
                                 {.kind = Kind::Write, .row = {0}, .written = 1, .seen = {0}}}),
    ended(TxnStatus::Aborted, {{.kind = Kind::Read, .row = {0}, .seen = {0}},
                               {.kind = Kind::Write, .row = {1}, .written = 2, .seen = {0}}})};

TEST_F(StressHistory, AtSerializableLeavesOutWhatAbortedTransactionsRead) {
  const History h = of(StressWorkload::Register, "serializable", kHalfOfASkew);
  EXPECT_EQ(reads(h, "aborted"), 0U);
  EXPECT_EQ(reads(h, "committed"), 2U);
  EXPECT_EQ(checked(h, "ser"), Outcome::Consistent);
}

// What they wrote stays: somebody who reads it has read what was never committed.
TEST_F(StressHistory, AtSerializableKeepsWhatAbortedTransactionsWrote) {
  std::vector<StressTxn> txns = kHalfOfASkew;
  txns.push_back(ended(TxnStatus::Committed, {{.kind = Kind::Read, .row = {1}, .seen = {2}}}));
  EXPECT_EQ(checked(of(StressWorkload::Register, "SERIALIZABLE", txns), "ser"), Outcome::Violated);
}

TEST_F(StressHistory, BothHalvesOfASkewAreFound) {
  std::vector<StressTxn> txns = kHalfOfASkew;
  txns[1].status = TxnStatus::Committed;
  EXPECT_EQ(checked(of(StressWorkload::Register, "SERIALIZABLE", txns), "ser"), Outcome::Violated);
}

// At the other levels an aborted transaction has a snapshot like all others, and is held to it.
TEST_F(StressHistory, AtOtherLevelsKeepsWhatAbortedTransactionsRead) {
  EXPECT_EQ(reads(of(StressWorkload::Register, "REPEATABLE READ", kHalfOfASkew), "aborted"), 2U);
}

// A transaction sees its own appends, also if it is aborted later: no other one reads them.
TEST_F(StressHistory, AnAbortedTransactionMaySeeItsOwnAppends) {
  const std::vector<StressTxn> txns = {
      ended(TxnStatus::Committed, {{.kind = Kind::Write, .row = {0}, .written = 1}}),
      ended(TxnStatus::Aborted, {{.kind = Kind::Write, .row = {0}, .written = 2, .seen = {1}},
                                 {.kind = Kind::Read, .row = {0}, .seen = {1, 2}}}),
      ended(TxnStatus::Committed, {{.kind = Kind::Write, .row = {0}, .written = 3, .seen = {1}},
                                   {.kind = Kind::Read, .row = {0}, .seen = {1, 3}}})};
  for (const auto& [isolation, level] :
       {std::pair("READ COMMITTED", "pg-rc"), {"REPEATABLE READ", "si"}, {"SERIALIZABLE", "ser"}})
    EXPECT_EQ(checked(of(StressWorkload::List, isolation, txns), level), Outcome::Consistent)
        << level;
}

TEST_F(StressHistory, AnAbortedAppendThatSomebodyReadsIsFound) {
  const std::vector<StressTxn> txns = {
      ended(TxnStatus::Aborted, {{.kind = Kind::Write, .row = {0}, .written = 1}}),
      ended(TxnStatus::Committed, {{.kind = Kind::Read, .row = {0}, .seen = {1}}})};
  for (const auto& [isolation, level] :
       {std::pair("READ COMMITTED", "pg-rc"), {"REPEATABLE READ", "si"}, {"SERIALIZABLE", "ser"}})
    EXPECT_EQ(checked(of(StressWorkload::List, isolation, txns), level), Outcome::Violated)
        << level;
}

// MariaDB has no UPDATE … RETURNING: the query that asks what was overwritten takes the snapshot of
// the transaction, and the wait of a later statement changes nothing in that.
TEST_F(StressHistory, AQueryBehindAWriteTakesTheSnapshot) {
  for (const bool was_asked : {true, false}) {
    const std::vector<StressTxn> txns = {
        ended(TxnStatus::Committed, {{.kind = Kind::Write, .row = {1}, .written = 1, .seen = {0}},
                                     {.kind = Kind::Write, .row = {2}, .written = 2, .seen = {0}}}),
        ended(TxnStatus::Committed,
              {{.kind = Kind::Write, .row = {0}, .written = 3, .seen = {0}, .was_asked = was_asked},
               {.kind = Kind::Write, .row = {1}, .written = 4, .seen = {1}, .was_asked = was_asked},
               {.kind = Kind::Read, .row = {2}, .seen = {0}}})};
    EXPECT_EQ(checked(of(StressWorkload::Register, "REPEATABLE READ", txns), "mysql-rr"),
              was_asked ? Outcome::Consistent : Outcome::Violated);
  }
}

// What a row holds leads back to all the writes that it rests on.
TEST_F(StressHistory, ACommittedWriteThatIsGoneIsLost) {
  const auto lost = [&](StressWorkload workload, std::vector<StressTxn> txns) {
    options_ = {.workload = workload, .isolation = "READ COMMITTED"};
    StressState state{
        .options = options_, .rows = StressRows(options_), .table = "t", .begin = "BEGIN"};
    std::vector<std::unique_ptr<StressClient>> clients;
    for (StressTxn& txn : txns) {
      clients.push_back(std::make_unique<StressClient>(state, clients.size()));
      txn.ended = clients.size();
      clients.back()->txns.push_back(txn);
    }
    clients.back()->txns.back().looks_at_end = true;
    return lost_commits(clients, options_).size();
  };
  const auto write = [](std::int64_t value, std::int64_t before,
                        TxnStatus status = TxnStatus::Committed) {
    return ended(status, {{.kind = Kind::Write, .row = {0}, .written = value, .seen = {before}}});
  };
  const auto look = [](std::vector<std::int64_t> seen) {
    return ended(TxnStatus::Committed, {{.kind = Kind::Read, .row = {0}, .seen = std::move(seen)}});
  };
  using Workload = StressWorkload;
  EXPECT_EQ(lost(Workload::Register, {write(1, 0), write(2, 1), look({2})}), 0U);
  EXPECT_EQ(lost(Workload::Register, {write(1, 0), write(2, 1), look({1})}), 1U);
  EXPECT_EQ(lost(Workload::Register, {write(1, 0), write(2, 0), look({2})}), 1U);
  EXPECT_EQ(lost(Workload::Register, {write(1, 0), look({-1})}), 1U);  // the row is gone
  // One of unknown outcome may have come in between, or not.
  EXPECT_EQ(lost(Workload::Register, {write(1, 0, TxnStatus::Unknown), write(2, 1), look({2})}),
            0U);
  EXPECT_EQ(lost(Workload::Register, {write(1, 0, TxnStatus::Unknown), look({0})}), 0U);
  // Nobody has told what came before 7: nothing is known of 1.
  EXPECT_EQ(lost(Workload::Register, {write(1, 0), look({7})}), 0U);
  EXPECT_EQ(lost(Workload::List, {write(1, 0), write(2, 1), look({1, 2})}), 0U);
  EXPECT_EQ(lost(Workload::List, {write(1, 0), write(2, 1), look({2})}), 1U);
}

// A list that is full makes room for another one, so reads stay short.
TEST(StressRowsTest, AFullListIsFollowedByANewOne) {
  const StressOptions options{
      .workload = StressWorkload::List, .isolation = "SERIALIZABLE", .keys = 2};
  StressRows rows(options);
  rows.grow(1'000, 4);
  Rng rng(1);
  std::map<StressRow, std::size_t> appends;
  for (int i = 0; i < 2'000; ++i) {
    const StressRow row = rows.pick(rng);
    ++appends[row];
    rows.note_write(row);
  }
  for (const auto& [row, count] : appends) {
    EXPECT_LE(count, 32U) << row.index;
    EXPECT_LT(row.index, rows.size());
  }
  EXPECT_EQ(rows.written().size(), appends.size());
}

// The statements of a plan's sessions, in their order.
std::vector<std::vector<std::string>> planned(std::string_view hist_text) {
  const StressOptions options{.workload = StressWorkload::Register, .isolation = "REPEATABLE READ"};
  auto plan = read_plan(stress_plan(history_of(hist_text), options));
  EXPECT_TRUE(plan.ok());
  std::vector<std::vector<std::string>> sessions;
  for (const SpecSession& session : plan->sessions) {
    sessions.emplace_back();
    for (const SpecStep& step : session.steps) sessions.back().push_back(step.sql);
  }
  return sessions;
}

auto count_of(const std::vector<std::string>& steps, std::string_view sql) {
  return std::ranges::count_if(
      steps, [&](const std::string& step) { return step.find(sql) != std::string::npos; });
}

// T3 is aborted, and only what it read tells that the others are in no serial order.
TEST(StressPlan, HasWhatAbortedTransactionsRead) {
  const auto sessions = planned(
      "init t[0]=0 t[1]=0  s1: [w(t[0],1)]  s2: [r(t[0],0) | w(t[1],2)]"
      "  s3: [r(t[0],1) | r(t[1],0) | w(t[1],3)]!");
  ASSERT_EQ(sessions.size(), 3U);
  EXPECT_EQ(count_of(sessions[2], "SELECT v"), 2);
  EXPECT_EQ(count_of(sessions[2], "UPDATE"), 0);
}

// Here only the order of s1 tells.
TEST(StressPlan, KeepsTheTransactionsOfASessionInTheirOrder) {
  const auto sessions =
      planned("init t[0]=0 t[1]=0  s1: [w(t[0],1)] [r(t[1],0)]  s2: [r(t[0],0) | w(t[1],2)]");
  ASSERT_EQ(sessions.size(), 2U);
  const std::string all = fmt::format("{}", fmt::join(sessions[0], "; "));
  ASSERT_NE(all.find("SELECT v"), std::string::npos);
  EXPECT_LT(all.find("UPDATE"), all.find("SELECT v"));
}

}  // namespace
}  // namespace isoscope::force
