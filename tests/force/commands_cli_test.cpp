// `force --run`: unmodified commands (psql) whose statements the proxy holds, as users call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "cli/run_isoscope.h"
#include "force/server_fixture.h"
#include "force/sessions.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Two that read a balance and then write what they computed of it.
constexpr const char* kPlan =
    R"({"format":"isoscope-plan/1","level":"pg-rc","anomaly":"lost update",
"sessions":["a","b"],
"steps":[["a",1],["b",1],["a",2],["a","commit"],["b",2],["b","commit"]],
"statements":{"a":["SELECT v FROM acc WHERE id = ?","UPDATE acc SET v = ? WHERE id = ?"],
              "b":["SELECT v FROM acc WHERE id = ?","UPDATE acc SET v = ? WHERE id = ?"]}})";

class CommandsTest : public WithServer {
 protected:
  static std::string dsn() { return " --dsn '" + server_->dsn() + "'"; }
  static std::string setup() {
    return " --setup \"psql -qX -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS "
           "acc' -c 'CREATE TABLE acc (id int PRIMARY KEY, v int NOT NULL)' -c 'INSERT INTO acc "
           "VALUES (1, 100)'\" --teardown \"psql -qX -c 'DROP TABLE acc'\"";
  }
  // A session that says these statements, each in a request of its own.
  static std::string run(const std::string& session, const std::vector<std::string>& statements) {
    std::string command = "psql -AtqX";
    for (const std::string& sql : statements) command += " -c \\\"" + sql + "\\\"";
    return " --run " + session + "=\"" + command + "\"";
  }
  static std::vector<std::string> withdrawal(const std::string& rest,
                                             const std::string& level = "READ COMMITTED") {
    return {"BEGIN ISOLATION LEVEL " + level, "SELECT v FROM acc WHERE id = 1",
            "UPDATE acc SET v = " + rest + " WHERE id = 1", "COMMIT"};
  }
  static std::string two_withdrawals(const std::string& level) {
    return run("a", withdrawal("40", level)) + run("b", withdrawal("70", level));
  }
  // Processes of ours, connections, slots and locks that are still there.
  static std::string leftovers() {
    auto monitor = force::PgMonitor::open(server_->dsn());
    std::string found;
    for (int i = 0; i < 100; ++i) {
      auto rows = (*monitor)->query(
          "SELECT string_agg(x, ' ') FROM (SELECT 'connection ' || application_name FROM "
          "pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
          "UNION ALL SELECT 'slot' FROM pg_replication_slots UNION ALL SELECT 'lock' FROM pg_locks "
          "WHERE locktype = 'advisory' UNION ALL SELECT 'table ' || relname FROM pg_class c JOIN "
          "pg_namespace n ON n.oid = relnamespace WHERE nspname = 'public') l(x)");
      if (!rows) return rows.error().what;
      found = rows->at(0).at(0).value_or("");
      if (found.empty()) return found;
      (*monitor)->answer("SELECT pg_sleep(0.02)");
    }
    return found;
  }
};

TEST_F(CommandsTest, ReproducesALostUpdateOfTwoCommands) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  const Ran ran = run_isoscope("force " + plan + dsn() + setup() +
                               two_withdrawals("READ COMMITTED") + " --times 3 --json");
  ASSERT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["verdict"], "reproduced");
  EXPECT_EQ(answer["judge"], "history");
  EXPECT_EQ(answer["runs"], 3);
  EXPECT_EQ(answer["reproduced"], 3);
  EXPECT_EQ(answer["anomaly"], "lost update");
  EXPECT_EQ(answer["levels"][0], (json{{"level", "ser"}, {"verdict", "violated"}}));
  EXPECT_EQ(answer["levels"].back(), (json{{"level", "pg-rc"}, {"verdict", "consistent"}}));
  EXPECT_EQ(answer["tables"]["public.acc"], json::parse(R"([["1","70"]])"));
  ASSERT_EQ(answer["serial_orders"].size(), 2U);
  // The recorded history is one that check reads.
  const std::string history = folder.add("run.jsonl", answer["history"].get<std::string>());
  EXPECT_EQ(run_isoscope("check " + history + " --level ser").exit_code, 1);
  EXPECT_EQ(leftovers(), "");
}

TEST_F(CommandsTest, WritesAPage) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  run_isoscope("force " + plan + dsn() + setup() + two_withdrawals("READ COMMITTED") + " --html " +
               folder.at("page.html"));
  const std::string page = folder.text_of("page.html");
  EXPECT_THAT(page, HasSubstr("The recorded history is not serializable"));
  EXPECT_THAT(page, HasSubstr("UPDATE acc SET v = 40 WHERE id = 1"));
  EXPECT_THAT(page, HasSubstr("No serial order of the commands ends so."));
}

TEST_F(CommandsTest, SaysWhatPreventsItAtStrongerLevels) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  for (const char* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    const Ran ran = run_isoscope("force " + plan + dsn() + setup() + two_withdrawals(level));
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("prevented: by SQLSTATE 40001"));
  }
  EXPECT_EQ(leftovers(), "");
}

TEST_F(CommandsTest, PlaysEveryOrderOfStatementsThatAreNoLongerThoseOfThePlan) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  const auto repaired = [](const std::string& pieces) {
    return std::vector<std::string>{
        "BEGIN", "UPDATE acc SET v = v - " + pieces + " WHERE id = 1 AND v >= " + pieces, "COMMIT"};
  };
  const Ran ran = run_isoscope("force " + plan + dsn() + setup() + run("a", repaired("60")) +
                               run("b", repaired("50")) + " --json");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["verdict"], "prevented");
  EXPECT_GE(answer["orders_played"], 4);
  EXPECT_GE(answer["rechecked"], 1);
  EXPECT_EQ(leftovers(), "");
}

