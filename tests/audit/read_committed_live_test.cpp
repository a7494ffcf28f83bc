// READ COMMITTED held against PostgreSQL: every anomaly that audit shows happens there, statement
// by statement, with the same results and rows; and no run there breaks what audit proves.
#include "audit_of.h"
#include "live_functions.h"
#include "read_committed_cases.h"

namespace isoscope::audit {
namespace {

class ReadCommittedLive : public LiveFunctions,
                          public testing::WithParamInterface<ReadCommittedCase> {};

TEST_P(ReadCommittedLive, AgreesWithTheServer) {
  const ReadCommittedCase& test = GetParam();
  const std::string text = test.schema + test.functions;
  const sql::Application app = app_of(text);
  Problem problem{app, {&pg_read_committed(), std::vector<const Level*>(app.functions.size())}};
  for (const std::string& name : test.repeatable)
    problem.levels.own[app.find_function(name)->index] = &pg_repeatable_read();
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 3, .prove = true}, budget);
  ASSERT_EQ(name_of(report.outcome), test.verdict) << report.limit;
  create(text, app);
  if (test.verdict == "anomaly") {
    expect_to_happen(problem, report.search.anomalies.front());
    return;
  }
  Rng random(1);
  const auto prepare = [&] {
    reset(app, {});
    if (!test.rows.empty()) admin_->run(test.rows);
  };
  for (std::size_t run = 0; run < num_runs(); ++run) {
    std::vector<Call> calls;
    std::string story;
    for (std::size_t c = 0; c < 3; ++c) {
      const sql::FunctionId f{static_cast<std::uint32_t>(random.below(app.functions.size()))};
      calls.push_back({app.function(f).name + "(" + (random.below(4) == 0 ? "2" : "1") + ")",
                       level_name(problem, f)});
      story += calls.back().text + " ";
    }
    prepare();
    run_randomly(calls, random);
    const std::string end = state(app);
    ASSERT_TRUE(has_serial_order(prepare, app, calls, end))
        << "run " << run << ": " << story << end;
  }
}

// What the pages show happens on the server: of each example the anomalies that two calls have (the
// first of them, where there are many).
class ReadCommittedExamples : public ReadCommittedLive {};

TEST_P(ReadCommittedExamples, HappenOnTheServer) {
  const auto text = read_whole(source_dir() + "/examples/audit/" + GetParam().name + ".sql");
  ASSERT_TRUE(text.ok());
  const sql::Application app = app_of(*text);
  const Problem problem{app, {&pg_read_committed(), {}}};
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 2, .all = true}, budget);
  ASSERT_EQ(name_of(report.outcome), "anomaly") << report.limit;
  const std::size_t count = std::min(report.search.anomalies.size(), 2 * num_runs());
  for (std::size_t i = 0; i < count; ++i) {
    const FoundAnomaly& anomaly = report.search.anomalies[i];
    create(*text, app);
    expect_to_happen(problem, anomaly);
    if (HasFatalFailure()) return;
  }
}

ReadCommittedCase example(const std::string& name) { return {name, {}, {}, {}, "anomaly"}; }

INSTANTIATE_TEST_SUITE_P(, ReadCommittedExamples,
                         testing::Values(example("bank"), example("shop"), example("on_call"),
                                         example("booking"), example("smallbank")),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(, ReadCommittedLive, testing::ValuesIn(read_committed_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace isoscope::audit
