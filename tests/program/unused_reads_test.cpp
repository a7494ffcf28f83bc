// Reads whose values nobody looks at are passed over, and no others.
#include "program/unused_reads.h"

#include <gtest/gtest.h>

#include "support/program_of.h"

namespace isoscope {
namespace {

// The keys that the first call of the program reads, if all reads see 0.
std::string reads_of(const std::string& text) {
  const Program program =
      program_of(text + "session w { { write(x, 1); write(y, 1); write(t[1], 1) } }\n");
  std::atomic<bool> has_passed{false};
  const auto executor = executor_without_unused_reads(program, has_passed);
  executor->start(CallId{0});
  std::string keys;
  for (;;) {
    const Stop stop = executor->run();
    if (stop.kind == StopKind::Read) {
      keys += (keys.empty() ? "" : " ") + program.keys().name(stop.key);
      executor->answer(0);
    } else if (stop.kind != StopKind::Write) {
      return keys;
    }
  }
}

TEST(UnusedReads, AreThoseThatNobodyLooksAt) {
  const auto in_txn = [](const std::string& body) { return "session s { { " + body + " } }\n"; };
  EXPECT_EQ(reads_of(in_txn("a := read(x)")), "");
  EXPECT_EQ(reads_of(in_txn("a := read(x)") + "assert s[1].a == 0\n"), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); assert(a == 0)")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); write(y, a)")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); write(y[a], 1)")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); b := read(y[a])")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); lock(y[a])")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); if (a > 0) { write(y, 1) }")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); a := read(y); write(z, a)")), "y");
  EXPECT_EQ(reads_of(in_txn("a := read(x); b := a; a := 1")), "x") << "a copy counts as a use";
  EXPECT_EQ(reads_of(in_txn("a := read(x); a := a + 1")), "x");
  EXPECT_EQ(reads_of(in_txn("a := read(x); abort")), "");
}

TEST(UnusedReads, OfAScanAreAllRowsButOne) {
  EXPECT_EQ(reads_of("txn f(c) {\n"
                     "  for i in 1..4 { cell := read(t[i]); if (i == c) { found := cell } }\n"
                     "  write(x, found)\n"
                     "}\nsession s { f(3) }\n"),
            "t[3]");
}

TEST(UnusedReads, AndThoseOfKeysThatNobodyWritesAreNoEvents) {
  EXPECT_EQ(
      reads_of("init n[1] = 2\nsession s { { a := read(n[1]); b := read(x); write(t[a], b) } }\n"),
      "x");
}

// What is read later is not known beforehand.
TEST(UnusedReads, CountWhereABranchDependsOnALaterRead) {
  EXPECT_EQ(reads_of("session s { { a := read(x); b := read(y)\n"
                     "  if (b == 0) { a := 1 }\n  write(z, a) } }\n"),
            "x y");
}

}  // namespace
}  // namespace isoscope
