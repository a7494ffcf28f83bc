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
    std::string text = sql::print(value);
    if (text.size() > 1 && text.front() == '\'') text = text.substr(1, text.size() - 2);
    return text;
  }

  // These rows and no others, whether or not what they refer to is there.
  void reset(const sql::Application& app, const std::vector<sql::InitialRow>& rows) {
    std::string sql;
    for (const sql::Table& table : app.tables)
      sql += (sql.empty() ? "TRUNCATE " : ", ") + table.name;
    sql += "; SET session_replication_role = replica";
    for (const sql::InitialRow& row : rows) {
      std::string values;
      for (const sql::Value& value : row.values)
        values += (values.empty() ? "" : ", ") + (value.is_null() ? "NULL" : sql::print(value));
      sql += "; INSERT INTO " + app.table(row.table).name + " VALUES (" + values + ")";
    }
    admin_->run(sql + "; SET session_replication_role = origin");
    ASSERT_FALSE(admin_->failed()) << sql;
  }

  // Plays the schedule of an anomaly. The SQLSTATE if the server ends a call, else empty.
  std::string play(const Problem& problem, const FoundAnomaly& anomaly) {
    const Scenario& scenario = anomaly.scenario;
    const Replay& replay = anomaly.replay;
    reset(problem.app, scenario.rows);
    std::vector<ScheduleStep> schedule = replay.schedule;
    if (schedule.empty()) {
      const auto made = schedule_of(scenario, replay.traces);
      if (!made && !has_per_statement(replay.traces)) return play_by_snapshots(problem, anomaly);
      if (!made) return made.error().what;
      schedule = *made;
    }
    SteppedCalls calls(server_->dsn(), scenario.calls.size());
    for (const ScheduleStep& step : schedule) {
      const std::string text = print(problem.app, scenario.calls[step.call]);
      if (!calls.is_started(step.call))
        calls.start(step.call, level_name(problem, scenario.calls[step.call].function), text);
      auto state = calls.settle(step.call);
      // Who waited for the call that has just committed is about to go on.
      for (int i = 0; !step.moment && state == SteppedCalls::State::Waiting && i < 1000; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        state = calls.settle(step.call);
      }
      if (step.moment) {
        if (state != SteppedCalls::State::AtGate) continue;  // shares the gate of the one before
        calls.step(step.call);
        calls.settle(step.call);
        continue;
      }
      if (state != SteppedCalls::State::Done) return text + " does not come to its end";
      const auto answer = calls.commit(step.call);
      if (!answer) return calls.why_failed;
      const auto& returned = replay.traces[step.call].result.returned;
      EXPECT_EQ(*answer, returned.empty() ? "" : text_of(returned.front())) << text;
    }
    expect_rows(problem, anomaly);
    return "";
  }
  // Of calls that keep one snapshot: each takes it in its turn, and waits at its first gate until
  // it is the next to commit. So a snapshot can be older than the first lock, as it is where a
  // transaction begins with another statement.
  std::string play_by_snapshots(const Problem& problem, const FoundAnomaly& anomaly) {
    using State = SteppedCalls::State;
    const Scenario& scenario = anomaly.scenario;
    SteppedCalls calls(server_->dsn(), scenario.calls.size());
    for (std::size_t committed = 0; committed < scenario.ar.size(); ++committed) {
      for (std::size_t call = 0; call < scenario.calls.size(); ++call) {
        if (std::ranges::count(scenario.sees[call], true) != static_cast<std::ptrdiff_t>(committed))
          continue;
        calls.start(call, level_name(problem, scenario.calls[call].function),
                    print(problem.app, scenario.calls[call]));
        calls.settle(call);
      }
      const std::size_t next = scenario.ar[committed];
      const std::string text = print(problem.app, scenario.calls[next]);
      if (!calls.is_started(next)) return text + " sees calls that commit after it";
      while (calls.settle(next) == State::AtGate) calls.step(next);
      if (calls.settle(next) != State::Done) return text + " waits for one that commits after it";
      const auto answer = calls.commit(next);
      if (!answer) return calls.why_failed;
      const auto& returned = anomaly.replay.traces[next].result.returned;
      EXPECT_EQ(*answer, returned.empty() ? "" : text_of(returned.front())) << text;
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
    for (const std::size_t call : anomaly.scenario.ar) {
      for (const auto& [at, value] : anomaly.replay.traces[call].writes) end[at] = value;
    }
    for (const auto& [at, value] : end) {
      if (at.column > kPresence) continue;
      const auto presence = end.find({at.table, at.row, kPresence});
      const bool is_gone = presence != end.end() && presence->second == sql::Value(false);
      if (is_gone && at.column != kPresence) continue;
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
  // Some order of the calls that committed, one after the other, has their answers and these rows.
  // `prepare` makes the rows of the start.
  template <typename Prepare>
  bool has_serial_order(const Prepare& prepare, const sql::Application& app,
                        std::vector<Call> calls, const std::string& end) {
    std::erase_if(calls, [](const Call& call) { return !call.answer; });
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      prepare();
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

  static inline std::unique_ptr<PostgresServer> server_;
  static inline std::string why_not_;
  std::unique_ptr<GatedSession> admin_;
};

}  // namespace isoscope::audit
