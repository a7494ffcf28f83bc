// What audit says of PostgreSQL's levels, held against PostgreSQL: every anomaly happens there as
// printed, and what is ruled out by an error there ends with that error.
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "audit/advise.h"
#include "audit/server_levels.h"
#include "audit_of.h"
#include "support/postgres_server.h"

namespace isoscope::audit {
namespace {

// A connection, and what its last statement came to.
class Session {
 public:
  explicit Session(const std::string& dsn) : connection_(PQconnectdb(dsn.c_str())) {
    EXPECT_EQ(PQstatus(connection_), CONNECTION_OK) << PQerrorMessage(connection_);
    run("SET client_min_messages = warning");
  }
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The first column of the first row, or the SQLSTATE of an error.
  std::string run(const std::string& sql) {
    PGresult* result = PQexec(connection_, sql.c_str());
    const auto status = PQresultStatus(result);
    std::string answer;
    if (status == PGRES_TUPLES_OK) {
      if (PQntuples(result) > 0) answer = PQgetvalue(result, 0, 0);
    } else if (status != PGRES_COMMAND_OK) {
      const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      answer = state != nullptr ? state : PQerrorMessage(connection_);
    }
    PQclear(result);
    return answer;
  }

 private:
  PGconn* connection_;
};

class AuditLive : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = PostgresServer::start(why_not_); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << why_not_;
    admin_ = std::make_unique<Session>(server_->dsn());
    EXPECT_EQ(admin_->run("DROP SCHEMA public CASCADE; CREATE SCHEMA public"), "");
  }
  std::unique_ptr<Session> open() { return std::make_unique<Session>(server_->dsn()); }

  // Runs the calls of an anomaly as its visibility and arbitration say: who sees the first k of
  // the order takes its snapshot when k have committed, and runs when its turn to commit comes.
  void expect_to_happen(const Problem& problem, const FoundAnomaly& anomaly) {
    const Scenario& scenario = anomaly.scenario;
    for (const sql::InitialRow& row : scenario.rows) insert(problem.app, row);
    ById<ScenarioCallId, std::unique_ptr<Session>> sessions;
    for (std::size_t i = 0; i < scenario.calls.size(); ++i) sessions.push_back(open());
    const auto begin = [&](ScenarioCallId call) {
      const bool is_top = &problem.levels.of(scenario.calls[call].function) == &pg_serializable();
      EXPECT_EQ(sessions[call]->run(std::string("BEGIN ISOLATION LEVEL ") +
                                    (is_top ? "SERIALIZABLE" : "REPEATABLE READ")),
                "");
      EXPECT_EQ(sessions[call]->run("SELECT 1"), "1");  // the snapshot
    };
    for (std::size_t place = 0; place < scenario.ar.size(); ++place) {
      for (const ScenarioCallId call : scenario.calls.ids()) {
        const auto num_seen = static_cast<std::size_t>(
            std::count(scenario.sees[call].begin(), scenario.sees[call].end(), true));
        if (num_seen == place) begin(call);
      }
      const ScenarioCallId call = scenario.ar[place];
      const std::string text = print(problem.app, scenario.calls[call]);
      const std::string answer = sessions[call]->run("SELECT " + text);
      EXPECT_EQ(answer, returned(anomaly.replay.traces[call])) << text;
      EXPECT_EQ(sessions[call]->run("COMMIT"), "") << text;
    }
  }

  void expect_anomaly_on_server(const std::string& path, const Level& base,
                                const std::vector<std::string>& serializable = {}) {
    const auto text = read_whole(source_dir() + "/" + path);
    ASSERT_TRUE(text.ok());
    const sql::Application app = app_of(*text);
    Problem problem{app, {&base, std::vector<const Level*>(app.functions.size(), nullptr)}};
    for (const std::string& name : serializable)
      problem.levels.own[app.find_function(name)->index] = &pg_serializable();
    Budget budget = Budget::seconds(60);
    const AuditReport report = audit(problem, {.max_length = 3}, budget);
    ASSERT_EQ(name_of(report.outcome), "anomaly");
    ASSERT_EQ(admin_->run(*text), "");
    expect_to_happen(problem, report.search.anomalies.front());
  }

