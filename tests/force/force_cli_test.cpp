// The commands force, probe and stress as users call them, before a server of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "force/server_fixture.h"
#include "force/sessions.h"
#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;

class ForceCliTest : public WithServer {
 protected:
  static std::string dsn() { return " --dsn '" + server_->dsn() + "'"; }
  static std::string example(const std::string& name) { return source_dir() + "/examples/" + name; }
  // What is on the server that was not there at first: schemas, tables, connections, locks.
  static std::string leftovers() {
    auto monitor = force::PgMonitor::open(server_->dsn());
    for (int i = 0; i < 200; ++i) {
      auto rows = (*monitor)->query(
          "SELECT string_agg(x, ' ') FROM (SELECT nspname FROM pg_namespace WHERE nspname LIKE "
          "'isoscope%' OR nspname = 'forced' UNION ALL SELECT relname FROM pg_class c JOIN "
          "pg_namespace n ON n.oid = relnamespace WHERE nspname = 'public' UNION ALL SELECT "
          "'connection' FROM pg_stat_activity WHERE application_name LIKE 'isoscope%' UNION ALL "
          "SELECT 'lock' FROM pg_locks WHERE locktype = 'advisory') l(x)");
      if (!rows) return rows.error().what;
      if (!rows->at(0).at(0)) return "";
      if (i == 199) return *rows->at(0).at(0);
      (*monitor)->answer("SELECT pg_sleep(0.02)");
    }
    return "";
  }
};

TEST_F(ForceCliTest, ReproducesALostUpdateAndShowsWhatSerialOrdersGive) {
  const Ran ran = run_isoscope("force " + example("force/lost-update.spec") + dsn());
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("reproduced in 1 of 2 orders of steps"));
  EXPECT_THAT(ran.out, HasSubstr("no serial order gives that"));
  EXPECT_THAT(ran.out, HasSubstr("alice, then bob"));
  EXPECT_EQ(leftovers(), "");
}

TEST_F(ForceCliTest, TellsTheSameAsJson) {
  const Ran ran =
      run_isoscope("force " + example("force/write-skew.json") + dsn() + " --json --times 3");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["verdict"], "reproduced");
  EXPECT_EQ(answer["runs"], 3);
  EXPECT_EQ(answer["orders"][0]["reproduced"], 3);
}

TEST_F(ForceCliTest, WritesATestForIsolationtester) {
  const TempFolder folder;
  run_isoscope("force " + example("force/write-skew.json") + dsn() + " --isolationtester " +
               folder.at("skew.spec"));
  EXPECT_THAT(folder.text_of("skew.spec"),
              HasSubstr("permutation alice_1 bob_1 alice_2 bob_2 alice_c bob_c"));
  EXPECT_THAT(folder.text_of("skew.out"), HasSubstr("step alice_2: UPDATE doctor"));
  const Ran again = run_isoscope("force " + folder.at("skew.spec") + dsn());
  EXPECT_EQ(again.exit_code, 1) << again.err;
}

TEST_F(ForceCliTest, StepsTheFunctionsOfAnApplication) {
  for (const auto& [level, verdict] :
       {std::pair{"read-committed", "reproduced"}, std::pair{"repeatable-read", "prevented"},
        std::pair{"serializable", "prevented"}}) {
    const Ran ran = run_isoscope("force " + example("sql/bank.sql") + dsn() +
                                 " --times 3 --json --level " + level);
    ASSERT_THAT(ran.exit_code, AnyOf(Eq(0), Eq(1))) << ran.out << ran.err;
    const json answer = json::parse(ran.out);
    EXPECT_EQ(answer["verdict"], verdict) << level;
    if (std::string(verdict) == "reproduced") {
      EXPECT_EQ(answer["orders"][0]["reproduced"], 3);
    }
  }
  EXPECT_EQ(leftovers(), "");
}

