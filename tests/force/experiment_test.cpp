// Orders of steps on a server of the test's own, and what comes of them.
#include "force/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "force/forcing.h"
#include "force/plan_file.h"
#include "force/server_fixture.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::force {
namespace {

using ::testing::ElementsAre;

// 100 in the nightly tests.
std::size_t times() {
  const char* asked = std::getenv("ISOSCOPE_FORCE_TIMES");
  return asked != nullptr ? static_cast<std::size_t>(std::atoi(asked)) : 2;
}

class ForcingTest : public WithServer {
 protected:
  Forced force_one(const std::string& text) {
    auto spec = read_spec(text);
    EXPECT_TRUE(spec.ok()) << (spec ? "" : spec.error().what);
    return force_one(*spec);
  }
  Forced force_one(const Spec& spec) {
    auto answer = force_spec(spec, {.dsn = server_->dsn(), .times = times()});
    EXPECT_TRUE(answer.ok()) << (answer ? "" : answer.error().what);
    EXPECT_EQ(answer->forced.size(), 1U);
    return answer->forced.at(0);
  }
};

// The recorded history is the judge, and the serial orders say the same.
void expect_both_witnesses(const Forced& forced, const std::string& what) {
  EXPECT_TRUE(forced.is_judged_by_history) << what << ": " << forced.run.recorded.why;
  const bool is_wrong = forced.verdict == ForceVerdict::Reproduced;
  EXPECT_EQ(forced.judgement.kind,
            is_wrong ? Judgement::Kind::Unserializable : Judgement::Kind::Serializable)
      << what;
}

struct Race {
  const char* name;
  const char* file;  // of examples/force
  std::vector<std::string> possible_at;
  std::vector<std::string> prevented_at;
};

const std::vector<Race>& races() {
  static const std::vector<Race> kRaces = {
      {"lost update", "lost-update.spec", {"READ COMMITTED"}, {"REPEATABLE READ", "SERIALIZABLE"}},
      {"write skew", "write-skew.json", {"READ COMMITTED", "REPEATABLE READ"}, {"SERIALIZABLE"}},
      {"phantom", "phantom.spec", {"READ COMMITTED"}, {"REPEATABLE READ", "SERIALIZABLE"}},
      {"read-only anomaly",
       "read-only-anomaly.spec",
       {"READ COMMITTED", "REPEATABLE READ"},
       {"SERIALIZABLE"}},
      {"double claim",
       "double-claim.spec",
       {"READ COMMITTED"},
       {"REPEATABLE READ", "SERIALIZABLE"}},
  };
  return kRaces;
}

// The example at this level, and its first order of steps.
Spec example_at(const Race& race, const std::string& level) {
  auto text = read_whole(source_dir() + "/examples/force/" + race.file);
  EXPECT_TRUE(text.ok()) << race.file;
  // Comments speak of levels too.
  *text = std::regex_replace(*text, std::regex("(LEVEL |\"level\": \")[A-Za-z ]+"), "$1" + level);
  auto spec = looks_like_plan(*text) ? read_plan(*text) : read_spec(*text);
  EXPECT_TRUE(spec.ok()) << race.file;
  spec->permutations.resize(1);
  return *spec;
}

TEST_F(ForcingTest, ReproducesRacesEachTimeWhereTheLevelAllowsThem) {
  for (const Race& race : races()) {
    for (const std::string& level : race.possible_at) {
      const Forced forced = force_one(example_at(race, level));
      EXPECT_EQ(forced.verdict, ForceVerdict::Reproduced) << race.name << " at " << level;
      EXPECT_EQ(forced.reproduced, times()) << race.name << " at " << level;
      expect_both_witnesses(forced, race.name + (" at " + level));
    }
  }
}

TEST_F(ForcingTest, FindsThemPreventedEachTimeWhereTheLevelForbidsThem) {
  for (const Race& race : races()) {
    for (const std::string& level : race.prevented_at) {
      const Forced forced = force_one(example_at(race, level));
      EXPECT_EQ(forced.verdict, ForceVerdict::Prevented) << race.name << " at " << level;
      EXPECT_EQ(forced.prevented, times()) << race.name << " at " << level;
      expect_both_witnesses(forced, race.name + (" at " + level));
      if (std::string(race.name) != "phantom") {
        EXPECT_THAT(forced.sqlstates, ElementsAre("40001")) << race.name << " at " << level;
      }
    }
  }
}

TEST_F(ForcingTest, SaysThatAWhereWasCheckedAgain) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, qty int); INSERT INTO t VALUES (1, 1); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step wa { UPDATE t SET qty = qty - 1 WHERE qty > 0; } step ca { COMMIT; }
session b setup { BEGIN; } step wb { UPDATE t SET qty = qty - 1 WHERE qty > 0; } step cb { COMMIT; }
permutation wa wb ca cb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Prevented);
  EXPECT_EQ(forced.waits, 1U);
  EXPECT_EQ(forced.rechecked, 1U);
}

// Rows come in another order after an update; that is no anomaly.
TEST_F(ForcingTest, ComparesRowsWithoutTheirOrder) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step wa { UPDATE t SET v = 1 WHERE id = 1; } step ca { COMMIT; }
session b setup { BEGIN; } step wb { UPDATE t SET v = 2 WHERE id = 2; } step cb { COMMIT; }
session c step rc { SELECT * FROM t; }
permutation wb wa cb ca rc)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Prevented);
}

