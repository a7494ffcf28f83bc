// The convention of tests/regress: what is understood, and that nothing is passed over.
#include "regress/regress_case.h"

#include <gmock/gmock.h>

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RegressCase, ReadsRunsAndExpectationsFromComments) {
  const auto found = read_regress_case(
      "# A prose line: it may have colons.\n"
      "# expect  si: consistent  ser: violated\n"
      "# run: isoscope check FILE --level ser\n"
      "# exit: 1\n"
      "# says: write skew\n"
      "# says:   T1  \n"
      "# says not: lost update\n"
      "# within: 7 s\n"
      "\n"
      "# More prose.\n"
      "# run: isoscope check FILE --level rc\n"
      "# exit: 0\n"
      "s1: [r(x,0)]\n",
      Lines::OfAFile);
  ASSERT_TRUE(found.ok()) << render(found.error());
  ASSERT_EQ(found->expected.size(), 2U);
  EXPECT_EQ(found->expected[1].level, "ser");
  EXPECT_EQ(found->expected[1].verdict, "violated");
  ASSERT_EQ(found->runs.size(), 2U);
  EXPECT_EQ(found->runs[0].command, "isoscope check FILE --level ser");
  EXPECT_EQ(found->runs[0].exit_code, 1);
  EXPECT_THAT(found->runs[0].says, ElementsAre("write skew", "T1"));
  EXPECT_THAT(found->runs[0].says_not, ElementsAre("lost update"));
  EXPECT_EQ(found->runs[0].seconds, 7);
  EXPECT_EQ(found->runs[1].exit_code, 0);
  EXPECT_EQ(found->runs[1].seconds, 60);
}

TEST(RegressCase, KnowsTheCommentsOfEveryInput) {
  for (const std::string_view marker : {"#", "##", "--", ";", ";;", "//"}) {
    const std::string text = fmt::format("{0} run: isoscope levels\n{0} exit: 0\n", marker);
    EXPECT_TRUE(read_regress_case(text, Lines::OfAFile).ok()) << text;
  }
  const std::string bare = "run: isoscope levels\nexit: 0\n";
  EXPECT_FALSE(read_regress_case(bare, Lines::OfAFile).ok());
  EXPECT_TRUE(read_regress_case(bare, Lines::OfACaseFile).ok());
}

std::string refusal_of(std::string_view text) {
  const auto found = read_regress_case(text, Lines::OfAFile);
  return found.ok() ? "understood" : render(found.error());
}

TEST(RegressCase, RefusesWhatWouldPromiseLessThanItSays) {
  EXPECT_THAT(refusal_of("s1: [r(x,0)]\n"), HasSubstr("promises nothing"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n"),
              HasSubstr("1:1: error: this run has no exit"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n# exit: 0\n# say: rc\n"),
              HasSubstr("3:1: error: 'say: rc' says nothing about the run"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n# exit: one\n"), HasSubstr("says nothing"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n# exit: 0\n# exit: 1\n"),
              HasSubstr("3:1: error"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n# exit: 0\n# within: 5\n"),
              HasSubstr("says nothing"));
  EXPECT_THAT(refusal_of("# run: isoscope levels\n# exit: 0\n\n# says: rc\n"),
              HasSubstr("4:1: error: 'says:' without a run"));
  EXPECT_THAT(refusal_of("# run:\n# exit: 0\n"), HasSubstr("'exit:' without a run"));
  EXPECT_THAT(refusal_of("# expect si: maybe\n"), HasSubstr("'maybe' is no verdict"));
}

TEST(RegressCase, PutsValuesOnlyInPlaceOfWholeWords) {
  EXPECT_EQ(with_word("isoscope check FILE -o TEMP/FILE.dot", "FILE", "a.hist"),
            "isoscope check a.hist -o TEMP/a.hist.dot");
  EXPECT_EQ(with_word("PROFILE FILES FILE_2 no-FILE FILE", "FILE", "x"),
            "PROFILE FILES FILE_2 no-FILE x");
}

}  // namespace
}  // namespace isoscope
