#pragma once
// Functions on a live PostgreSQL: anomalies of audit are played there statement by statement, calls
// run in random orders, and serial orders are tried for what they come to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "audit/replay_schedule.h"
#include "audit/search.h"
#include "audit/server_levels.h"
#include "stepped_server.h"
#include "support/postgres_server.h"
#include "support/rng.h"

namespace isoscope::audit {

class LiveFunctions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = PostgresServer::start(why_not_, {.settings = {"deadlock_timeout=20ms"}});
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << why_not_;
    admin_ = std::make_unique<GatedSession>(server_->dsn());
  }

  // In an empty schema.
  void create(const std::string& text, const sql::Application& app) {
    admin_->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    admin_->run(SteppedCalls::kGate);
    admin_->run(with_gates(text, app));
    ASSERT_FALSE(admin_->failed()) << with_gates(text, app);
  }
  static std::string level_name(const Problem& problem, sql::FunctionId function) {
    const Level& level = problem.levels.of(function);
    if (&level == &pg_read_committed()) return "READ COMMITTED";
    return &level == &pg_serializable() ? "SERIALIZABLE" : "REPEATABLE READ";
  }
  static std::string text_of(const sql::Value& value) {
    if (value.is_null()) return "";
    if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "t" : "f";
    if (const auto* row = std::get_if<std::vector<sql::Value>>(&value.data)) {
      std::string fields;
      for (const sql::Value& field : *row) fields += (fields.empty() ? "(" : ",") + text_of(field);
      return fields + ")";
    }
    std::string text = sql::print(value);
    if (text.size() > 1 && text.front() == '\'') text = text.substr(1, text.size() - 2);
    return text;
  }

  // These rows and no others, whether or not what they refer to is there.
  void reset(const sql::Application& app, const std::vector<sql::InitialRow>& rows) {
    const std::string sql = rows_of(app, rows);
    admin_->run(sql);
    ASSERT_FALSE(admin_->failed()) << sql;
  }
  static std::string quoted(const std::string& name) { return '"' + name + '"'; }
  static std::string rows_of(const sql::Application& app,
                             const std::vector<sql::InitialRow>& rows) {
    std::string sql;
    for (const sql::Table& table : app.tables)
      sql += (sql.empty() ? "TRUNCATE " : ", ") + quoted(table.name);
    sql += "; SET session_replication_role = replica";
    for (const sql::InitialRow& row : rows) {
      std::string values;
      for (const sql::Value& value : row.values)
        values += (values.empty() ? "" : ", ") + (value.is_null() ? "NULL" : sql::print(value));
      sql += "; INSERT INTO " + quoted(app.table(row.table).name) + " VALUES (" + values + ")";
    }
    return sql + "; SET session_replication_role = origin";
  }

  // Plays the schedule of an anomaly. The SQLSTATE if the server ends a call, else empty.
  std::string play(const Problem& problem, const FoundAnomaly& anomaly) {
    const Scenario& scenario = anomaly.scenario;
    const Replay& replay = anomaly.replay;
    reset(problem.app, scenario.rows);
    std::vector<ScheduleStep> schedule = replay.schedule;
    if (schedule.empty()) {
      const auto made = schedule_of(scenario, replay.traces);
      if (!made) return made.error().what;
      schedule = *made;
    }
    SteppedCalls calls(server_->dsn(), scenario.calls.size());
    for (const ScheduleStep& step : schedule) {
      const std::string text = print(problem.app, scenario.calls[step.call]);
      // The snapshot of a call that keeps one is older than its first gate.
      if (!calls.is_started(step.call.index))
        calls.start(step.call.index, level_name(problem, scenario.calls[step.call].function), text);
      const auto state = calls.settle(step.call.index);
      if (step.is_snapshot) continue;
      if (step.moment) {
        // A second look shares the gate of the moment before.
        if (replay.traces[step.call].moments[*step.moment].is_second_look) continue;
        if (state != SteppedCalls::State::AtGate)
          return text + " does not come to its next statement: " + calls.story();
        calls.step(step.call.index);
        calls.settle(step.call.index);
        continue;
      }
      if (state != SteppedCalls::State::Done)
        return text + " does not come to its end: " + calls.story();
      const auto answer = calls.commit(step.call.index);
      if (!answer) return calls.why_failed;
      // Who waited for it goes on, and has the row before the next statement asks for it.
      calls.settle_others();
      std::vector<std::string> returned;
      for (const sql::Value& value : replay.traces[step.call].result.returned)
        returned.push_back(text_of(value));
      EXPECT_EQ(*answer, in_lines(std::move(returned))) << text;
    }
    expect_rows(problem, anomaly);
    return "";
  }
  void expect_to_happen(const Problem& problem, const FoundAnomaly& anomaly) {
    ASSERT_EQ(play(problem, anomaly), "");
  }

  // What the last writer of each column left.
  void expect_rows(const Problem& problem, const FoundAnomaly& anomaly) {
    std::map<LocationKey, sql::Value> end;
    for (const ScenarioCallId call : anomaly.scenario.ar) {
      for (const auto& [at, value] : anomaly.replay.traces[call].writes) end[at] = value;
    }
    for (const auto& [at, value] : end) {
      if (at.attribute.is_entry()) continue;
      const auto presence = end.find({at.table, at.row, kPresence});
      const bool is_gone = presence != end.end() && presence->second == sql::Value(false);
      if (is_gone && at.attribute != kPresence) continue;
      const sql::Table& table = problem.app.table(at.table);
      // Keys that the server makes up are others than ours.
      if (std::ranges::any_of(table.primary_key,
                              [&](sql::ColumnId c) { return table.columns[c].is_fresh; }))
        continue;
      std::string where;
      for (std::size_t k = 0; k < at.row.size(); ++k)
        where += (where.empty() ? "" : " AND ") + table.columns[table.primary_key[k]].name + " = " +
                 sql::print(at.row[k]);
      const std::string what =
          at.attribute == kPresence
              ? "count(*) > 0"
              : "(array_agg(" + table.columns[at.attribute.column()].name + "))[1]";
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
  std::string state(const sql::Application& app) {
    std::string all;
    for (const sql::Table& table : app.tables)
      all +=
          admin_->run("SELECT string_agg(t::text, ' ' ORDER BY t) FROM " + table.name + " AS t") +
          ";";
    return all;
  }
  void run_randomly(std::vector<Call>& calls, Rng& random) {
    SteppedCalls server(server_->dsn(), calls.size());
    std::vector<bool> is_over(calls.size(), false);
    for (std::size_t c = 0; c < calls.size(); ++c) server.start(c, calls[c].level, calls[c].text);
    while (std::ranges::count(is_over, false) > 0) {
      const std::size_t c = random.below(calls.size());
      if (is_over[c]) continue;
      switch (server.settle(c)) {
        case SteppedCalls::State::Waiting: break;
        case SteppedCalls::State::AtGate: server.step(c); break;
        case SteppedCalls::State::Done:
          calls[c].answer = server.commit(c);
          is_over[c] = true;
          break;
      }
    }
  }
  // Some order of the calls that committed, one after the other, has their answers and these rows.
  // `prepare` makes the rows of the start.
  template <typename Prepare>
  bool has_serial_order(const Prepare& prepare, const sql::Application& app,
                        std::vector<Call> calls, const std::string& end) {
    return has_serial_order(
        prepare, [&] { return state(app); }, std::move(calls), end);
  }
  // `rows` asks for the rows that are compared.
  template <typename Prepare, typename Rows>
  requires std::invocable<Rows>
  bool has_serial_order(const Prepare& prepare, const Rows& rows, std::vector<Call> calls,
                        const std::string& end) {
    std::erase_if(calls, [](const Call& call) { return !call.answer; });
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      prepare();
      bool is_same = true;
      for (const std::size_t c : order)
        is_same = is_same && admin_->run("SELECT " + calls[c].text) == *calls[c].answer;
      if (is_same && rows() == end) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }
  static std::size_t num_runs() {
    const char* share = std::getenv("ISOSCOPE_LIVE_RUNS");
    return share == nullptr ? 6 : static_cast<std::size_t>(std::atoi(share));
  }

  static inline std::unique_ptr<PostgresServer> server_;
  static inline std::string why_not_;
  std::unique_ptr<GatedSession> admin_;
};

}  // namespace isoscope::audit