 private:
  static std::string returned(const CallTrace& trace) {
    if (trace.result.returned.empty()) return "";
    const sql::Value& value = trace.result.returned.front();
    if (value.is_null()) return "";
    if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? "t" : "f";
    std::string text = sql::print(value);
    if (text.size() > 1 && text.front() == '\'') text = text.substr(1, text.size() - 2);
    return text;
  }
  void insert(const sql::Application& app, const sql::InitialRow& row) {
    std::string values;
    for (const sql::Value& value : row.values)
      values += (values.empty() ? "" : ", ") + (value.is_null() ? "NULL" : sql::print(value));
    EXPECT_EQ(admin_->run("SET session_replication_role = replica; INSERT INTO " +
                          app.table(row.table).name + " VALUES (" + values + ")"),
              "");
  }

  static std::unique_ptr<PostgresServer> server_;
  static std::string why_not_;

 protected:
  std::unique_ptr<Session> admin_;
};

std::unique_ptr<PostgresServer> AuditLive::server_;
std::string AuditLive::why_not_;

TEST_F(AuditLive, WriteSkewOfDoctorsHappens) {
  expect_anomaly_on_server("examples/audit/on_call.sql", pg_repeatable_read());
}

TEST_F(AuditLive, DoubleBookingHappens) {
  expect_anomaly_on_server("examples/audit/booking.sql", pg_repeatable_read());
}

TEST_F(AuditLive, SmallbankHappens) {
  expect_anomaly_on_server("examples/audit/smallbank.sql", pg_repeatable_read());
}

TEST_F(AuditLive, OneFunctionAtSerializableDoesNotHelpSmallbank) {
  expect_anomaly_on_server("examples/audit/smallbank.sql", pg_repeatable_read(), {"write_check"});
}

// Two sessions at REPEATABLE READ: the second has its snapshot, then the first does its work and
// commits, then the second goes on. What the last statement of the second came to.
class AuditLiveRules : public AuditLive {
 protected:
  std::string second_after_first(const std::string& schema, const std::string& looks,
                                 const std::string& first, const std::string& second) {
    EXPECT_EQ(admin_->run(schema), "");
    const auto one = open();
    const auto two = open();
    EXPECT_EQ(two->run("BEGIN ISOLATION LEVEL REPEATABLE READ"), "");
    EXPECT_EQ(two->run(looks), "1") << looks;
    EXPECT_EQ(one->run("BEGIN ISOLATION LEVEL REPEATABLE READ"), "");
    EXPECT_EQ(one->run(first), "") << first;
    EXPECT_EQ(one->run("COMMIT"), "");
    const std::string answer = two->run(second);
    if (answer.empty()) return two->run("COMMIT");
    EXPECT_EQ(two->run("ROLLBACK"), "");
    return answer;
  }
};

TEST_F(AuditLiveRules, AFreedKeyCanBeTaken) {
  EXPECT_EQ(second_after_first("CREATE TABLE s (id int PRIMARY KEY); INSERT INTO s VALUES (1)",
                               "SELECT count(*) FROM s", "DELETE FROM s WHERE id = 1",
                               "INSERT INTO s VALUES (1)"),
            "");
}

TEST_F(AuditLiveRules, AFreedUniqueValueCanBeTaken) {
  EXPECT_EQ(
      second_after_first("CREATE TABLE s (id int PRIMARY KEY, n int UNIQUE);"
                         "INSERT INTO s VALUES (1, 1), (2, 3)",
                         "SELECT count(*) FROM s WHERE n = 1", "UPDATE s SET n = 2 WHERE id = 1",
                         "UPDATE s SET n = 1 WHERE id = 2"),
      "");
}

TEST_F(AuditLiveRules, ATakenKeyIsRefused) {
  EXPECT_EQ(second_after_first("CREATE TABLE s (id int PRIMARY KEY)", "SELECT 1 - count(*) FROM s",
                               "INSERT INTO s VALUES (1)", "INSERT INTO s VALUES (1)"),
            "23505");
}

