// The case studies of [Isolde-2026], section 3, which examples/synth/README.md shows: the answers
// are what the paper found, or more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_isoscope.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kExamples = source_dir() + "/examples/";
const std::string kPlume = " --spec " + kExamples + "synth/plume.level ";

// As the paper's tool searches.
const std::string kAsIsolde = " --no-blind-writes --sessions partial-order ";

json answer_of(const std::string& arguments) {
  const Ran ran = run_isoscope(arguments + " --json");
  EXPECT_EQ(ran.err, "") << arguments;
  return json::parse(ran.out, nullptr, false);
}

void expect_equivalent(const std::string& levels) {
  const json answer = answer_of("compare " + levels);
  EXPECT_EQ(answer["verdict"], "equivalent") << levels;
  EXPECT_EQ(answer["forward"]["proved"], "all-histories") << levels;
  EXPECT_EQ(answer["backward"]["proved"], "all-histories") << levels;
  EXPECT_EQ(answer["forward"]["vacuous"], false) << levels;
}

TEST(CaseStudies, FindTheReadOnlyAnomaly) {
  const json found = answer_of("synth --allow si --allow update-ser --forbid ser" + kAsIsolde);
  EXPECT_EQ(found["verdict"], "found");
  EXPECT_EQ(found["scope"]["txns"], 3);
  EXPECT_EQ(found["scope"]["keys"], 2);
  EXPECT_EQ(found["scope"]["values"], 2);
  EXPECT_THAT(found["histories"][0]["refutations"][0]["explanation"],
              HasSubstr("read-only anomaly"));
  // The two witnesses order the updates differently: that is why both levels are needed.
  EXPECT_NE(found["witnesses"][0][0]["witness"]["co"], found["witnesses"][0][1]["witness"]["co"]);
  EXPECT_EQ(answer_of("synth --allow si --allow update-ser --forbid ser --irreducible" +
                      kAsIsolde)["histories"]
                .size(),
            2U);
}

TEST(CaseStudies, FindWhatPlumesReadAtomicityMisses) {
  const json found =
      answer_of("synth" + kPlume + "--allow tap-ra --forbid ra --irreducible" + kAsIsolde);
  EXPECT_EQ(found["scope"]["txns"], 2);
  ASSERT_EQ(found["histories"].size(), 1U);
  EXPECT_EQ(found["histories"][0]["hist"], "s1: [r(x,0) w(x,1)]  [r(x,0)]\n");
  const json relation = answer_of("compare" + kPlume + "tap-ra ra");
  EXPECT_EQ(relation["verdict"], "weaker");
  EXPECT_EQ(relation["backward"]["proved"], "all-histories");
  EXPECT_EQ(answer_of("compare" + kPlume + "tap-ra ra@vis")["verdict"], "weaker");
}

TEST(CaseStudies, ProveTheRepairedReadAtomicity) {
  expect_equivalent(kPlume + "tap-ra-repaired ra");
  expect_equivalent(kPlume + "tap-ra-repaired ra@vis");
}

TEST(CaseStudies, FindPlumesCausalConsistencyEquivalent) {
  const std::string scope = "--no-proof --txns 8 --keys 8 --values 8";
  const json bounded = answer_of("compare" + kPlume + "tap-cc cc " + scope + kAsIsolde);
  EXPECT_EQ(bounded["verdict"], "unknown");
  EXPECT_EQ(bounded["bounded"], "equivalent");
  EXPECT_EQ(bounded["forward"]["proved"], "scope");
  EXPECT_EQ(bounded["forward"]["txns"], 8);
  expect_equivalent(kPlume + "tap-cc cc");
}

TEST(CaseStudies, DefineTheSameLevelsAsTheBuiltInOnes) {
  expect_equivalent(kPlume + "tap-ra plume-ra");
  expect_equivalent(kPlume + "tap-cc plume-cc");
}

TEST(CaseStudies, ProveTheFrameworksEquivalent) {
  for (const std::string name : {"ra", "cc", "pc", "si", "ser"})
    expect_equivalent(name + "@co " + name + "@vis");
}

TEST(CaseStudies, SeparateUpdateAtomicFromNoLostUpdate) {
  EXPECT_EQ(answer_of("synth --allow ua --forbid nlu --txns 10 --ops 5")["verdict"], "none");
  const json relation = answer_of("compare ua nlu" + kAsIsolde);
  EXPECT_EQ(relation["verdict"], "stronger");
  EXPECT_EQ(relation["forward"]["proved"], "all-histories");
  const std::string history = relation["backward"]["history"];
  EXPECT_EQ(run_isoscope("check - --level nlu", history).exit_code, 0);
  EXPECT_EQ(run_isoscope("check - --level ua", history).exit_code, 1);
}

// docs/lattice.svg was drawn from an answer of the program; it is still the answer.
TEST(Lattice, IsTheOneInTheDocumentation) {
  const json answer = answer_of(
      "compare --matrix true rc ra@co ra@vis cc@co cc@vis pc@co pc@vis ua psi si@co si@vis ser@co "
      "ser@vis update-ser@co update-ser@vis nlu plume-ra plume-cc ec");
  std::map<std::string, int> expected;
  for (const json& edge : answer["lattice"]) {
    EXPECT_EQ(edge["proved"], true) << edge;
    ++expected[edge["anomaly"]];
  }
  ASSERT_GE(expected.size(), 8U);
  const std::string picture = slurp(source_dir() + "/docs/lattice.svg");
  const auto occurrences = [&](const std::string& what) {
    int count = 0;
    for (std::size_t at = 0; (at = picture.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(occurrences("class=\"edge lattice\""), static_cast<int>(answer["lattice"].size()));
  for (const auto& [anomaly, edges] : expected)
    EXPECT_EQ(occurrences(">" + anomaly + "<"), edges) << anomaly;
}

}  // namespace
}  // namespace isoscope