// Which number a sequence gives is outside of transactions.
TEST_F(ForcingTest, TakesNumbersOfSequencesForNoAnomaly) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id serial PRIMARY KEY, who text); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step wa { INSERT INTO t (who) VALUES ('a1'); } step xa { INSERT INTO t (who) VALUES ('a2'); } step ca { COMMIT; }
session b setup { BEGIN; } step wb { INSERT INTO t (who) VALUES ('b'); } step cb { COMMIT; }
permutation wa wb xa ca cb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Prevented);
}

// Serial orders cannot be compared then. The recorded history can still be judged.
TEST_F(ForcingTest, TakesNoWitnessThatDiffersFromRunToRun) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v float); INSERT INTO t VALUES (1, 0); }
teardown { DROP TABLE t; }
session a step wa { UPDATE t SET v = random(); }
session b step wb { SELECT id FROM t; }
permutation wa wb)");
  EXPECT_EQ(forced.judgement.kind, Judgement::Kind::Unknown);
  EXPECT_EQ(forced.is_judged_by_history, forced.verdict == ForceVerdict::Prevented);
}

TEST_F(ForcingTest, SaysThatAPlanGotStuck) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step wa { UPDATE t SET v = 1; } step ca { COMMIT; }
session b step wb { UPDATE t SET v = 2; }
permutation wa wb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Diverged);
}

// Who fails alone as well prevents nothing.
TEST_F(ForcingTest, TakesNoStatementThatFailsByItselfForAPrevention) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 100); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step ra { SELECT v FROM t; } step wa { UPDATE t SET nonsense = 40; } step ca { COMMIT; }
session b setup { BEGIN; } step rb { SELECT v FROM t; } step wb { UPDATE t SET v = 70; } step cb { COMMIT; }
permutation ra rb wa wb ca cb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Unknown);
  EXPECT_THAT(forced.why, ::testing::HasSubstr("fails with 42703 also when that session is alone"));
}

// A guard that refuses the second one is a prevention: alone it would not have refused.
TEST_F(ForcingTest, TakesAConstraintForAPrevention) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int CHECK (v >= 0)); INSERT INTO t VALUES (1, 100); }
teardown { DROP TABLE t; }
session a setup { BEGIN; } step wa { UPDATE t SET v = v - 60; } step ca { COMMIT; }
session b setup { BEGIN; } step wb { UPDATE t SET v = v - 60; } step cb { COMMIT; }
permutation wa wb ca cb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Prevented) << forced.why;
  EXPECT_THAT(forced.sqlstates, ElementsAre("23514"));
}

// Only the rows show the lost update, and the run cannot be recorded whole.
TEST_F(ForcingTest, ComparesTablesOfEverySchema) {
  const Forced forced = force_one(R"(
setup { CREATE SCHEMA s; CREATE TABLE s.t (id int PRIMARY KEY, v int); INSERT INTO s.t VALUES (1, 100); }
teardown { DROP SCHEMA s CASCADE; }
session a setup { BEGIN; } step ra { CREATE TEMP TABLE x AS SELECT v FROM s.t; } step wa { UPDATE s.t SET v = (SELECT v FROM x) - 60; } step ca { COMMIT; }
session b setup { BEGIN; } step rb { CREATE TEMP TABLE x AS SELECT v FROM s.t; } step wb { UPDATE s.t SET v = (SELECT v FROM x) - 30; } step cb { COMMIT; }
permutation ra rb wa ca wb cb)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Reproduced) << forced.why;
}

// Between two transactions others may come, also if one step ends the first and begins the second.
TEST_F(ForcingTest, TakesTwoTransactionsOfOneStepForNoAnomaly) {
  constexpr const char* kTables =
      "setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 100);\n"
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT v FROM t'; }\n"
      "teardown { DROP FUNCTION f(); DROP TABLE t; }\n"
      "session b step wb { UPDATE t SET v = 70; }\n";
  for (const char* session :
       {"session a step ra { BEGIN; SELECT f(); } step sa { COMMIT; BEGIN; SELECT f(); } step ca { "
        "COMMIT; }\npermutation ra wb sa ca",
        "session a step ra { BEGIN; SELECT f(); } step na { COMMIT AND CHAIN; } step sa { SELECT "
        "f(); } step ca { COMMIT; }\npermutation ra wb na sa ca"}) {
    const Forced forced = force_one(std::string(kTables) + session);
    EXPECT_NE(forced.verdict, ForceVerdict::Reproduced) << session;
  }
}

// A setup outside of a transaction is none of the first one's statements.
TEST_F(ForcingTest, TakesASetupForATransactionOfItsOwn) {
  const Forced forced = force_one(R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 100); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT v FROM t'; }
teardown { DROP FUNCTION f(); DROP TABLE t; }
session a setup { SELECT f(); } step sa { SELECT f(); }
session b step wb { UPDATE t SET v = 70; }
permutation wb sa)");
  EXPECT_EQ(forced.verdict, ForceVerdict::Prevented) << forced.why;
}

TEST_F(ForcingTest, TellsASetupThatFails) {
  for (const auto& [text, what] :
       {std::pair{"setup { CREATE NONSENSE; } session a step x { SELECT 1; }",
                  "setup failed: syntax"},
        std::pair{"session a setup { BEGIN NONSENSE; } step x { SELECT 1; }",
                  "the setup of session a failed: syntax"}}) {
    auto spec = read_spec(text);
    ASSERT_TRUE(spec.ok());
    auto answer = force_spec(*spec, {.dsn = server_->dsn()});
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().what, ::testing::HasSubstr(what));
  }
}

}  // namespace
}  // namespace isoscope::force
