#include "synth/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/levels.h"

namespace isoscope {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string certificate(std::string_view a, std::string_view b) {
  Budget budget = Budget::seconds(60);
  return certify_implies(**LevelSet::built_in().find(a), **LevelSet::built_in().find(b), budget);
}

TEST(Certificate, SaysWhatIsClaimedAndWhatIsAssumed) {
  const std::string text = certificate("si", "pc");
  EXPECT_THAT(text, HasSubstr("; Every history that satisfies si@co satisfies pc@co.\n"));
  EXPECT_THAT(text, HasSubstr("; The witness of pc@co: the same orders.\n"));
  EXPECT_THAT(text, HasSubstr("; Assumed: true of every history.\n(assert "));
  EXPECT_THAT(text, HasSubstr("; Step 3 of 3: axiom Prefix of pc@co.\n(push 1)\n(assert "));
  EXPECT_THAT(text, Not(HasSubstr(":weight")));
}

TEST(Certificate, HasOnlyLemmasThatAStepRestsOn) {
  const std::string text = certificate("cc@co", "cc@vis");
  EXPECT_THAT(text, HasSubstr("the least visibility is in"));
  EXPECT_THAT(text, HasSubstr("; Hence:\n(assert "));
  EXPECT_THAT(certificate("ser", "si"), Not(HasSubstr("; Hence:")));
}

TEST(Certificate, IsTheSameEachTime) {
  EXPECT_EQ(certificate("psi", "cc@vis"), certificate("psi", "cc@vis"));
}

TEST(Certificate, IsNoneWhereAHistoryRefutes) {
  EXPECT_EQ(certificate("pc", "si"), "");
  EXPECT_EQ(certificate("cc", "pc"), "");
}

TEST(Certificate, IsNoneWhenTheTimeIsOver) {
  Budget spent = Budget::seconds(0);
  EXPECT_EQ(
      certify_implies(**LevelSet::built_in().find("si"), **LevelSet::built_in().find("pc"), spent),
      "");
}

}  // namespace
}  // namespace isoscope
