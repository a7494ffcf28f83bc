// What names mean, and the errors of names that mean nothing.
#include <gmock/gmock.h>

#include "program/run_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error error_of(const std::string& text) {
  const auto program = parse_program(text);
  if (!program) return program.error();
  ADD_FAILURE() << "is accepted: " << text;
  return {};
}

void expect_error(const std::string& text, Place where, const std::string& what,
                  const std::string& hint) {
  SCOPED_TRACE(text);
  const Error error = error_of(text);
  EXPECT_EQ(error.where, where) << error.where.line << ":" << error.where.column;
  EXPECT_THAT(error.what, HasSubstr(what));
  EXPECT_THAT(error.hint, HasSubstr(hint));
}

TEST(ProgramNames, MustBeKnown) {
  expect_error("txn f(amount) { a := amont }", {1, 22}, "unknown name 'amont'",
               "did you mean 'amount'?");
  expect_error("txn f() { write(x, 1 + y) }", {1, 24}, "unknown name 'y'", "has no locals");
  expect_error("init acct = 1\ntxn f() { if (acct > 0) { abort } }", {2, 15},
               "'acct' is a key: use read(acct)", "v := read(acct)");
  expect_error("txn f() { a := read(t[b]) }", {1, 23}, "unknown name 'b'", "a");
  expect_error("txn f() { for i in 1..n { } }", {1, 23}, "unknown name 'n'", "i");
  expect_error("txn f() { if (1) { } else if (q) { } }", {1, 31}, "unknown name 'q'", "");
  expect_error("txn f() { for i in 1..2 { assert(z) } }", {1, 34}, "unknown name 'z'", "");
}

TEST(ProgramNames, AreUniqueWhereTheyMustBe) {
  expect_error("txn f() { }\ntxn f(a) { }", {2, 5}, "transaction 'f' is there already", "at 1:5");
  expect_error("session s { }\nsession s { }", {2, 9}, "session 's' is there already", "at 1:9");
  expect_error("init x[1] = 1\ninit x[2 - 1] = 1", {2, 6}, "key x[1] has an initial value",
               "at 1:6");
  expect_error("txn f(a, b, a) { }", {1, 13}, "two parameters are called 'a'", "");
}

TEST(ProgramNames, OfCallsMustFit) {
  expect_error("txn deposit() { }\nsession s { depsit() }", {2, 13}, "unknown transaction 'depsit'",
               "did you mean 'deposit'?");
  expect_error("session s { f() }", {1, 13}, "unknown transaction 'f'", "define it");
  expect_error("txn f(a, b) { }\nsession s { f(1) }", {2, 13}, "'f' takes 2 arguments, not 1",
               "f(a, b)");
  expect_error("txn f() { }\nsession s { f(1) }", {2, 13}, "'f' takes 0 arguments, not 1", "f()");
  expect_error("txn f(a) { }\nsession s { f(9223372036854775807 + 1) }", {2, 35},
               "this constant overflows", "64 bits");
}

TEST(ProgramNames, OfFinalClaimsMustFit) {
  const std::string sessions = "txn f(p) { a := 1 }\nsession alice { f(7) }\nsession bob { }\n";
  expect_error(sessions + "assert alise[1].a", {4, 8}, "unknown session 'alise'",
               "did you mean 'alice'?");
  expect_error(sessions + "assert alice[2].a", {4, 14}, "'alice' has no transaction 2",
               "from 1 to 1");
  expect_error(sessions + "assert alice[0].a", {4, 14}, "'alice' has no transaction 0", "from 1");
  expect_error(sessions + "assert committed(bob[1])", {4, 22}, "'bob' has no transaction 1",
               "none");
  expect_error(sessions + "assert alice[1].b", {4, 17}, "alice[1] has no local 'b'", "a");
  expect_error(sessions + "assert a == 1", {4, 8}, "'a' alone says nothing", "alice[1].b");
  expect_error(sessions + "assert alice[1] == 1", {4, 17}, "expected '.' and a local",
               "alice[1].b");
  EXPECT_FALSE(run_serially(program_of(sessions + "assert alice[1].p == 7")).failed);
  EXPECT_TRUE(run_serially(program_of(sessions + "assert alice[1].p == 8")).failed);
}

TEST(ProgramNames, MayBeSharedByALocalAndAKey) {
  const SerialRun run = run_of("x := read(x)\nx := x + 1\nwrite(x, x)\ny := read(x)\nwrite(z, y)");
  EXPECT_THAT(run.trace, ElementsAre("r(x)=0", "w(x)=1", "r(x)=1", "w(z)=1", "commit"));
}

TEST(ProgramNames, OfParametersThatAreAssignedAreLocals) {
  const Program program =
      program_of("txn f(n, by) { n := n + by; write(x, n) }\nsession s { f(3, 4); f(0, 0) }");
  EXPECT_THAT(program.local_names(CallId{0}), ElementsAre("n"));
  const SerialRun run = run_serially(program);
  EXPECT_THAT(run.trace, ElementsAre("w(x)=7", "commit", "w(x)=0", "commit"));
}

TEST(ProgramNames, OfTransactionsMayBeUsedBeforeTheirDefinition) {
  const Program program =
      program_of("assert s[1].a == 2\nsession s { f(1 + 1) }\ntxn f(b) { a := b }");
  EXPECT_FALSE(run_serially(program).failed);
  EXPECT_EQ(program.outline().calls[CallId{0}].name, "f(2)");
}

}  // namespace
}  // namespace isoscope
