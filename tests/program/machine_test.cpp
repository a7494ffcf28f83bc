// Running, stopping, putting aside and putting back; loops.
#include "program/machine.h"

#include <gmock/gmock.h>

#include "program/run_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MachineLoop, IncludesBothEnds) {
  EXPECT_THAT(run_of("for i in 2..4 { write(x, i) }\nwrite(y, i)").trace,
              ElementsAre("w(x)=2", "w(x)=3", "w(x)=4", "w(y)=4", "commit"));
  EXPECT_THAT(run_of("for i in 3..3 { write(x, i) }").trace, ElementsAre("w(x)=3", "commit"));
}

TEST(MachineLoop, DoesNothingIfItsEndsAreCrossed) {
  EXPECT_THAT(run_of("i := 9\nfor i in 2..1 { write(x, i) }\nwrite(y, i)").trace,
              ElementsAre("w(y)=9", "commit"));
  EXPECT_THAT(run_of("i := 9; n := read(n)\nfor i in n + 1..n { write(x, i) }\nwrite(y, i)").trace,
              ElementsAre("r(n)=0", "w(y)=9", "commit"));
}

TEST(MachineLoop, EvaluatesItsEndsOnce) {
  EXPECT_THAT(run_of("n := read(n); n := 2\nfor i in 1..n { n := 5; write(x, i) }").trace,
              ElementsAre("r(n)=0", "w(x)=1", "w(x)=2", "commit"));
  EXPECT_THAT(run_of("i := 2\nfor i in i - 1..i { write(x, i) }").trace,
              ElementsAre("w(x)=1", "w(x)=2", "commit"));
}

TEST(MachineLoop, CountsWhateverItsBodyDoesToTheLocal) {
  EXPECT_THAT(run_of("for i in 1..3 { write(x, i); i := i + 10; write(y, i) }\nwrite(z, i)").trace,
              ElementsAre("w(x)=1", "w(y)=11", "w(x)=2", "w(y)=12", "w(x)=3", "w(y)=13", "w(z)=13",
                          "commit"));
  EXPECT_THAT(run_of("for i in 1..2 { i := read(k[i]) }").trace,
              ElementsAre("r(k[1])=0", "r(k[2])=0", "commit"));
}

TEST(MachineLoop, Nests) {
  EXPECT_THAT(run_of("n := read(n); n := 2\n"
                     "for i in 1..n { for j in i..n { write(k[i, j], 10 * i + j) } }")
                  .trace,
              ElementsAre("r(n)=0", "w(k[1, 1])=11", "w(k[1, 2])=12", "w(k[2, 2])=22", "commit"));
  EXPECT_THAT(run_of("for i in 1..2 { for i in 5..6 { write(x, i) } write(y, i) }").trace,
              ElementsAre("w(x)=5", "w(x)=6", "w(y)=6", "w(x)=5", "w(x)=6", "w(y)=6", "commit"));
}

TEST(MachineLoop, ReachesTheLargestNumber) {
  const SerialRun run = run_of(
      "n := 0\nfor i in 9223372036854775806..9223372036854775807 { n := n + 1 }\nwrite(x, n)");
  EXPECT_FALSE(run.fault);
  EXPECT_EQ(run.store.at("x"), 2);
}

TEST(MachineLoop, FaultsIfItDoesNotEnd) {
  EXPECT_FALSE(run_of("for i in 1..100000 { a := i }").fault);
  const SerialRun endless =
      run_of("a := 1\n  for i in -9223372036854775808..9223372036854775807 { a := i }");
  ASSERT_TRUE(endless.fault);
  EXPECT_THAT(endless.fault->what, HasSubstr("more than 100000 rounds"));
  EXPECT_EQ(endless.fault->where, (Place{3, 3}));
  EXPECT_TRUE(run_of("for i in 1..1000 { for j in 1..1000 { a := j } }").fault);
}