TEST_F(AuditLiveRules, RowsConflictNotColumns) {
  EXPECT_EQ(
      second_after_first("CREATE TABLE s (id int PRIMARY KEY, a int, b int);"
                         "INSERT INTO s VALUES (1, 0, 0)",
                         "SELECT count(*) FROM s", "UPDATE s SET a = 1", "UPDATE s SET b = 1"),
      "40001");
}

TEST_F(AuditLiveRules, LocksSeeEarlierWritersUnlessTheyAreKeyShare) {
  const std::string schema =
      "CREATE TABLE s (id int PRIMARY KEY, a int); INSERT INTO s VALUES (1, 0)";
  const std::string looks = "SELECT count(*) FROM s";
  for (const char* mode : {"UPDATE", "NO KEY UPDATE", "SHARE"}) {
    EXPECT_EQ(admin_->run("DROP TABLE IF EXISTS s"), "");
    EXPECT_EQ(second_after_first(schema, looks, "UPDATE s SET a = 1",
                                 std::string("SELECT a FROM s WHERE id = 1 FOR ") + mode),
              "40001")
        << mode;
  }
  EXPECT_EQ(admin_->run("DROP TABLE s"), "");
  EXPECT_EQ(second_after_first(schema, looks, "UPDATE s SET a = 1",
                               "SELECT NULL FROM s WHERE id = 1 FOR KEY SHARE"),
            "");
}

TEST_F(AuditLiveRules, AForeignKeyKeepsItsParentAndNothingElse) {
  const std::string schema =
      "CREATE TABLE p (id int PRIMARY KEY, a int); INSERT INTO p VALUES (1, 0);"
      "CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p)";
  EXPECT_EQ(second_after_first(schema, "SELECT count(*) FROM p", "UPDATE p SET a = 1",
                               "INSERT INTO c VALUES (1, 1)"),
            "");
  EXPECT_EQ(admin_->run("DROP TABLE c; DROP TABLE p"), "");
  EXPECT_EQ(second_after_first(schema, "SELECT count(*) FROM p", "DELETE FROM p",
                               "INSERT INTO c VALUES (1, 1)"),
            "40001");
}

// Random calls with random snapshots, compared with every serial order of those that committed.
class AuditLiveRuns : public AuditLive {
 protected:
  struct Call {
    std::string text;
    bool is_serializable = false;
    std::size_t snapshot = 0;  // when so many have had their turn
    std::string answer = {};
    bool committed = false;
  };

  static constexpr std::size_t kCalls = 3;

