// A workload is a text: what it says becomes a program, and mistakes in it have a place.
#include "workload/workload_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/input.h"
#include "support/paths.h"
#include "workload/run_interleaved.h"

namespace isoscope {
namespace {

using testing::HasSubstr;

// The example of docs/workloads.md.
std::string tally() {
  const auto page = read_whole(source_dir() + "/docs/workloads.md");
  EXPECT_TRUE(page.ok());
  const std::size_t begin = page->find("workload tally");
  return page->substr(begin, page->find("```", begin) - begin);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

Result<std::string> generated(const std::string& text, const WorkloadPlan& plan = {}) {
  const auto file = parse_workload(text);
  if (!file) return file.error();
  return generate_program(*file, plan);
}

std::string error_of(const std::string& text) {
  const auto program = generated(text);
  return program ? std::string("none") : render(program.error());
}

TEST(WorkloadFile, BecomesAProgram) {
  const auto text = generated(tally(), {.sessions = 2, .txns = 3});
  ASSERT_TRUE(text) << render(text.error());
  EXPECT_THAT(*text, HasSubstr("init sum[1] = 10\n"));
  EXPECT_THAT(*text, HasSubstr("txn add(b, n) {\n  s := read(sum[b])\n  s := s + n\n"));
  EXPECT_THAT(*text, HasSubstr("assert (max(10, committed(s1["));
  const auto program = parse_program(*text);
  ASSERT_TRUE(program) << render(program.error().quoting(*text));
  bool fails = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(run_interleaved(*program, seed, Snapshots::Latest).failed, "");
    fails |= !run_interleaved(*program, seed, Snapshots::Stale).failed.empty();
  }
  EXPECT_TRUE(fails);
}

TEST(WorkloadFile, LeavesOutClaimsAboutNoCall) {
  const auto text = generated(replaced(tally(), "mix add 3, look 1", "mix look 1"));
  ASSERT_TRUE(text) << render(text.error());
  EXPECT_THAT(*text, HasSubstr("look(1)"));
  EXPECT_THAT(*text, testing::Not(HasSubstr("assert")));
  EXPECT_THAT(*text, testing::Not(HasSubstr("# What is added")));
}

TEST(WorkloadFile, SaysWhereAMistakeIs) {
  const std::string text = tally();
  const auto with = [&](std::string_view what, std::string_view by) {
    return error_of(replaced(text, what, by));
  };
  EXPECT_THAT(with("access point", "access slow"), HasSubstr("2:"));
  EXPECT_THAT(with("access point", "access slow"), HasSubstr("unknown access 'slow'"));
  EXPECT_THAT(with("clerks = 2 in", "clerks = 2 of"), HasSubstr("3:"));
  EXPECT_THAT(with("book[b]", "book[b in 1..pages]"), HasSubstr("there is no size 'pages'"));
  EXPECT_THAT(with("rows {", "lines {"), HasSubstr("there is no block 'lines'"));
  EXPECT_THAT(with("of add())\n}", "of add())\n"), HasSubstr("29:1: error: 'claims' does not end"));
  EXPECT_THAT(with("write(sum[1], 10)", "write(sum[1] 10)"), HasSubstr("7: error: expected"));
  EXPECT_THAT(with("read(between[1, 9])", "read(dice[9])"), HasSubstr("dice[9] has no value here"));
  EXPECT_THAT(with("  n := read(between[1, 9])\n", ""), HasSubstr("calls give no 'n' to add"));
  EXPECT_THAT(with("from book[b]", "from books[b]"), HasSubstr("19:1: error: there is no table"));
  EXPECT_THAT(with("s = sum", "s = total"), HasSubstr("table book has no column 'total'"));
  EXPECT_THAT(with("mix add 3", "mix sub 3"), HasSubstr("there is no transaction 'sub'"));
  EXPECT_THAT(with("% start := read(sum[1])", "% use begin()"),
              HasSubstr("30:1: error: there is no part 'begin'"));
  EXPECT_THAT(with("of add()) ==", "of add(c = 1)) =="), HasSubstr("add has no parameter 'c'"));
  EXPECT_THAT(with("max($start", "max($begin"), HasSubstr("'$begin' has no value here"));
  EXPECT_THAT(with("== sum(", "!= sum("), HasSubstr("compares two sides"));
}

TEST(WorkloadFile, ScansOnlyTablesThatDoNotGrow) {
  const auto text = generated(tally(), {.access = RowAccess::Scan});
  ASSERT_FALSE(text);
  EXPECT_THAT(render(text.error()), HasSubstr("book grows, so it cannot be scanned"));
}

}  // namespace
}  // namespace isoscope
