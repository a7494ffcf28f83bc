// Plans for commands, the steps of what clients send, and the judgement of recorded histories.
#include "force/command_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isoscope::force {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RequestStep statement(std::string shape) { return {.ends = false, .shape = std::move(shape)}; }
const RequestStep kEnd = {.ends = true};

TEST(CommandSteps, AreStatementsAndEndsOfTransactions) {
  EXPECT_THAT(steps_of("BEGIN", false), IsEmpty());
  EXPECT_THAT(steps_of("SELECT v FROM t WHERE id = 7", true),
              ElementsAre(statement("SELECT v FROM t WHERE id = ?")));
  EXPECT_THAT(steps_of("COMMIT", true), ElementsAre(kEnd));
  EXPECT_THAT(steps_of("ROLLBACK", true), ElementsAre(kEnd));
  EXPECT_THAT(steps_of("BEGIN; DELETE FROM t; COMMIT", false),
              ElementsAre(statement("DELETE FROM t"), kEnd));
}

TEST(CommandSteps, AStatementOutsideOfATransactionEndsByItself) {
  EXPECT_THAT(steps_of("DELETE FROM t", false), ElementsAre(statement("DELETE FROM t"), kEnd));
  EXPECT_THAT(steps_of("DELETE FROM t; DELETE FROM u", false),
              ElementsAre(statement("DELETE FROM t"), statement("DELETE FROM u"), kEnd));
  // What opens a block in the middle takes what came before into it.
  EXPECT_THAT(steps_of("DELETE FROM t; BEGIN; DELETE FROM u", false),
              ElementsAre(statement("DELETE FROM t"), statement("DELETE FROM u")));
}

TEST(CommandSteps, WhatDriversAskByThemselvesIsNone) {
  for (const char* sql :
       {"SET datestyle TO 'ISO'", "SELECT version()", "SELECT 1",
        "SELECT t.oid FROM pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = typnamespace"})
    EXPECT_THAT(steps_of(sql, false), IsEmpty()) << sql;
  EXPECT_EQ(steps_of("SELECT pg_advisory_lock(1)", false).size(), 2U);
  EXPECT_EQ(steps_of("SELECT withdraw(1, 60)", false).size(), 2U);
  // Inside of a transaction everything counts, as in the recorded run.
  EXPECT_EQ(steps_of("SET LOCAL lock_timeout = 5", true).size(), 1U);
}

constexpr const char* kPredicted =
    R"({"format":"isoscope-plan/1","level":"pg-rc","anomaly":"lost update","sessions":["s1","s1.2"],
        "steps":[["s1",1],["s1.2",1],["s1.2","commit"],["s1",2],["s1","commit"]],
        "statements":{"s1":["SELECT ?","UPDATE t SET v = ?"]}})";

TEST(CommandPlanFile, HasAnOrderOfStepsWithTheirShapes) {
  auto plan = read_command_plan(kPredicted, 1);
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  EXPECT_THAT(plan->sessions.entries(), ElementsAre("s1", "s1.2"));
  EXPECT_THAT(plan->steps_of_session({0}),
              ElementsAre(statement("SELECT ?"), statement("UPDATE t SET v = ?"), kEnd));
  // Without statements any will do.
  EXPECT_THAT(plan->steps_of_session({1}), ElementsAre(statement(""), kEnd));
  EXPECT_EQ(plan->steps.size(), 5U);
  EXPECT_EQ(plan->anomaly, "lost update");
}

TEST(CommandPlanFile, IsAlsoTheAnswerOfPredict) {
  const std::string answer = R"({"command":"predict","predictions":[{"plan":null},{"plan":)" +
                             std::string(kPredicted) + "}]}";
  auto second = read_command_plan(answer, 2);
  ASSERT_TRUE(second.ok()) << second.error().what;
  // What is written into a regression test is the plan alone.
  auto again = read_command_plan(second->text, 1);
  ASSERT_TRUE(again.ok()) << again.error().what;
  EXPECT_EQ(again->steps.size(), 5U);
  EXPECT_FALSE(read_command_plan(answer, 1).ok());
  EXPECT_THAT(read_command_plan(answer, 3).error().what, HasSubstr("no prediction 3"));
}

TEST(CommandPlanFile, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"[]", "no JSON object"},
      {R"({"format":"x"})", "format"},
      {R"({"format":"isoscope-plan/1"})", "no sessions"},
      {R"({"format":"isoscope-plan/1","sessions":["a","a"]})", "two sessions a"},
      {R"({"format":"isoscope-plan/1","sessions":["a"]})", "no steps"},
      {R"({"format":"isoscope-plan/1","sessions":["a"],"steps":[["b",1]]})", "which is none"},
      {R"({"format":"isoscope-plan/1","sessions":["a"],"steps":[["a",2]]})", "not its next one"},
      {R"({"format":"isoscope-plan/1","sessions":["a"],"steps":[7]})", "no pair"},
      {R"({"format":"isoscope-plan/1","sessions":["a"],"statements":7,"steps":[["a",1]]})",
       "statements is no object"}};
  for (const auto& [text, what] : wrong) {
    auto plan = read_command_plan(text, 1);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(plan.error().what, HasSubstr(what)) << text;
  }
}

constexpr const char* kHeader = R"({"format":"isoscope-history/1"})";
constexpr const char* kLost =
    R"({"session":"a","id":"T1","status":"committed","ops":[[["r","x",{"from":"T0"}]],[["w","x","1"]]]}
{"session":"b","id":"T2","status":"committed","ops":[[["r","x",{"from":"T0"}]],[["w","x","2"]]]})";
constexpr const char* kGap =
    R"({"session":"c","id":"T3","status":"committed","ops":[[]],"gaps":[{"stmt":1,"why":"a view"}],"stmts":[{"sql":"SELECT 1","at":1}]})";

RecordedRun judged(const std::string& lines, const std::string& fine = {}) {
  Budget budget;
  return judge_history(std::string(kHeader) + "\n" + lines + "\n",
                       fine.empty() ? fine : std::string(kHeader) + "\n" + fine + "\n", budget);
}

TEST(RecordedHistory, IsTheJudge) {
  EXPECT_EQ(judged(kLost).kind, RecordedRun::Kind::Unserializable);
  const std::string one = std::string(kLost).substr(0, std::string(kLost).find('\n'));
  EXPECT_EQ(judged(one).kind, RecordedRun::Kind::Serializable);
  // With a gap a violation stays one, and nothing else is said.
  EXPECT_EQ(judged(std::string(kLost) + "\n" + kGap).kind, RecordedRun::Kind::Unserializable);
  EXPECT_EQ(judged(one + "\n" + kGap).kind, RecordedRun::Kind::Unknown);
  EXPECT_THAT(judged(one + "\n" + kGap).why, HasSubstr("a view"));
}

TEST(RecordedHistory, AViolationMustStandWithoutCoarseReads) {
  const std::string without =
      R"({"session":"a","id":"T1","status":"committed","ops":[[["w","x","1"]]]}
{"session":"b","id":"T2","status":"committed","ops":[[["r","x",{"from":"T0"}]],[["w","x","2"]]]})";
  EXPECT_EQ(judged(kLost, without).kind, RecordedRun::Kind::Unknown);
  EXPECT_EQ(judged(kLost, kLost).kind, RecordedRun::Kind::Unserializable);
}

}  // namespace
}  // namespace isoscope::force
