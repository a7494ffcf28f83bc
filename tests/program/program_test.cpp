// What a parsed program tells about itself: outline, families, claims about the finished run.
#include "program/program.h"

#include <gmock/gmock.h>

#include <limits>

#include "program/run_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kBank = R"(init acct = 100
txn withdraw(amount) {
  b := read(acct)
  if (b < amount) { abort }
  write(acct, b - amount)
}
session alice { withdraw(60) }
session nobody { }
session bob {
  withdraw(60)
  { a := read(acct); assert(a >= 0) }                # an inline transaction
}
assert !(committed(alice[1])  &&  committed(bob[1]))   # about the finished run
)";

std::vector<std::string> names_of(const Program& program, std::span<const FamilyId> families) {
  std::vector<std::string> names;
  for (const FamilyId family : families) names.emplace_back(program.keys().name(family));
  return names;
}

TEST(Program, KnowsTheCallsThatAClaimNames) {
  const Program program = program_of(kBank);
  EXPECT_THAT(program.assertion(AssertionId{0}).calls, IsEmpty());  // inside a transaction
  EXPECT_THAT(program.assertion(AssertionId{1}).calls, ElementsAre(CallId{0}, CallId{1}));
}

TEST(Program, HasAnOutline) {
  const Program program = program_of(kBank);
  const Outline& outline = program.outline();
  ASSERT_EQ(outline.sessions.size(), 3U);
  EXPECT_EQ(outline.sessions[ProgramSession{1}].name, "nobody");
  EXPECT_EQ(outline.sessions[ProgramSession{1}].size, 0U);
  EXPECT_EQ(outline.sessions[ProgramSession{2}].first, CallId{1});
  EXPECT_EQ(outline.sessions[ProgramSession{2}].size, 2U);
  ASSERT_EQ(outline.calls.size(), 3U);
  EXPECT_EQ(outline.calls[CallId{1}].name, "withdraw(60)");
  EXPECT_EQ(outline.calls[CallId{2}].name, "txn");
  EXPECT_EQ(outline.calls[CallId{2}].session, ProgramSession{2});
  EXPECT_EQ(outline.calls[CallId{2}].number, 2U);
  EXPECT_EQ(outline.calls[CallId{2}].place, (Place{11, 3}));
}

TEST(Program, CompilesEqualCallsOnce) {
  const Program program = program_of(
      "txn f(a) { write(x[a], a) }\nsession s { f(1); f(2); f(2 - 1) }\nsession t { f(2) }");
  EXPECT_EQ(&program.code(CallId{0}), &program.code(CallId{2}));
  EXPECT_EQ(&program.code(CallId{1}), &program.code(CallId{3}));
  EXPECT_NE(&program.code(CallId{0}), &program.code(CallId{1}));
}

TEST(Program, RunsSerially) {
  const SerialRun run = run_serially(program_of(kBank));
  EXPECT_THAT(run.trace, ElementsAre("r(acct)=100", "w(acct)=40", "commit", "r(acct)=40", "abort",
                                     "r(acct)=40", "commit"));
  EXPECT_FALSE(run.failed);
}

TEST(Program, ChecksClaimsAboutTheFinishedRun) {
  const Program program = program_of(kBank);
  EXPECT_TRUE(program.has_assertions());
  const std::vector<std::int64_t> b = {100};
  const std::vector<std::int64_t> a = {40};
  std::vector<Ending> endings = {{true, b}, {false, b}, {true, a}};
  EXPECT_FALSE(program.failed_at_end(endings, {}));
  endings[1].committed = true;
  const auto failed = program.failed_at_end(endings, {});
  ASSERT_TRUE(failed);
  EXPECT_EQ(program.assertion(*failed).text, "!(committed(alice[1]) && committed(bob[1]))");
  EXPECT_EQ(program.assertion(*failed).place, (Place{13, 1}));
}

TEST(Program, HasSessionsByNumber) {
  const Program program = program_of(
      "init t[1..3, 5] = 7\ntxn f(i) { v := read(t[i, 5]); write(t[i, 5], v + i) }\n"
      "session w[2..3] { f(self) f(self * 10)\n  { a := self + 1; write(x[self], a) } }\n"
      "assert w3[3].a == 4 && w2[1].v == 7\n");
  ASSERT_EQ(program.outline().sessions.size(), 2U);
  EXPECT_EQ(program.outline().sessions[ProgramSession{1}].name, "w3");
  EXPECT_EQ(program.outline().calls[CallId{3}].name, "f(3)");
  EXPECT_EQ(program.outline().calls[CallId{4}].name, "f(30)");
  const SerialRun run = run_serially(program);
  EXPECT_THAT(run.trace, ElementsAre("r(t[2, 5])=7", "w(t[2, 5])=9", "commit", "r(t[20, 5])=0",
                                     "w(t[20, 5])=20", "commit", "w(x[2])=3", "commit",
                                     "r(t[3, 5])=7", "w(t[3, 5])=10", "commit", "r(t[30, 5])=0",
                                     "w(t[30, 5])=30", "commit", "w(x[3])=4", "commit"));
  EXPECT_FALSE(run.failed);
}

