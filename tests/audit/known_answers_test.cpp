// What the applications of the literature must answer.
#include <gmock/gmock.h>

#include "audit_of.h"

namespace isoscope::audit {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;
using Names = std::vector<std::string>;

const std::vector<std::string> kHybrid = {"add_course,add_course", "add_student,add_student",
                                          "enroll,rem_course", "enroll,rem_student"};

std::vector<std::string> with(std::vector<std::string> words, const std::string& word) {
  words.push_back(word);
  return words;
}

TEST(AuditBank, LosesUpdatesAtWeakLevels) {
  const sql::Application bank = corpus_app("bank");
  for (const char* level : {"ec", "cc", "pc"}) {
    SCOPED_TRACE(level);
    const Problem problem = problem_of(bank, level);
    const AuditReport report = audited(problem, {});
    ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
    const FoundAnomaly& anomaly = report.search.anomalies.front();
    EXPECT_EQ(anomaly.functions.size(), 2U);
    EXPECT_EQ(anomaly.name, Anomaly::LostUpdate);
    EXPECT_EQ(anomaly.replay.label, Label::Observable);
  }
}

TEST(AuditBank, IsSerializableWhereConflictsAreSeen) {
  const sql::Application bank = corpus_app("bank");
  for (const char* level : {"ua", "psi", "si", "ser"}) {
    SCOPED_TRACE(level);
    const Problem problem = problem_of(bank, level);
    EXPECT_EQ(audited(problem, {}).outcome, AuditOutcome::None);
    const AuditReport report = audited(problem, {.prove = true, .path = 4});
    EXPECT_EQ(report.outcome, AuditOutcome::Serializable);
    EXPECT_EQ(describe(bank, *report.proof), "withdraw by shortest path 4");
  }
}

TEST(AuditBank, HasAPathOfThreeWithoutAChord) {
  const sql::Application bank = corpus_app("bank");
  const Problem problem = problem_of(bank, "ua");
  const AuditReport report = audited(problem, {.prove = true, .path = 3});
  EXPECT_EQ(report.outcome, AuditOutcome::Unknown);
  EXPECT_EQ(report.proof->chordless.size(), 4U);
}

TEST(AuditCourseware, HasPathsWithoutChordsAtAnyLevel) {
  // The paper says that there is none of 8; this program has them of any length.
  const sql::Application app = corpus_app("courseware");
  const Problem problem = problem_of(app, "cc", with(kHybrid, "enroll=si"));
  const AuditReport report = audited(problem, {.max_length = 2, .prove = true, .path = 5});
  EXPECT_EQ(report.outcome, AuditOutcome::Unknown);
  EXPECT_EQ(report.proof->chordless.size(), 6U);
}

TEST(AuditCourseware, HasExactlyFivePairsAtEc) {
  const sql::Application app = corpus_app("courseware");
  const Problem problem = problem_of(app, "ec");
  const AuditReport report = audited(problem, {.max_length = 2, .all = true});
  EXPECT_THAT(functions_of(problem, report),
              UnorderedElementsAre(Names{"add_course", "add_course"},
                                   Names{"add_student", "add_student"}, Names{"enroll", "enroll"},
                                   Names{"enroll", "rem_course"}, Names{"enroll", "rem_student"}));
}

TEST(AuditCourseware, HasALongForkWithEnrollAtPsi) {
  const sql::Application app = corpus_app("courseware");
  const Problem problem = problem_of(app, "cc", with(kHybrid, "enroll=psi"));
  EXPECT_EQ(audited(problem, {.max_length = 3, .all = true}).outcome, AuditOutcome::None);
  const AuditReport report = audited(problem, {.all = true});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  ASSERT_THAT(functions_of(problem, report),
              ElementsAre(Names{"add_course", "add_student", "enroll", "enroll"}));
  EXPECT_EQ(report.search.anomalies.front().name, Anomaly::LongFork);
  EXPECT_EQ(report.search.anomalies.front().replay.label, Label::ViewOnly);
}

TEST(AuditCourseware, IsProvedWithEnrollAtSi) {
  const sql::Application app = corpus_app("courseware");
  const Problem problem = problem_of(app, "cc", with(kHybrid, "enroll=si"));
  const AuditReport bounded = audited(problem, {.max_length = 5});
  EXPECT_EQ(bounded.outcome, AuditOutcome::None);
  EXPECT_TRUE(bounded.search.is_proof());
  const AuditReport report = audited(problem, {.prove = true});
  ASSERT_EQ(report.outcome, AuditOutcome::Serializable);
  EXPECT_EQ(describe(app, *report.proof),
            "rem_course and rem_student by induction, then add_course and add_student; enroll by "
            "shortest path 3");
}

TEST(AuditTpcc, LosesUpdatesAtEc) {
  const sql::Application app = app_in("examples/audit/tpcc.sql");
  const Problem problem = problem_of(app, "ec");
  const AuditReport report = audited(problem, {.max_length = 2, .all = true});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_THAT(functions_of(problem, report),
              IsSupersetOf({Names{"new_order", "new_order"}, Names{"payment", "payment"}}));
  EXPECT_THAT(report.search.anomalies,
              Contains(testing::Field(&FoundAnomaly::name, Anomaly::LostUpdate)));
}

TEST(AuditTpcc, HasLongForksAtPsi) {
  const sql::Application app = app_in("examples/audit/tpcc.sql");
  const Problem problem = problem_of(app, "psi");
  EXPECT_EQ(audited(problem, {.max_length = 3, .all = true}).outcome, AuditOutcome::None);
  const AuditReport report = audited(problem, {.all = true});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_THAT(functions_of(problem, report),
              IsSupersetOf({Names{"new_order", "order_status", "order_status", "payment"},
                            Names{"new_order", "new_order", "stock_level", "stock_level"}}));
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    EXPECT_EQ(anomaly.functions.size(), 4U);
    EXPECT_FALSE(anomaly.replay.cycle.empty());
  }
}