// The history is the judge, with the statements as they were executed; and a call that fails in the
// middle of its statements has not left the schedule.
TEST_F(ForceCliTest, RecordsTheStatementsInsideOfFunctions) {
  const TempFolder folder;
  const std::string app = folder.add("app.sql", R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 10);
CREATE FUNCTION seen(p int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE v_now int;
BEGIN
  SELECT v INTO v_now FROM t WHERE id = p;
  RETURN v_now;
END $$;
CREATE FUNCTION take(p int, n int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_old int;
BEGIN
  v_old := seen(p);
  UPDATE t SET v = v_old - n WHERE id = p;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM 1 FROM t WHERE id = p;
  RETURN true;
END $$;
-- session a: take(1, 3)
-- session b: take(1, 4)
)");
  const Ran weak = run_isoscope("force " + app + dsn() + " --json");
  ASSERT_EQ(weak.exit_code, 1) << weak.out << weak.err;
  const json order = json::parse(weak.out)["orders"][0];
  EXPECT_EQ(order["judge"], "history") << order;
  EXPECT_EQ(order["anomaly"], "lost update");
  EXPECT_THAT(order["history"].get<std::string>(),
              HasSubstr("UPDATE t SET v = 10 - 4 WHERE id = 1"));
  EXPECT_THAT(order["history"].get<std::string>(), HasSubstr("SELECT v FROM t WHERE id = 1"));
  const Ran strong = run_isoscope("force " + app + dsn() + " --json --level repeatable-read");
  ASSERT_EQ(strong.exit_code, 0) << strong.out << strong.err;
  EXPECT_EQ(json::parse(strong.out)["orders"][0]["judge"], "history");
  const std::string page = folder.at("page.html");
  run_isoscope("force " + app + dsn() + " --html " + page);
  EXPECT_THAT(slurp(page), HasSubstr("UPDATE t SET v = 10 - 4 WHERE id = 1"));
  EXPECT_EQ(leftovers(), "");
}

// What cannot be recorded is judged by the serial orders, and said.
TEST_F(ForceCliTest, LeavesFunctionsThatAreNotRecordedToTheSerialOrders) {
  const TempFolder folder;
  const std::string app = folder.add("app.sql", R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 10);
CREATE FUNCTION seen(p int) RETURNS int LANGUAGE sql AS $$ SELECT v FROM t WHERE id = p $$;
CREATE FUNCTION take(p int, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE v_old int;
BEGIN
  v_old := seen(p);
  UPDATE t SET v = v_old - n WHERE id = p;
  RETURN v_old;
END $$;
-- session a: take(1, 3)
-- session b: take(1, 4)
)");
  const Ran ran = run_isoscope("force " + app + dsn() + " --json");
  ASSERT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  const json order = json::parse(ran.out)["orders"][0];
  EXPECT_EQ(order["judge"], "serial orders");
  EXPECT_THAT(order["no_history_witness"].get<std::string>(), HasSubstr("it is not in PL/pgSQL"));
}

// Calls that read and write rows; `look` is the one that a race misleads.
constexpr const char* kLooking = R"(
CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL);
INSERT INTO t VALUES (1, 1), (2, 0), (3, 0), (4, 0);
CREATE FUNCTION switch_off() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 0 WHERE id = 1;
END $$;
CREATE FUNCTION change_both() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 5 WHERE id IN (3, 4);
END $$;
)";

// How many statements a call has depends on the others: every order of those that there are then is
// played, and statements behind an EXCEPTION block or inside of an SQL function stop like others.
TEST_F(ForceCliTest, FindsRacesWhereverStatementsAre) {
  const TempFolder folder;
  const std::pair<const char*, const char*> looks[] = {
      {"a branch that a serial run does not take", R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
DECLARE x int; n int; y int; z int;
BEGIN
  SELECT v INTO x FROM t WHERE id = 1;
  IF x > 0 THEN
    SELECT v INTO n FROM t WHERE id = 2;
    SELECT v INTO y FROM t WHERE id = 3;
    SELECT v INTO z FROM t WHERE id = 4;
    RETURN y - z;
  END IF;
  RETURN 0;
END $$;
-- session carol: switch_off()
-- session alice: change_both()
-- session bob: look()
)"},
      {"behind an EXCEPTION block", R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
DECLARE y int; z int; q int;
BEGIN
  BEGIN
    SELECT v INTO q FROM t WHERE id = 2;
    SELECT v INTO q FROM t WHERE id = 2;
    SELECT 1 / v INTO q FROM t WHERE id = 2;
  EXCEPTION WHEN division_by_zero THEN
    q := 0;
  END;
  SELECT v INTO y FROM t WHERE id = 3;
  SELECT v INTO z FROM t WHERE id = 4;
  RETURN y - z;
END $$;
-- session alice: change_both()
-- session bob: look()
)"},
      {"in a function in SQL", R"(
CREATE FUNCTION value_of(i int) RETURNS int LANGUAGE sql AS $$ SELECT v FROM t WHERE id = i $$;
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
DECLARE y int; z int;
BEGIN
  y := value_of(3);
  z := value_of(4);
  RETURN y - z;
END $$;
-- session alice: change_both()
-- session bob: look()
)"}};
  for (const auto& [what, look] : looks) {
    const std::string app = folder.add("app.sql", std::string(kLooking) + look);
    const Ran ran = run_isoscope("force " + app + dsn());
    EXPECT_EQ(ran.exit_code, 1) << what << ": " << ran.out << ran.err;
  }
  EXPECT_EQ(leftovers(), "");
}

// What cannot be interrupted where the server could be is never part of *prevented*.
TEST_F(ForceCliTest, SaysWhichSchedulesCannotBePlayed) {
  const TempFolder folder;
  const std::pair<const char*, const char*> looks[] = {{"a condition after ELSIF", R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT v FROM t WHERE id = 3) > 9 THEN
    RETURN 1;
  ELSIF (SELECT v FROM t WHERE id = 3) > 0 THEN
    RETURN 2;
  END IF;
  RETURN 3;
END $$;
)"},
                                                       {"the condition of a WHILE loop", R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int := 0;
BEGIN
  WHILE n < 2 AND (SELECT v FROM t WHERE id = 3) = 0 LOOP
    n := n + 1;
  END LOOP;
  RETURN 3;
END $$;
)"},
                                                       {"a declaration", R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
DECLARE y int := (SELECT v FROM t WHERE id = 3); z int;
BEGIN
  SELECT v INTO z FROM t WHERE id = 4;
  RETURN y - z;
END $$;
)"}};
  for (const auto& [what, look] : looks) {
    const std::string app =
        folder.add("app.sql", std::string(kLooking) + look +
                                  "-- session alice: change_both()\n-- session bob: look()\n");
    const Ran ran = run_isoscope("force " + app + dsn());
    EXPECT_EQ(ran.exit_code, 3) << what << ": " << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(what));
    // One snapshot sees the same wherever it is asked.
    const Ran strong = run_isoscope("force " + app + dsn() + " --level repeatable-read");
    EXPECT_EQ(strong.exit_code, 0) << what << ": " << strong.out << strong.err;
  }
}