  void fill() {
    EXPECT_EQ(admin_->run("INSERT INTO account VALUES ('a', 1), ('b', 2);"
                          "INSERT INTO savings VALUES (1, 10), (2, 10);"
                          "INSERT INTO checking VALUES (1, 10), (2, 10)"),
              "");
    for (std::size_t c = 0; c < kCalls; ++c) sessions_.push_back(open());
  }
  void reset() {
    EXPECT_EQ(admin_->run("UPDATE savings SET bal = 10; UPDATE checking SET bal = 10"), "");
  }
  std::string state() {
    return admin_->run(
        "SELECT string_agg(bal::text, ' ' ORDER BY t, cust_id) FROM (SELECT 1 AS t, "
        "* FROM savings UNION ALL SELECT 2, * FROM checking) AS rows");
  }
  void run_weakly(std::vector<Call>& calls) {
    for (std::size_t turn = 0; turn < calls.size(); ++turn) {
      for (std::size_t c = turn; c < calls.size(); ++c) {
        if (calls[c].snapshot != turn) continue;
        sessions_[c]->run(std::string("BEGIN ISOLATION LEVEL ") +
                          (calls[c].is_serializable ? "SERIALIZABLE" : "REPEATABLE READ"));
        sessions_[c]->run("SELECT 1");
      }
      calls[turn].answer = sessions_[turn]->run("SELECT " + calls[turn].text);
      calls[turn].committed =
          sessions_[turn]->run("COMMIT").empty() && calls[turn].answer.size() != kSqlStateSize;
    }
  }
  bool has_serial_order(std::vector<Call> calls, const std::string& end) {
    std::erase_if(calls, [](const Call& call) { return !call.committed; });
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      reset();
      bool is_same = true;
      for (const std::size_t c : order)
        is_same = is_same && admin_->run("SELECT " + calls[c].text) == calls[c].answer;
      if (is_same && state() == end) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }
  bool is_unserializable(std::vector<Call> calls) {
    reset();
    run_weakly(calls);
    const std::string end = state();
    return !has_serial_order(calls, end);
  }
  // Of the calls in every order, with every choice of snapshots: how many had no serial order.
  std::size_t unserializable_runs(std::vector<Call> calls) {
    std::size_t found = 0;
    const auto by_text = [](const Call& a, const Call& b) { return a.text < b.text; };
    std::ranges::sort(calls, by_text);
    do {
      for (const std::size_t second : {0, 1}) {
        for (const std::size_t third : {0, 1, 2}) {
          calls[0].snapshot = 0;
          calls[1].snapshot = second;
          calls[2].snapshot = third;
          if (is_unserializable(calls)) ++found;
        }
      }
    } while (std::ranges::next_permutation(calls, by_text).found);
    return found;
  }
  // A random call of a function, mostly about one customer, so that calls meet.
  static Call random_call(const sql::Function& function, std::mt19937_64& random) {
    Call call{function.name + "("};
    for (std::uint32_t p = 0; p < function.num_parameters; ++p) {
      const bool is_name = function.variables[p].type == sql::Type::Text;
      call.text += p > 0 ? ", " : "";
      call.text +=
          is_name ? (random() % 4 == 0 ? "'b'" : "'a'") : std::to_string(18 + random() % 9);
    }
    call.text += ")";
    return call;
  }

 private:
  static constexpr std::size_t kSqlStateSize = 5;  // no answer of Smallbank is that long
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(AuditLiveRuns, DoNotBreakWhatIsProvedAndBreakWhatIsNot) {
  const auto text = read_whole(source_dir() + "/examples/audit/smallbank.sql");
  ASSERT_TRUE(text.ok());
  const sql::Application app = app_of(*text);
  ASSERT_EQ(admin_->run(*text), "");
  fill();
  const Problem problem{app, {&pg_repeatable_read(), {}}};
  Budget budget = Budget::seconds(60);
  const Advice advice =
      advise(problem, {&pg_repeatable_read(), &pg_serializable()}, false, {}, budget);
  ASSERT_EQ(advice.levels.size(), app.functions.size());
  std::vector<bool> advised;
  for (const Level* level : advice.levels) advised.push_back(level == &pg_serializable());
  ASSERT_NE(std::ranges::count(advised, false), 0);
  const auto calls_at = [&](bool is_advised) {
    std::vector<Call> calls = {
        {"balance('a')"}, {"transact_savings('a', 15)"}, {"write_check('a', 25)"}};
    const char* names[] = {"balance", "transact_savings", "write_check"};
    for (std::size_t c = 0; c < kCalls; ++c)
      calls[c].is_serializable = is_advised && advised[app.find_function(names[c])->index];
    return calls;
  };
  EXPECT_EQ(unserializable_runs(calls_at(true)), 0U);
  EXPECT_GT(unserializable_runs(calls_at(false)), 0U);
  std::mt19937_64 random(1);
  for (std::size_t run = 0; run < 100; ++run) {
    std::vector<Call> calls;
    std::string story;
    for (std::size_t turn = 0; turn < kCalls; ++turn) {
      const std::size_t f = random() % app.functions.size();
      calls.push_back(random_call(app.functions[f], random));
      calls.back().is_serializable = advised[f];
      calls.back().snapshot = random() % (turn + 1);
      story += calls.back().text + " after " + std::to_string(calls.back().snapshot) + "; ";
    }
    EXPECT_FALSE(is_unserializable(calls)) << story;
  }
}

}  // namespace
}  // namespace isoscope::audit
