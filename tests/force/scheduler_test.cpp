// The scheduler before a server of the test's own.
#include "force/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "force/server_fixture.h"
#include "force/sessions.h"

namespace isoscope::force {
namespace {

using ::testing::ElementsAre;

// How often the same plan must give the same run; 100 in the nightly tests.
int repetitions() {
  const char* asked = std::getenv("ISOSCOPE_FORCE_TIMES");
  return asked != nullptr ? std::atoi(asked) : 4;
}

std::string words(const Played& played) {
  std::string out;
  for (const Moment& m : played.moments) {
    static const std::map<Moment::Kind, std::string> kSigns = {{Moment::Kind::Sent, ""},
                                                               {Moment::Kind::Parked, "waits"},
                                                               {Moment::Kind::Answered, "ok"},
                                                               {Moment::Kind::Forfeited, "gone"}};
    out += (out.empty() ? "" : " ") + std::to_string(m.actor.index) + "." +
           std::to_string(m.statement.index) + kSigns.at(m.kind);
    for (const ActorId h : m.holders) out += ":" + std::to_string(h.index);
    if (m.was_put_off) out += "late";
  }
  return out;
}

class SchedulerTest : public WithServer {
 protected:
  void SetUp() override {
    WithServer::SetUp();
    if (IsSkipped()) return;
    monitor_ = std::move(*PgMonitor::open(server_->dsn()));
    sql("DROP TABLE IF EXISTS t");
    sql("CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
    sql("INSERT INTO t VALUES (1, 100), (2, 100)");
  }
  std::vector<Row> sql(const std::string& text) {
    auto rows = monitor_->query(text);
    EXPECT_TRUE(rows.ok()) << (rows ? "" : rows.error().what);
    return rows ? *rows : std::vector<Row>();
  }
  // Plays scripts of two sessions, and leaves their answers in answers_.
  Played play_two(const std::vector<std::string>& s1, const std::vector<std::string>& s2,
                  const std::vector<std::uint32_t>& turns, double seconds = 30) {
    auto stage = PgSessions::open({.dsn = server_->dsn()},
                                  {{.name = "s1", .script = say_until_failure(s1)},
                                   {.name = "s2", .script = say_until_failure(s2)}});
    EXPECT_TRUE(stage.ok());
    Budget budget = Budget::seconds(seconds);
    Schedule schedule;
    for (const std::uint32_t actor : turns) schedule.turns.push_back({actor});
    auto played = play(**stage, schedule, budget);
    EXPECT_TRUE(played.ok()) << (played ? "" : played.error().what);
    answers_ = {(*stage)->answers({0}).entries(), (*stage)->answers({1}).entries()};
    return *played;
  }
  int connections() {
    return std::atoi(
        sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'isoscope/%'")[0][0]
            ->c_str());
  }

  std::unique_ptr<PgMonitor> monitor_;
  std::vector<std::vector<Answer>> answers_;
};

std::vector<std::string> withdrawal(const std::string& level, int left) {
  return {"BEGIN ISOLATION LEVEL " + level, "SELECT v FROM t WHERE id = 1",
          "UPDATE t SET v = " + std::to_string(left) + " WHERE id = 1", "COMMIT"};
}

TEST_F(SchedulerTest, SendsStatementsInTheOrderOfThePlan) {
  for (int i = 0; i < repetitions(); ++i) {
    sql("UPDATE t SET v = 100");
    const Played played = play_two(withdrawal("READ COMMITTED", 90),
                                   withdrawal("READ COMMITTED", 40), {0, 1, 0, 1, 0, 0, 1, 1});
    EXPECT_EQ(played.end, Played::End::Complete);
    EXPECT_EQ(words(played),
              "0.0 0.0ok 1.0 1.0ok 0.1 0.1ok 1.1 1.1ok 0.2 0.2ok 0.3 0.3ok 1.2 1.2ok 1.3 1.3ok");
    EXPECT_EQ(answers_[1][1].value(), "100");
    EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1")[0][0], "40");  // an update is lost
  }
}

TEST_F(SchedulerTest, ParksAStatementThatWaitsForALockAndResumesIt) {
  for (int i = 0; i < repetitions(); ++i) {
    sql("UPDATE t SET v = 100");
    const Played played = play_two(withdrawal("REPEATABLE READ", 90),
                                   withdrawal("REPEATABLE READ", 40), {0, 0, 1, 1, 0, 1, 0, 1});
    EXPECT_EQ(played.end, Played::End::Complete);
    EXPECT_EQ(words(played),
              "0.0 0.0ok 0.1 0.1ok 1.0 1.0ok 1.1 1.1ok 0.2 0.2ok 1.2 1.2waits:0 "
              "0.3 0.3ok 1.2ok 1.3 1.3ok");
    EXPECT_EQ(answers_[1][2].error, "40001");
    EXPECT_EQ(answers_[1][3].tag, "ROLLBACK");
    EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1")[0][0], "90");
  }
}

TEST_F(SchedulerTest, PutsOffTheTurnOfASessionThatWaits) {
  const Played played =
      play_two({"BEGIN", "UPDATE t SET v = v - 1 WHERE id = 1", "COMMIT"},
               {"BEGIN", "UPDATE t SET v = v - 2 WHERE id = 1", "COMMIT"}, {0, 0, 1, 1, 1, 0});
  EXPECT_EQ(played.end, Played::End::Complete);
  EXPECT_EQ(words(played),
            "0.0 0.0ok 0.1 0.1ok 1.0 1.0ok 1.1 1.1waits:0 0.2 0.2ok 1.1ok 1.2late 1.2ok");
  EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1")[0][0], "97");
}

TEST_F(SchedulerTest, WaitsForTheServerToEndADeadlock) {
  const auto swap = [](int first, int second) {
    return std::vector<std::string>{
        "BEGIN", "UPDATE t SET v = 0 WHERE id = " + std::to_string(first),
        "UPDATE t SET v = 0 WHERE id = " + std::to_string(second), "COMMIT"};
  };
  const Played played = play_two(swap(1, 2), swap(2, 1), {0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(played.end, Played::End::Complete);
  const bool first_dies = answers_[0][2].has_failed();
  EXPECT_EQ(answers_[first_dies ? 0 : 1][2].error, "40P01");
  EXPECT_EQ(answers_[first_dies ? 1 : 0][2].error, "");
}

TEST_F(SchedulerTest, EndsWhatIsStuckAndLeavesNothingBehind) {
  const Played played = play_two({"BEGIN", "UPDATE t SET v = 1 WHERE id = 1"},
                                 {"UPDATE t SET v = 2 WHERE id = 1", "SELECT 1"}, {0, 0, 1, 1});
  EXPECT_EQ(played.end, Played::End::Stuck);
  EXPECT_EQ(words(played), "0.0 0.0ok 0.1 0.1ok 1.0 1.0waits:0");
  for (int i = 0; i < 500 && connections() > 0; ++i) sql("SELECT pg_sleep(0.01)");
  EXPECT_EQ(connections(), 0);
  EXPECT_EQ(sql("SELECT v FROM t WHERE id = 1")[0][0], "100");
}

TEST_F(SchedulerTest, KeepsItsBudget) {
  const Played played = play_two({"SELECT pg_sleep(600)"}, {"SELECT 1"}, {0, 1}, 0.2);
  EXPECT_EQ(played.end, Played::End::Limit);
  for (int i = 0; i < 500 && connections() > 0; ++i) sql("SELECT pg_sleep(0.01)");
  EXPECT_EQ(connections(), 0);
}

// A statement that takes its time does not wait: the next one is not sent before it has answered.
TEST_F(SchedulerTest, TakesNoSlowStatementForOneThatWaits) {
  const Played played = play_two({"SELECT pg_sleep(0.3)"}, {"SELECT 1"}, {0, 1});
  EXPECT_EQ(words(played), "0.0 0.0ok 1.0 1.0ok");
}

TEST_F(SchedulerTest, ForfeitsTheTurnsOfASessionThatFailed) {
  const Played played =
      play_two({"BEGIN", "SELECT 1/0", "SELECT 1", "SELECT 2", "COMMIT"}, {}, {0, 0, 0, 0, 0});
  EXPECT_EQ(words(played), "0.0 0.0ok 0.1 0.1ok 0.2 0.2ok 0.3gone 0.3gone");
  EXPECT_EQ(answers_[0][1].error, "22012");
  EXPECT_EQ(answers_[0][2].tag, "ROLLBACK");
}

TEST_F(SchedulerTest, KnowsAdvisoryLocksAndRowsAndTables) {
  for (const std::string lock :
       {"SELECT pg_advisory_xact_lock(7)", "SELECT v FROM t WHERE id = 1 FOR UPDATE",
        "LOCK TABLE t IN EXCLUSIVE MODE", "INSERT INTO t VALUES (3, 3) ON CONFLICT DO NOTHING"}) {
    const Played played =
        play_two({"BEGIN", lock, "ROLLBACK"}, {"BEGIN", lock, "ROLLBACK"}, {0, 0, 1, 1, 0, 1});
    EXPECT_EQ(words(played),
              "0.0 0.0ok 0.1 0.1ok 1.0 1.0ok 1.1 1.1waits:0 0.2 0.2ok 1.1ok 1.2 1.2ok")
        << lock;
  }
}

}  // namespace
}  // namespace isoscope::force