TEST(AuditTpcc, IsProvedAtSi) {
  const sql::Application app = app_in("examples/audit/tpcc.sql");
  const Problem problem = problem_of(app, "si");
  const AuditReport report = audited(problem, {.prove = true});
  ASSERT_EQ(report.outcome, AuditOutcome::Serializable);
  EXPECT_EQ(describe(app, *report.proof),
            "new_order and payment by induction, then delivery; order_status and stock_level "
            "depend on nothing");
  EXPECT_EQ(audited(problem, {}).outcome, AuditOutcome::None);
}

TEST(AuditTpcc, HasAnAnomalyAtSiWithOneDeliveryOfAllDistricts) {
  const sql::Application app = corpus_app("tpcc_delivery10");
  const Problem problem = problem_of(app, "si");
  EXPECT_EQ(audited(problem, {.max_length = 3}).outcome, AuditOutcome::None);
  const AuditReport report = audited(problem, {});
  ASSERT_EQ(report.outcome, AuditOutcome::Anomaly);
  EXPECT_THAT(functions_of(problem, report),
              ElementsAre(Names{"delivery", "new_order", "new_order", "order_status"}));
  EXPECT_EQ(report.search.anomalies.front().replay.label, Label::ViewOnly);
}

TEST(AuditSmallbank, HasTheReadOnlyAnomalyAtSi) {
  const sql::Application app = app_in("examples/audit/smallbank.sql");
  const Problem problem = problem_of(app, "si");
  EXPECT_EQ(audited(problem, {.max_length = 2}).outcome, AuditOutcome::None);
  const AuditReport report = audited(problem, {.max_length = 3, .all = true});
  EXPECT_THAT(functions_of(problem, report),
              ElementsAre(Names{"balance", "transact_savings", "write_check"}));
  EXPECT_EQ(report.search.anomalies.front().name, Anomaly::ReadOnlyAnomaly);
}

}  // namespace
}  // namespace isoscope::audit
