// Orders of steps on a server of the test's own, and what comes of them.
#include "force/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "force/forcing.h"
#include "force/server_fixture.h"

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
  static std::string at(std::string text, const std::string& level) {
    for (std::size_t i = 0; (i = text.find('@', i)) != std::string::npos; i += level.size())
      text.replace(i, 1, level);
    return text;
  }
  Forced force_one(const std::string& text) {
    auto spec = read_spec(text);
    EXPECT_TRUE(spec.ok()) << (spec ? "" : spec.error().what);
    auto answer = force_spec(*spec, {.dsn = server_->dsn(), .times = times()});
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
  const char* spec;  // @ stands for the level
  std::vector<std::string> possible_at;
  std::vector<std::string> prevented_at;
};

const std::vector<Race>& races() {
  static const std::vector<Race> kRaces = {
      {"lost update",
       R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 100); }
teardown { DROP TABLE t; }
session a setup { BEGIN ISOLATION LEVEL @; } step ra { SELECT v FROM t; } step wa { UPDATE t SET v = 40; } step ca { COMMIT; }
session b setup { BEGIN ISOLATION LEVEL @; } step rb { SELECT v FROM t; } step wb { UPDATE t SET v = 70; } step cb { COMMIT; }
permutation ra rb wa wb ca cb)",
       {"READ COMMITTED"},
       {"REPEATABLE READ", "SERIALIZABLE"}},
      {"write skew",
       R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 1); }
teardown { DROP TABLE t; }
session a setup { BEGIN ISOLATION LEVEL @; } step ra { SELECT sum(v) FROM t; } step wa { UPDATE t SET v = 0 WHERE id = 1; } step ca { COMMIT; }
session b setup { BEGIN ISOLATION LEVEL @; } step rb { SELECT sum(v) FROM t; } step wb { UPDATE t SET v = 0 WHERE id = 2; } step cb { COMMIT; }
permutation ra rb wa wb ca cb)",
       {"READ COMMITTED", "REPEATABLE READ"},
       {"SERIALIZABLE"}},
      {"phantom",
       R"(
setup { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1); }
teardown { DROP TABLE t; }
session a setup { BEGIN ISOLATION LEVEL @; } step ra { SELECT count(*) FROM t; } step sa { SELECT count(*) FROM t; } step ca { COMMIT; }
session b setup { BEGIN ISOLATION LEVEL @; } step wb { INSERT INTO t VALUES (2, 1); } step cb { COMMIT; }
permutation ra wb cb sa ca)",
       {"READ COMMITTED"},
       {"REPEATABLE READ", "SERIALIZABLE"}},
      {"read-only anomaly",
       R"(
setup { CREATE TABLE t (id text PRIMARY KEY, v int); INSERT INTO t VALUES ('x', 0), ('y', 0); }
teardown { DROP TABLE t; }
session a setup { BEGIN ISOLATION LEVEL @; } step ra { SELECT id, v FROM t; } step wa { UPDATE t SET v = -11 WHERE id = 'x'; } step ca { COMMIT; }
session b setup { BEGIN ISOLATION LEVEL @; } step rb { SELECT v FROM t WHERE id = 'y'; } step wb { UPDATE t SET v = 20 WHERE id = 'y'; } step cb { COMMIT; }
session c setup { BEGIN ISOLATION LEVEL @; } step rc { SELECT id, v FROM t; } step cc { COMMIT; }
permutation ra rb wb cb rc cc wa ca)",
       {"READ COMMITTED", "REPEATABLE READ"},
       {"SERIALIZABLE"}},
      {"double claim",
       R"(
setup { CREATE TABLE t (id int PRIMARY KEY, owner text); INSERT INTO t VALUES (1, NULL); }
teardown { DROP TABLE t; }
session a setup { BEGIN ISOLATION LEVEL @; } step ra { SELECT id FROM t WHERE owner IS NULL; } step wa { UPDATE t SET owner = 'a' WHERE id = 1; } step ca { COMMIT; }
session b setup { BEGIN ISOLATION LEVEL @; } step rb { SELECT id FROM t WHERE owner IS NULL; } step wb { UPDATE t SET owner = 'b' WHERE id = 1; } step cb { COMMIT; }
permutation ra rb wa ca wb cb)",
       {"READ COMMITTED"},
       {"REPEATABLE READ", "SERIALIZABLE"}},
  };
  return kRaces;
}

TEST_F(ForcingTest, ReproducesRacesEachTimeWhereTheLevelAllowsThem) {
  for (const Race& race : races()) {
    for (const std::string& level : race.possible_at) {
      const Forced forced = force_one(at(race.spec, level));
      EXPECT_EQ(forced.verdict, ForceVerdict::Reproduced) << race.name << " at " << level;
      EXPECT_EQ(forced.reproduced, times()) << race.name << " at " << level;
      expect_both_witnesses(forced, race.name + (" at " + level));
    }
  }
}

TEST_F(ForcingTest, FindsThemPreventedEachTimeWhereTheLevelForbidsThem) {
  for (const Race& race : races()) {
    for (const std::string& level : race.prevented_at) {
      const Forced forced = force_one(at(race.spec, level));
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
