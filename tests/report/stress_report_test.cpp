#include "report/stress_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

// A run of two clients, checked at a level.
class StressAnswer : public ::testing::Test {
 protected:
  StressReport at(const std::string& level) {
    run_.product = "PostgreSQL 15";
    run_.numbers = {.committed = 2, .aborts = {{"40001", 3}}, .seconds = 4};
    run_.history = history_of("s1: [r(x,0) w(y,1)]\ns2: [r(y,0) w(x,1)]");
    Budget budget;
    StressReport report{.run = run_,
                        .checked = {.h = *run_.history, .source = "REPEATABLE READ", .levels = {}}};
    report.checked.levels.push_back(
        {.level = level,
         .answer = check(*run_.history, **LevelSet::built_in().find(level), budget)});
    return report;
  }

  force::StressRun run_;
};

TEST_F(StressAnswer, IsThatOfCheckWithTheNumbersOfTheRun) {
  const StressReport report = at("ser");
  CheckJson of_one_history;
  of_one_history.add(report.checked);
  Json checked = Json::parse(of_one_history.text(report.checked.seconds));
  Json stressed = Json::parse(stress_json(report));
  EXPECT_EQ(stressed["command"], "stress");
  EXPECT_EQ(stressed["verdict"], "violated");
  EXPECT_EQ(stressed["server"], "PostgreSQL 15");
  EXPECT_EQ(stressed["throughput"], 0.5);
  EXPECT_EQ(stressed["aborts"]["40001"], 3);
  EXPECT_FALSE(stressed.contains("lost_commits"));
  for (const char* member : {"version", "verdict", "transactions", "events", "files", "levels"})
    EXPECT_EQ(stressed[member], checked[member]) << member;
  EXPECT_THAT(stress_text(report, Paint()),
              HasSubstr("PostgreSQL 15: 2 committed, 0 per second, 3 aborted by 40001\nser "));
  const Page page = stress_page(report);
  EXPECT_EQ(page.command, "stress");
  EXPECT_EQ(page.verdict, "violated");
  EXPECT_EQ(page.source, "PostgreSQL 15, REPEATABLE READ");
}

TEST_F(StressAnswer, IsViolatedByALostCommitWhateverTheLevel) {
  run_.lost = {"T7 wrote x = 5"};
  const StressReport report = at("si");
  ASSERT_EQ(overall(report.checked), Outcome::Consistent);
  EXPECT_EQ(header_of(report).outcome, Outcome::Violated);
  const Json json = Json::parse(stress_json(report));
  EXPECT_EQ(json["verdict"], "violated");
  EXPECT_EQ(json["levels"][0]["verdict"], "consistent");
  EXPECT_EQ(json["lost_commits"][0], "T7 wrote x = 5");
  EXPECT_THAT(stress_text(report, Paint()), HasSubstr("\nlost: T7 wrote x = 5\nsi "));
  const Page page = stress_page(report);
  EXPECT_EQ(page.verdict, "violated");
  EXPECT_FALSE(page.is_good);
  EXPECT_THAT(page.sentence, HasSubstr("are lost"));
  const Findings findings = stress_findings(report);
  EXPECT_EQ(findings.command, "stress");
  EXPECT_EQ(findings.cases.back().name, "commits are kept");
}

}  // namespace
}  // namespace isoscope