TEST(Machine, AnswersAReadDifferentlyAfterRestoring) {
  const Program program = program_of(
      "session s { { n := 0\n for i in 1..3 { v := read(k[i]); n := n * 10 + v }\n"
      "if (n > 200) { abort } write(sum, n) } { a := read(x) } }");
  Machine machine(program);
  const CallId call{0};
  const auto goes_on = [&](std::vector<std::int64_t> answers) {
    for (const std::int64_t answer : answers) {
      machine.answer(answer);
      const Stop stop = machine.run();
      if (stop.kind == StopKind::Abort) return std::string("abort");
      if (stop.kind == StopKind::Write) return std::to_string(stop.value);
    }
    return std::string("?");
  };
  machine.start(call);
  machine.run();
  machine.answer(1);
  const Stop second = machine.run();
  EXPECT_EQ(program.keys().name(second.key), "k[2]");
  const std::vector<std::int64_t> state(machine.state().begin(), machine.state().end());
  EXPECT_EQ(goes_on({2, 3}), "123");
  machine.restore(call, state);
  EXPECT_THAT(machine.state(), ::testing::ElementsAreArray(state));
  EXPECT_EQ(goes_on({9, 8}), "198");
  // Another machine, which has just run another call, goes on as well.
  Machine other(program);
  other.start(CallId{1});
  other.run();
  other.restore(call, state);
  other.answer(0);
  EXPECT_EQ(program.keys().name(other.run().key), "k[3]");
  machine.start(CallId{1});
  EXPECT_EQ(machine.run().kind, StopKind::Read);
  machine.restore(call, state);
  EXPECT_EQ(goes_on({99, 99}), "abort");
  EXPECT_EQ(machine.run().kind, StopKind::Abort);
}

TEST(Machine, ShowsLocalsFirstInItsState) {
  const Program program = program_of("txn f(p) { a := read(x); b := a * p }\nsession s { f(5) }");
  Machine machine(program);
  machine.start(CallId{0});
  EXPECT_EQ(machine.num_locals(), 2U);
  EXPECT_THAT(program.local_names(CallId{0}), ElementsAre("a", "b"));
  machine.run();
  machine.answer(3);
  EXPECT_EQ(machine.run().kind, StopKind::Commit);
  EXPECT_THAT(machine.state().first(2), ElementsAre(3, 15));
  machine.start(CallId{0});
  EXPECT_THAT(machine.state().first(2), ElementsAre(0, 0));
}

TEST(Machine, GoesOnAfterAFailedAssertionAndRemembersTheFirst) {
  const Program program = program_of(
      "session s { { assert(1); a := read(x); assert( a  ==\n 1 ) # one\n assert(a == 2); abort } "
      "}");
  Machine machine(program);
  machine.start(CallId{0});
  machine.run();
  EXPECT_FALSE(machine.failed_assertion());
  const std::vector<std::int64_t> state(machine.state().begin(), machine.state().end());
  machine.answer(0);
  EXPECT_EQ(machine.run().kind, StopKind::Abort);
  ASSERT_TRUE(machine.failed_assertion());
  const FailedAssertion failed = program.assertion(*machine.failed_assertion());
  EXPECT_EQ(failed.text, "a == 1");
  EXPECT_EQ(failed.place, (Place{1, 40}));
  machine.restore(CallId{0}, state);
  machine.answer(1);
  machine.run();
  ASSERT_TRUE(machine.failed_assertion());
  EXPECT_EQ(program.assertion(*machine.failed_assertion()).text, "a == 2");
}

TEST(Machine, ComputesKeys) {
  EXPECT_THAT(run_of("i := read(i)\nwrite(t[i], 1); write(t[i + 1, 2 * 3], 2); write(t, 3)\n"
                     "a := read(t[i]); b := read(t[0]); c := read(t[-i])")
                  .trace,
              ElementsAre("r(i)=0", "w(t[0])=1", "w(t[1, 6])=2", "w(t)=3", "r(t[0])=1", "r(t[0])=1",
                          "r(t[0])=1", "commit"));
}

}  // namespace
}  // namespace isoscope
