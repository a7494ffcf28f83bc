// What audit says of small programs at READ COMMITTED; read_committed_live_test.cpp holds the same
// against a server.
#include "audit/server_levels.h"
#include "audit_of.h"
#include "read_committed_cases.h"

namespace isoscope::audit {
namespace {

class AuditReadCommitted : public testing::TestWithParam<ReadCommittedCase> {};

TEST_P(AuditReadCommitted, HasTheVerdict) {
  const ReadCommittedCase& test = GetParam();
  const sql::Application app = app_of(test.schema + test.functions);
  Problem problem{app, {&pg_read_committed(), std::vector<const Level*>(app.functions.size())}};
  for (const std::string& name : test.repeatable)
    problem.levels.own[app.find_function(name)->index] = &pg_repeatable_read();
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 3, .prove = true}, budget);
  EXPECT_EQ(name_of(report.outcome), test.verdict) << report.limit;
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    EXPECT_FALSE(anomaly.replay.schedule.empty());
    for (const ReplayEdge& edge : anomaly.replay.cycle) {
      EXPECT_GT(edge.from_place.line, 0U);
      EXPECT_GT(edge.to_place.line, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, AuditReadCommitted, testing::ValuesIn(read_committed_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace isoscope::audit