TEST_F(ForceCliTest, TakesNoCallThatFailsByItselfForAPrevention) {
  const TempFolder folder;
  const std::string app = folder.add("app.sql", std::string(kLooking) + R"(
CREATE FUNCTION look() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  UPDATE t SET v = 1 WHERE id = 1;
  RAISE EXCEPTION 'always';
END $$;
-- session alice: look()
-- session bob: look()
)");
  const Ran ran = run_isoscope("force " + app + dsn());
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fails also when its session is alone, with P0001: always"));
}

// The application has a schema of its own, and nothing else may stay.
TEST_F(ForceCliTest, RefusesAnApplicationThatCreatesThingsElsewhere) {
  const TempFolder folder;
  const std::string app = folder.add("app.sql", R"(
CREATE SCHEMA forced;
CREATE TABLE forced.t (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE u (id int PRIMARY KEY, v int NOT NULL);
CREATE FUNCTION f(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE u SET v = n;
END $$;
-- session alice: f(1)
-- session bob: f(2)
)");
  const Ran ran = run_isoscope("force " + app + dsn());
  EXPECT_EQ(ran.exit_code, 2) << ran.out;
  EXPECT_THAT(ran.err,
              HasSubstr("creates schema forced, table forced.t outside of its own schema"));
  EXPECT_EQ(leftovers(), "");
}

TEST_F(ForceCliTest, ProbeDecidesNothingOfWhatWasNotPlayed) {
  const Ran ran = run_isoscope("probe" + dsn() + " --json --timeout 0.5");
  EXPECT_EQ(ran.exit_code, 3) << ran.out;
  const json answer = json::parse(ran.out);
  EXPECT_TRUE(answer["levels"][0]["kept"].is_null()) << answer["levels"][0]["kept"];
  const Ran left_out = run_isoscope("probe" + dsn() +
                                    " --only P4 --levels 'READ COMMITTED' --expect "
                                    "'REPEATABLE READ=ser'");
  EXPECT_EQ(left_out.exit_code, 2) << left_out.out;
  EXPECT_THAT(left_out.err, HasSubstr("--levels leaves out REPEATABLE READ"));
}

TEST_F(ForceCliTest, StressBelievesNoKillThatDidNotHappen) {
  const Ran ran = run_isoscope(
      "stress --isolation SERIALIZABLE --level ser --txns 100 "
      "--kill-server true" +
      dsn());
  EXPECT_EQ(ran.exit_code, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("'true' has not ended the server"));
  EXPECT_EQ(leftovers(), "");
}

TEST_F(ForceCliTest, TellsWhereASpecificationIsWrong) {
  const TempFolder folder;
  const Ran ran = run_isoscope(
      "force " + folder.add("f.spec", "session s1\nstep a { X }\npermutation b") + dsn());
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("f.spec:3:13: error: there is no step b"));
}

TEST_F(ForceCliTest, ProbesTheLevelsOfTheServer) {
  const Ran ran = run_isoscope("probe --only P4,G2-item" + dsn() + " --json");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["verdict"], "kept");
  ASSERT_EQ(answer["levels"].size(), 3U);
  const bool kPossible[3][2] = {{true, true}, {false, true}, {false, false}};
  for (std::size_t level = 0; level < 3; ++level)
    for (std::size_t probe = 0; probe < 2; ++probe)
      EXPECT_EQ(answer["levels"][level]["anomalies"][probe]["possible"], kPossible[level][probe])
          << level << " " << probe;
  EXPECT_EQ(answer["levels"][1]["strongest"], json::array({"si"}));
  EXPECT_EQ(leftovers(), "");
}

