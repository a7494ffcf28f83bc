// What a transaction will surely do.
#include "program/outlook.h"

#include <gtest/gtest.h>

#include "program/program.h"
#include "program/random_program.h"
#include "support/rng.h"

namespace isoscope {
namespace {

// "commits x y", or "" if that is not sure, from the first read on.
std::string outlook_at_first_read(const std::string& body) {
  const Program program = *parse_program("session s { { " + body + " } }\n");
  const auto executor = program.executor();
  executor->start(CallId{0});
  while (executor->run().kind != StopKind::Read) {
  }
  KeyFinder finder(program.keys());
  const Outlook outlook = outlook_of(program.code(CallId{0}), executor->state(), finder);
  std::string text = outlook.commits ? "commits" : "";
  for (const ProgramKey key : outlook.writes) text += " " + program.keys().name(key);
  return text;
}

TEST(Outlooks, AreSureOfWhatEveryWayDoes) {
  EXPECT_EQ(outlook_at_first_read("a := read(x); write(x, a + 1)"), "commits x");
  EXPECT_EQ(outlook_at_first_read("a := read(x); b := read(y); write(y, b - a)"), "commits y");
  EXPECT_EQ(outlook_at_first_read("a := read(x); if (a > 3) { write(y, 1) } else { write(x, 2) }"),
            "commits");
  EXPECT_EQ(outlook_at_first_read("a := read(x); if (a > 3) { write(y, 1) }; write(x, 2)"),
            "commits x");
  EXPECT_EQ(outlook_at_first_read("a := read(x); if (a < 0) { abort }; write(x, 2)"), "");
  EXPECT_EQ(outlook_at_first_read("a := read(x); c := 1; if (c == 2) { abort }; write(x, 2)"),
            "commits x");
  EXPECT_EQ(outlook_at_first_read("a := read(x); for i in 1..2 { write(t[i], 1) }"),
            "commits t[1] t[2]");
  EXPECT_EQ(outlook_at_first_read("a := read(x); write(t[a], 1)"), "commits");
}

TEST(Outlooks, AreNotSureWhereSomethingMayOverflow) {
  EXPECT_EQ(outlook_at_first_read("a := read(x); b := a * a; write(x, 1)"), "commits x");
  EXPECT_EQ(outlook_at_first_read("a := read(x); b := a * a * a; write(x, 1)"), "");
  EXPECT_EQ(outlook_at_first_read("a := read(x); write(x, a * a)"), "commits x");
  EXPECT_EQ(outlook_at_first_read("a := read(x); write(y, a * a); b := read(y); c := b * 4"), "")
      << "it may read what it has written";
}

// Whatever small values are read, what is sure happens.
TEST(Outlooks, HoldOnRandomPrograms) {
  int num_sure = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const auto program = parse_program(RandomProgram(seed).text());
    if (!program) continue;
    SCOPED_TRACE(seed);
    KeyFinder finder(program->keys());
    Rng rng(seed);
    for (const CallId call : program->outline().calls.ids()) {
      const auto executor = program->executor();
      for (int round = 0; round < 8; ++round) {
        executor->start(call);
        std::vector<Outlook> sure;
        std::vector<ProgramKey> written;
        for (;;) {
          const Stop stop = executor->run();
          if (stop.kind == StopKind::Write) {
            written.push_back(stop.key);
            for (Outlook& each : sure) std::erase(each.writes, stop.key);
            continue;
          }
          if (stop.kind != StopKind::Read) {
            for (const Outlook& each : sure) {
              if (!each.commits) continue;
              ++num_sure;
              ASSERT_EQ(stop.kind, StopKind::Commit);
              ASSERT_TRUE(each.writes.empty());
            }
            break;
          }
          sure.push_back(outlook_of(program->code(call), executor->state(), finder));
          const std::int64_t values[] = {0, 1, -3, 7, kLargestSmall, -kLargestSmall};
          executor->answer(values[rng.below(std::size(values))]);
        }
      }
    }
  }
  EXPECT_GT(num_sure, 1'000);
}

}  // namespace
}  // namespace isoscope
