#include "force/spec_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "force/plan_file.h"

namespace isoscope::force {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSpec = R"(# a comment
setup { CREATE TABLE t (v int); }
setup
{
  INSERT INTO t VALUES (1);
}
teardown { DROP TABLE t; }
session s1
setup { BEGIN; }
step r1 { SELECT v FROM t; }
step "c 1" { COMMIT; }
session s2
step w2 { UPDATE t SET v = 2; }
teardown { SELECT 1; }
permutation r1 w2("c 1", r1 notices 2) "c 1"
permutation w2 (*) r1 "c 1"
)";

TEST(SpecFile, ReadsWhatIsolationtesterReads) {
  auto spec = read_spec(kSpec);
  ASSERT_TRUE(spec.ok()) << spec.error().what;
  EXPECT_EQ(spec->setups.size(), 2U);
  EXPECT_EQ(spec->setups[1], "INSERT INTO t VALUES (1);");
  EXPECT_EQ(spec->teardown, "DROP TABLE t;");
  ASSERT_EQ(spec->sessions.size(), 2U);
  EXPECT_EQ(spec->sessions[{0}].setup, "BEGIN;");
  EXPECT_EQ(spec->sessions[{0}].steps[{1}].name, "c 1");
  EXPECT_EQ(spec->sessions[{1}].teardown, "SELECT 1;");
  ASSERT_EQ(spec->permutations.size(), 2U);
  EXPECT_EQ(spec->permutations[0][1].session, ActorId{1});
  EXPECT_EQ(spec->permutations[0][1].markers, "\"c 1\", r1 notices 2");
}

TEST(SpecFile, WritesWhatItReads) {
  auto spec = read_spec(kSpec);
  ASSERT_TRUE(spec.ok());
  const std::string written = write_spec(*spec);
  auto again = read_spec(written);
  ASSERT_TRUE(again.ok()) << written;
  EXPECT_EQ(write_spec(*again), written);
  EXPECT_EQ(again->permutations, spec->permutations);
}

TEST(SpecFile, SaysWhereItIsWrong) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"session s1\nstep a { X", "2:8"},
      {"session s1\nstep a { X }\nstep a { Y }", "3:6"},
      {"session s1\nstep a { X }\npermutation a b", "3:15"},
      {"session s1\nstep a { X }\nstep b { Y }\npermutation b a", "4:13"},
      {"session s1\npermutation a", "2:1"},
      {"setup { X }", "1:12"},
      {"session s1\nstep a { X } nonsense", "2:14"},
      {"session s1\nstep \"a { X }", "2:6"},
      {"session s1\nstep a { X }\npermutation a(", "3:15"},
  };
  for (const auto& [text, place] : kWrong) {
    auto spec = read_spec(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_THAT(render(spec.error().in("f")), HasSubstr(std::string("f:") + place)) << text;
  }
}

TEST(SpecFile, CountsEveryOrderOnce) {
  auto spec = read_spec("session a step a1 {X} step a2 {X} session b step b1 {X} step b2 {X}");
  ASSERT_TRUE(spec.ok());
  bool is_complete = false;
  EXPECT_EQ(all_permutations(*spec, 100, is_complete).size(), 6U);
  EXPECT_TRUE(is_complete);
  EXPECT_EQ(all_permutations(*spec, 4, is_complete).size(), 4U);
  EXPECT_FALSE(is_complete);
}

TEST(PlanFile, IsASpecificationWithOneOrder) {
  auto plan = read_plan(R"({"format":"isoscope-plan/1","level":"serializable",
      "sessions":[{"name":"s1","statements":["SELECT 1"]},
                  {"name":"s2","transactions":[["SELECT 2"],["SELECT 3"]],"level":"read committed"}],
      "steps":[["s1",1],["s2",1],["s2","commit"],["s2",2],["s1","commit"],["s2","commit"]]})");
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  EXPECT_EQ(plan->sessions[{0}].steps[{0}].sql, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1");
  EXPECT_EQ(plan->sessions[{1}].steps[{2}].sql, "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT 3");
  EXPECT_EQ(plan->sessions[{1}].steps.size(), 4U);
  ASSERT_EQ(plan->permutations.size(), 1U);
  EXPECT_EQ(plan->permutations[0].size(), 6U);
}

TEST(PlanFile, RefusesWhatItDoesNotUnderstand) {
  const std::string head = R"({"format":"isoscope-plan/1",)";
  const std::pair<std::string, const char*> kWrong[] = {
      {"{", "no JSON object"},
      {R"({"format":"isoscope-plan/2"})", "format"},
      {head + R"("sessions":[]})", "no sessions"},
      {head + R"("speed":1,"sessions":[]})", "'speed'"},
      {head + R"("level":"x'; DROP TABLE t","sessions":[]})", "no isolation level"},
      {head + R"("sessions":[{"name":"a","statements":["X"]}],"steps":[["b",1]]})", "session b"},
      {head + R"("sessions":[{"name":"a","statements":["X"]}],"steps":[["a",2]]})", "not its next"},
      {head + R"("sessions":[{"name":"a","statements":["X"]}],"steps":[["a","commit"]]})",
       "not its next"},
      {head + R"("sessions":[{"name":"a","statements":["X"]}],"steps":[["a",1],["a",-2]]})",
       "not its next"},
  };
  for (const auto& [text, what] : kWrong) {
    auto plan = read_plan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(plan.error().what, HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace isoscope::force
