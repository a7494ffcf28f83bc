// READ COMMITTED held against PostgreSQL: every anomaly that audit shows happens there, statement
// by statement, with the same results and rows; and no run there breaks what audit proves.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "audit/server_levels.h"
#include "audit_of.h"
#include "read_committed_cases.h"
#include "stepped_server.h"
#include "support/postgres_server.h"

namespace isoscope::audit {
namespace {

class ReadCommittedLive : public testing::TestWithParam<ReadCommittedCase> {
 protected:
  static void SetUpTestSuite() {
    server_ = PostgresServer::start(why_not_, {.settings = {"deadlock_timeout=20ms"}});
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << why_not_;
    admin_ = std::make_unique<GatedSession>(server_->dsn());
    admin_->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  }
  void create(const std::string& text, const sql::Application& app) {
    admin_->run(SteppedCalls::kGate);
    admin_->run(with_gates(text, app));
    ASSERT_FALSE(admin_->failed()) << with_gates(text, app);
  }
  static std::string level_name(const Problem& problem, std::uint32_t function) {
    const Level& level = problem.levels.of(function);
    if (&level == &pg_read_committed()) return "READ COMMITTED";
    return &level == &pg_serializable() ? "SERIALIZABLE" : "REPEATABLE READ";
  }
  static std::string text_of(const sql::Value& value) {
    if (value.is_null()) return "";
    if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "t" : "f";
    std::string text = sql::print(value);
    if (text.size() > 1 && text.front() == '\'') text = text.substr(1, text.size() - 2);
    return text;
  }

  // Plays the schedule of an anomaly.
  void expect_to_happen(const Problem& problem, const FoundAnomaly& anomaly) {
    const Scenario& scenario = anomaly.scenario;
    const Replay& replay = anomaly.replay;
    for (const sql::Table& table : problem.app.tables)
      admin_->run("TRUNCATE " + table.name + " CASCADE");
    for (const sql::InitialRow& row : scenario.rows) {
      std::string values;
      for (const sql::Value& value : row.values)
        values += (values.empty() ? "" : ", ") + (value.is_null() ? "NULL" : sql::print(value));
      admin_->run("SET session_replication_role = replica; INSERT INTO " +
                  problem.app.table(row.table).name + " VALUES (" + values + ")");
      ASSERT_FALSE(admin_->failed()) << values;
    }
    SteppedCalls calls(server_->dsn(), scenario.calls.size());
    for (const ScheduleStep& step : replay.schedule) {
      const std::string text = print(problem.app, scenario.calls[step.call]);
      if (!calls.is_started(step.call))
        calls.start(step.call, level_name(problem, scenario.calls[step.call].function), text);
      const auto state = calls.settle(step.call);
      if (step.moment) {
        if (state != SteppedCalls::State::AtGate) continue;  // shares the gate of the one before
        calls.step(step.call);
        calls.settle(step.call);
        continue;
      }
      ASSERT_EQ(state, SteppedCalls::State::Done) << text;
      const auto answer = calls.commit(step.call);
      ASSERT_TRUE(answer) << text << ": " << calls.why_failed;
      const auto& returned = replay.traces[step.call].result.returned;
      EXPECT_EQ(*answer, returned.empty() ? "" : text_of(returned.front())) << text;
    }
    expect_rows(problem, anomaly);
  }

  // What the last writer of each column left.
  void expect_rows(const Problem& problem, const FoundAnomaly& anomaly) {
    std::map<LocationKey, sql::Value> end;
    for (const std::size_t call : anomaly.scenario.ar) {
      for (const auto& [at, value] : anomaly.replay.traces[call].writes) end[at] = value;
    }
    for (const auto& [at, value] : end) {
      if (at.column > kPresence) continue;
      const sql::Table& table = problem.app.table(at.table);
      // Keys that the server makes up are others than ours.
      if (std::ranges::any_of(table.primary_key,
                              [&](std::uint32_t c) { return table.columns[c].is_fresh; }))
        continue;
      std::string where;
      for (std::size_t k = 0; k < at.row.size(); ++k)
        where += (where.empty() ? "" : " AND ") + table.columns[table.primary_key[k]].name + " = " +
                 sql::print(at.row[k]);
      const std::string what = at.column == kPresence
                                   ? "count(*) > 0"
                                   : "(array_agg(" + table.columns[at.column].name + "))[1]";
      EXPECT_EQ(admin_->run("SELECT " + what + " FROM " + table.name + " WHERE " + where),
                text_of(value))
          << print(problem.app, at);
    }
  }

