#include "workload/program_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"

namespace isoscope {
namespace {

TEST(ProgramText, IndentsBlocks) {
  ProgramText text;
  text.open("txn t(c)");
  for (const char* line : {"if (c) {", "abort", "}", "write(x, c)"}) text.line(line);
  text.close();
  EXPECT_TRUE(text.is_outside());
  EXPECT_EQ(text.text(), "txn t(c) {\n  if (c) {\n    abort\n  }\n  write(x, c)\n}\n");
}

TEST(ProgramText, WritesSumsOfAnyLengthThatParse) {
  EXPECT_EQ(sum_of({}), "0");
  EXPECT_EQ(sum_of({"a"}), "a");
  EXPECT_EQ(sum_of({"a", "b"}), "(a + b)");
  for (const std::size_t n : {3, 500, 501, 4'000}) {
    ProgramText text;
    text.claim(sum_of(std::vector<std::string>(n, "committed(s[1])")), "==", std::to_string(n));
    const auto program = parse_program("session s { { a := 1 } }\n" + text.text());
    ASSERT_TRUE(program) << render(program.error());
    const std::int64_t a = 1;
    const Ending ending{.committed = true, .locals = {&a, 1}};
    EXPECT_FALSE(program->failed_at_end(std::span(&ending, 1), {})) << n;
  }
}

TEST(ProgramText, WritesTheLargestOfOneOrMore) {
  EXPECT_EQ(max_of({"a"}), "a");
  EXPECT_EQ(max_of({"a", "b"}), "max(a, b)");
}

}  // namespace
}  // namespace isoscope