TEST_F(ForceCliTest, KnowsAnExpectedLevelByEachOfItsNames) {
  const Ran ran = run_isoscope(
      "probe --only P4 --levels SERIALIZABLE --expect SERIALIZABLE=serializable --json" + dsn());
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["levels"][0]["expected"], "ser");
  EXPECT_EQ(answer["levels"][0]["strongest"], json::array({"ser"}));
}

TEST_F(ForceCliTest, SaysThatAnExpectedLevelIsBroken) {
  const Ran ran = run_isoscope(
      "probe --only P4 --levels 'READ COMMITTED' --expect 'READ COMMITTED=si'" + dsn());
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("expected si: broken"));
  EXPECT_EQ(run_isoscope("probe --levels NONSENSE" + dsn()).exit_code, 2);
  EXPECT_EQ(run_isoscope("probe --only NONSENSE" + dsn()).exit_code, 2);
}

// At its own level nothing is found; at a stronger one the anomaly is.
TEST_F(ForceCliTest, StressFindsWhatALevelAllowsAndNothingElse) {
  const auto stress = [](const std::string& words) {
    return run_isoscope("stress --txns 600 --keys 3 --clients 6 " + words + dsn());
  };
  for (const char* workload : {"register", "list", "bank"}) {
    const std::string of = std::string("--workload ") + workload;
    const Ran own = stress(of + " --isolation 'REPEATABLE READ' --level si");
    EXPECT_EQ(own.exit_code, 0) << own.out << own.err;
    const Ran serial = stress(of + " --isolation SERIALIZABLE --level ser");
    EXPECT_EQ(serial.exit_code, 0) << serial.out << serial.err;
    const Ran weak = stress(of + " --isolation 'READ COMMITTED' --level si");
    EXPECT_EQ(weak.exit_code, 1) << weak.out << weak.err;
  }
  EXPECT_EQ(leftovers(), "");
}

// What needs a server is not among the examples that tests/cli runs.
TEST_F(ForceCliTest, AnswersMeetTheirSchemas) {
  const TempFolder folder;
  const std::string lines[] = {
      "force " + example("force/lost-update.spec"), "force " + example("sql/bank.sql"),
      "probe --only P4,G2-item", "stress --txns 300 --isolation SERIALIZABLE --level ser",
      "stress --txns 300 --keys 2 --isolation 'READ COMMITTED' --level si"};
  std::string files;
  for (const std::string& line : lines) {
    const Ran ran = run_isoscope(line + dsn() + " --json");
    ASSERT_THAT(ran.exit_code, AnyOf(Eq(0), Eq(1))) << line << ran.err;
    files += " " + folder.add(std::to_string(files.size()) + ".json", ran.out);
  }
  const Ran checked =
      run_shell("python3 " + source_dir() + "/tests/cli/schemas_test.py --objects" + files);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

// PostgreSQL's own levels are decided although clients overlap, and faults are no violations.
TEST_F(ForceCliTest, StressDecidesTheServersLevelsAndSurvivesKilledClients) {
  const std::string words = " --txns 1500 --keys 5 --kill-clients 4 --timeout 60 --json" + dsn();
  for (const auto& [isolation, level] :
       {std::pair{"READ COMMITTED", "pg-rc"}, std::pair{"REPEATABLE READ", "pg-rr"}}) {
    for (const char* workload : {"register", "bank"}) {
      const Ran ran = run_isoscope(std::string("stress --workload ") + workload + " --isolation '" +
                                   isolation + "' --level " + level + words);
      EXPECT_EQ(ran.exit_code, 0) << isolation << ran.out << ran.err;
      const json answer = json::parse(ran.out);
      EXPECT_EQ(answer["verdict"], "consistent");
      EXPECT_EQ(answer["killed_clients"], 4);
    }
  }
  EXPECT_EQ(leftovers(), "");
}

// A violation becomes a plan, which force makes happen again.
TEST_F(ForceCliTest, StressHandsAViolationToForce) {
  const TempFolder folder;
  const Ran found =
      run_isoscope("stress --txns 600 --keys 3 --isolation 'READ COMMITTED' --level si --plan " +
                   folder.at("plan.json") + dsn());
  ASSERT_EQ(found.exit_code, 1) << found.out << found.err;
  const Ran forced = run_isoscope("force " + folder.at("plan.json") + " --first" + dsn());
  EXPECT_EQ(forced.exit_code, 1) << forced.out << forced.err;
  EXPECT_EQ(leftovers(), "");
}

}  // namespace
}  // namespace isoscope