  struct Call {
    std::string text;
    std::string level;
    std::optional<std::string> answer = {};
  };
  void reset(const ReadCommittedCase& test, const sql::Application& app) {
    for (const sql::Table& table : app.tables) admin_->run("TRUNCATE " + table.name);
    if (!test.rows.empty()) admin_->run(test.rows);
  }
  std::string state(const sql::Application& app) {
    std::string all;
    for (const sql::Table& table : app.tables)
      all +=
          admin_->run("SELECT string_agg(t::text, ' ' ORDER BY t) FROM " + table.name + " AS t") +
          ";";
    return all;
  }
  void run_randomly(std::vector<Call>& calls, std::mt19937_64& random) {
    SteppedCalls server(server_->dsn(), calls.size());
    std::vector<bool> is_over(calls.size(), false);
    for (std::size_t c = 0; c < calls.size(); ++c) server.start(c, calls[c].level, calls[c].text);
    while (std::ranges::count(is_over, false) > 0) {
      const std::size_t c = random() % calls.size();
      if (is_over[c]) continue;
      switch (server.settle(c)) {
        case SteppedCalls::State::Waiting:
          break;
        case SteppedCalls::State::AtGate:
          server.step(c);
          break;
        case SteppedCalls::State::Done:
          calls[c].answer = server.commit(c);
          is_over[c] = true;
          break;
      }
    }
  }
  bool has_serial_order(const ReadCommittedCase& test, const sql::Application& app,
                        std::vector<Call> calls, const std::string& end) {
    std::erase_if(calls, [](const Call& call) { return !call.answer; });
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      reset(test, app);
      bool is_same = true;
      for (const std::size_t c : order)
        is_same = is_same && admin_->run("SELECT " + calls[c].text) == *calls[c].answer;
      if (is_same && state(app) == end) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }
  static std::size_t num_runs() {
    const char* share = std::getenv("ISOSCOPE_LIVE_RUNS");
    return share == nullptr ? 6 : static_cast<std::size_t>(std::atoi(share));
  }

  static std::unique_ptr<PostgresServer> server_;
  static std::string why_not_;
  std::unique_ptr<GatedSession> admin_;
};

std::unique_ptr<PostgresServer> ReadCommittedLive::server_;
std::string ReadCommittedLive::why_not_;

TEST_P(ReadCommittedLive, AgreesWithTheServer) {
  const ReadCommittedCase& test = GetParam();
  const std::string text = test.schema + test.functions;
  const sql::Application app = app_of(text);
  Problem problem{app, {&pg_read_committed(), std::vector<const Level*>(app.functions.size())}};
  for (const std::string& name : test.repeatable)
    problem.levels.own[*app.find_function(name)] = &pg_repeatable_read();
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 3, .prove = true}, budget);
  ASSERT_EQ(name_of(report.outcome), test.verdict) << report.limit;
  create(text, app);
  if (test.verdict == "anomaly") {
    expect_to_happen(problem, report.search.anomalies.front());
    return;
  }
  std::mt19937_64 random(1);
  for (std::size_t run = 0; run < num_runs(); ++run) {
    std::vector<Call> calls;
    std::string story;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto f = static_cast<std::uint32_t>(random() % app.functions.size());
      calls.push_back({app.functions[f].name + "(" + (random() % 4 == 0 ? "2" : "1") + ")",
                       level_name(problem, f)});
      story += calls.back().text + " ";
    }
    reset(test, app);
    run_randomly(calls, random);
    const std::string end = state(app);
    ASSERT_TRUE(has_serial_order(test, app, calls, end)) << "run " << run << ": " << story << end;
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
    admin_->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
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