TEST_F(CommandsTest, ALockOfTheReaderPreventsIt) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  auto locking = withdrawal("v - 60");
  locking[1] += " FOR UPDATE";
  const Ran ran =
      run_isoscope("force " + plan + dsn() + setup() + run("a", locking) + run("b", locking));
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("prevented: 1 lock wait"));
}

// Without a setup nothing can be repeated: the answer says where the statements left the plan.
TEST_F(CommandsTest, SaysWhereStatementsLeftThePlan) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  auto monitor = force::PgMonitor::open(server_->dsn());
  (*monitor)->answer(
      "CREATE TABLE acc (id int PRIMARY KEY, v int); INSERT INTO acc VALUES (1, 100)");
  const std::vector<std::string> blind = {"BEGIN", "UPDATE acc SET v = v - 1 WHERE id = 1",
                                          "COMMIT"};
  const Ran ran =
      run_isoscope("force " + plan + dsn() + run("a", withdrawal("40")) + run("b", blind));
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  EXPECT_THAT(
      ran.out,
      HasSubstr("diverged: session b never came to the statement that the plan begins with"));
  (*monitor)->answer("DROP TABLE acc");
}

TEST_F(CommandsTest, WithoutAPlanEveryOrderIsPlayed) {
  const Ran ran =
      run_isoscope("force" + dsn() + setup() + two_withdrawals("READ COMMITTED") + " --json");
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_EQ(json::parse(ran.out)["verdict"], "reproduced");
}

TEST_F(CommandsTest, WritesATestThatFailsAndPassesAfterTheRepair) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  folder.add(
      "withdraw.sql",
      "BEGIN; \nSELECT v FROM acc WHERE id = 1 \\gset\nUPDATE acc SET v = :v - :pieces WHERE id = "
      "1;\nCOMMIT;\n");
  const auto run = [&](const std::string& session, const std::string& pieces) {
    return " --run '" + session + "=psql -AtqX -v pieces=" + pieces + " -f " +
           folder.at("withdraw.sql") + "'";
  };
  const std::string words = dsn() + setup() + run("a", "10") + run("b", "20");
  const Ran ran = run_isoscope("force " + plan + words + " --script " + folder.at("race"));
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  const auto test = [&] {
    return std::system(("ISOSCOPE=" + isoscope_binary() + " python3 " +
                        folder.at("race/isoscope_test_lost_update.py") + " >/dev/null 2>&1")
                           .c_str());
  };
  EXPECT_NE(test(), 0);
  folder.add("withdraw.sql", "BEGIN;\nUPDATE acc SET v = v - :pieces WHERE id = 1;\nCOMMIT;\n");
  EXPECT_EQ(test(), 0);
}

TEST_F(CommandsTest, RefusesCommandsThatDoNotFitThePlan) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  const Ran missing = run_isoscope("force " + plan + dsn() + run("a", {"SELECT 1"}));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("session b of the plan has no command"));
  const Ran unknown = run_isoscope("force " + plan + dsn() + run("a", {"SELECT 1"}) +
                                   run("b", {"SELECT 1"}) + run("c", {"SELECT 1"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("the plan has no session c"));
  const Ran again =
      run_isoscope("force " + plan + dsn() + two_withdrawals("READ COMMITTED") + " --times 2");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("--setup"));
}

// What does not do its work cannot go wrong: that is no prevention.
TEST_F(CommandsTest, TakesNoBrokenCommandForARepairedOne) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  const std::string good = run("b", withdrawal("70"));
  const Ran failing = run_isoscope("force " + plan + dsn() + setup() + " --run a=false" + good);
  EXPECT_EQ(failing.exit_code, 2) << failing.out << failing.err;
  EXPECT_THAT(failing.err, HasSubstr("session a fails by itself"));
  const Ran idle = run_isoscope("force " + plan + dsn() + setup() + " --run a=true" + good);
  EXPECT_EQ(idle.exit_code, 3) << idle.out << idle.err;
  EXPECT_THAT(idle.out, HasSubstr("session a sent no statement"));
  const Ran wrong = run_isoscope(
      "force " + plan + dsn() + setup() +
      run("a", {"BEGIN", "SELECT v FROM acc WHERE id = 1", "UPDATE nothing SET v = 1", "COMMIT"}) +
      good);
  EXPECT_EQ(wrong.exit_code, 3) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("42P01"));
}

// A command that never ends is ended with the time limit, and with it what it has started.
TEST_F(CommandsTest, NothingSurvivesACommandThatHangs) {
  const TempFolder folder;
  const std::string plan = folder.add("plan.json", kPlan);
  const std::string mark = "31.4159" + std::to_string(::getpid());
  const std::string hanging =
      " --run 'b=psql -AtqX -c \"BEGIN\" -c \"SELECT v FROM acc WHERE id = 1\" "
      "-c \"SELECT pg_sleep(300)\" & sleep " +
      mark + "'";
  const Ran ran = run_isoscope("force " + plan + dsn() + setup() + run("a", withdrawal("40")) +
                               hanging + " --timeout 4");
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string words((std::istreambuf_iterator<char>(file)), {});
    EXPECT_FALSE(words.starts_with("sleep") && words.find(mark) != std::string::npos);
  }
  EXPECT_EQ(leftovers(), "");
}

}  // namespace
}  // namespace isoscope