TEST(Program, GoesRoundWhileItMay) {
  EXPECT_THAT(run_of("while (a < 3) at most 9 { write(x, a); a := a + 1 }").trace,
              ElementsAre("w(x)=0", "w(x)=1", "w(x)=2", "commit"));
  EXPECT_THAT(run_of("n := 2\nwhile (1) at most n { write(x, n); n := 7 }\nwrite(y, n)").trace,
              ElementsAre("w(x)=2", "w(x)=7", "w(y)=7", "commit"));
  EXPECT_THAT(run_of("while (0) at most 5 { abort }\nwhile := 4\nwrite(x, while)").trace,
              ElementsAre("w(x)=4", "commit"));
}

TEST(Program, TellsAnOverflowInAClaimFromAFailure) {
  const Program program =
      program_of("session a { { v := read(x) } }\nassert a[1].v < 9\nassert a[1].v + 1 > 0\n");
  std::vector<std::int64_t> v = {8};
  const std::vector<Ending> endings = {{true, v}};
  EXPECT_FALSE(program.failed_at_end(endings, {}));
  EXPECT_FALSE(program.fault_at_end(endings, {}));
  v[0] = 9;
  EXPECT_TRUE(program.failed_at_end(endings, {}));
  EXPECT_FALSE(program.fault_at_end(endings, {}));
  v[0] = std::numeric_limits<std::int64_t>::max();  // fails the first, too
  EXPECT_TRUE(program.failed_at_end(endings, {}));
  ASSERT_TRUE(program.fault_at_end(endings, {}));
  EXPECT_EQ(program.fault_at_end(endings, {})->where, (Place{3, 15}));
}

TEST(Program, ComparesLocalsOfDifferentTransactions) {
  const std::string sessions =
      "session s { { a := read(x); write(x, 5) } { a := read(x) } }\nsession t { { b := 3 } }\n";
  const auto holds = [&](const std::string& claim) {
    return !run_serially(program_of(sessions + "assert " + claim)).failed;
  };
  EXPECT_TRUE(holds("s[1].a == 0 && s[2].a == 5 && t[1].b == 3"));
  EXPECT_TRUE(holds("s[2].a - s[1].a == t[1].b + 2 && s[2].a < 6 * committed(s[2])"));
  EXPECT_FALSE(holds("s[1].a"));
  EXPECT_FALSE(holds("s[2].a < t[1].b || s[1].a"));
  EXPECT_FALSE(holds("0"));
  EXPECT_TRUE(holds("1"));
  // An overflow is no proof that the claim holds.
  EXPECT_FALSE(holds("s[2].a + 9223372036854775807 > 0"));
}

TEST(Program, NumbersTheFirstClaimThatFails) {
  const Program program = program_of(
      "session s { { a := 1; assert(a == 1) } }\nassert s[1].a == 1\nassert s[1].a == 2\nassert 0");
  const SerialRun run = run_serially(program);
  ASSERT_TRUE(run.failed);
  EXPECT_EQ(program.assertion(*run.failed).text, "s[1].a == 2");
  EXPECT_FALSE(program_of("session s { { a := 1 } }").has_assertions());
}

TEST(Program, KnowsWhichFamiliesACallTouches) {
  const Program program = program_of(
      "txn f(k) { if (k == 1) { a := read(x); write(y[k], 1) } else { for i in 1..2 { \n"
      "b := read(z[i]) } write(x, b); write(z, b); write(x, 1) } abort\n write(never, 1) }\n"
      "session s { f(1); f(2); { } }");
  EXPECT_THAT(names_of(program, program.may_read(CallId{0})), ElementsAre("x"));
  EXPECT_THAT(names_of(program, program.may_write(CallId{0})), ElementsAre("y"));
  EXPECT_THAT(names_of(program, program.may_read(CallId{1})), ElementsAre("z"));
  EXPECT_THAT(names_of(program, program.may_write(CallId{1})), ElementsAre("x", "z"));
  EXPECT_THAT(program.may_read(CallId{2}), IsEmpty());
  EXPECT_THAT(program.may_write(CallId{2}), IsEmpty());
}

TEST(Program, MayBeEmpty) {
  const Program program = program_of("# nothing\n");
  EXPECT_TRUE(program.outline().calls.empty());
  EXPECT_FALSE(run_serially(program).failed);
}

TEST(Program, HasLimits) {
  std::string body;
  for (int i = 0; i < 70'000; ++i) body += "a" + std::to_string(i) + " := 1\n";
  const auto wide = parse_program("session s {\n  {\n" + body + "} }");
  ASSERT_FALSE(wide.ok());
  EXPECT_THAT(wide.error().what, ::testing::HasSubstr("more than 60000 locals"));
  EXPECT_EQ(wide.error().where, (Place{2, 3}));

  std::string text = "txn f(p) {\n";
  for (int i = 0; i < 3'000; ++i) text += "a := 1\n";
  text += "}\nsession s {\n";
  for (int i = 0; i < 3'000; ++i) text += "f(" + std::to_string(i) + ")\n";
  const auto huge = parse_program(text + "}");
  ASSERT_FALSE(huge.ok());
  EXPECT_THAT(huge.error().what, ::testing::HasSubstr("instructions"));
}

}  // namespace
}  // namespace isoscope
