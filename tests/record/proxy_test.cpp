// The proxy before a real server: clients see the same bytes as without it.
#include "record/proxy.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "record/appender.h"
#include "record/gatekeeper.h"
#include "record/running_proxy.h"
#include "record/wire.h"
#include "support/postgres_server.h"
#include "support/rng.h"

namespace isoscope::record {
namespace {

using testing::HasSubstr;

// Speaks the protocol byte by byte, and writes down what the server says.
class RawClient {
 public:
  explicit RawClient(int port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) {
    if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot send");
  }
  void start() {
    std::string payload;
    append_int32(payload, kProtocol3);
    for (const char* word : {"user", "postgres", "database", "postgres"}) {
      payload += word;
      payload += '\0';
    }
    payload += '\0';
    std::string packet;
    append_int32(packet, static_cast<std::uint32_t>(payload.size() + 4));
    send(packet + payload);
  }
  char byte() {
    char c = 0;
    return ::recv(socket_, &c, 1, MSG_WAITALL) == 1 ? c : '\0';
  }
  // Messages until so many of that type have come, or the end; each as "type payload".
  std::vector<std::string> read_until(char type, int count) {
    std::vector<std::string> messages;
    while (count > 0) {
      const std::string header = take(5);
      if (header.size() < 5) {
        messages.emplace_back("(end)");
        break;
      }
      Fields fields(std::string_view(header).substr(1));
      std::string payload = take(fields.int32() - 4);
      // The server's process and key differ; so do the rows of pg_backend_pid().
      if (header[0] == 'K') payload = "(key)";
      messages.push_back(header[0] + (" " + payload));
      if (header[0] == type) --count;
    }
    return messages;
  }

 private:
  std::string take(std::size_t size) {
    std::string out(size, '\0');
    const ssize_t got = ::recv(socket_, out.data(), size, MSG_WAITALL);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
  }

  int socket_ = -1;
};

std::string zero(std::string_view text) { return std::string(text) + '\0'; }
std::string query(std::string_view sql) { return message_of('Q', zero(sql)); }
std::string parse(std::string_view name, std::string_view sql) {
  return message_of('P', zero(name) + zero(sql) + std::string(2, '\0'));
}
// Parameters as text; results in that format.
std::string bind(std::string_view portal, std::string_view name,
                 const std::vector<std::string>& parameters = {}, std::uint16_t format = 0) {
  std::string payload = zero(portal) + zero(name);
  append_int16(payload, 0);
  append_int16(payload, static_cast<std::uint16_t>(parameters.size()));
  for (const std::string& parameter : parameters) {
    append_int32(payload, static_cast<std::uint32_t>(parameter.size()));
    payload += parameter;
  }
  append_int16(payload, 1);
  append_int16(payload, format);
  return message_of('B', payload);
}
// The same without parameters, with a format for each column.
std::string bind_columns(std::string_view portal, std::string_view name,
                         const std::vector<std::uint16_t>& formats) {
  std::string payload = zero(portal) + zero(name);
  append_int16(payload, 0);
  append_int16(payload, 0);
  append_int16(payload, static_cast<std::uint16_t>(formats.size()));
  for (const std::uint16_t format : formats) append_int16(payload, format);
  return message_of('B', payload);
}
std::string execute(std::string_view portal = "", std::uint32_t rows = 0) {
  std::string payload = zero(portal);
  append_int32(payload, rows);
  return message_of('E', payload);
}
std::string describe(char kind, std::string_view name) {
  return message_of('D', std::string(1, kind) + zero(name));
}
std::string close_of(char kind, std::string_view name) {
  return message_of('C', std::string(1, kind) + zero(name));
}
std::string sync() { return message_of('S', ""); }

struct Step {
  std::string bytes;
  int readies;  // how many ReadyForQuery answer it
};

// Everything that the protocol has, on a table t (id int primary key, v int).
std::vector<Step> script() {
  const std::string one = parse("", "SELECT v FROM t WHERE id = $1") + describe('S', "") +
                          bind("", "", {"1"}) + describe('P', "") + execute() + sync();
  const std::string binary = parse("b", "SELECT id, v FROM t ORDER BY id") + bind("p", "b", {}, 1) +
                             execute("p", 2) + execute("p", 2) + execute("p", 0) +
                             close_of('P', "p") + sync();
  return {
      {query("SELECT 1 AS one"), 1},
      {query("SELECT v FROM t ORDER BY id; UPDATE t SET v = v + 1; SELECT count(*) FROM t"), 1},
      {query(""), 1},
      {query("selec 1"), 1},
      {query("SELECT 1; SELECT 1/0; SELECT 2"), 1},
      {query("BEGIN"), 1},
      {query("SELECT nothing FROM t"), 1},
      {query("SELECT 1"), 1},
      {query("ROLLBACK"), 1},
      // Errors name their place in the text of the client.
      {query("SELECT 'ä', v FROM t WHERE nothing = 1"), 1},
      {query("SELECT 1; SELECT v FROM t WHERE v = 1 ORDER BY nothing"), 1},
      {query("BEGIN ISOLATION LEVEL SERIALIZABLE; SAVEPOINT a; INSERT INTO t VALUES (7, 7)"), 1},
      {query("INSERT INTO t VALUES (7, 8)"), 1},
      {query("ROLLBACK TO a; SELECT count(*) FROM t; COMMIT"), 1},
      {one, 1},
      {one + one + binary, 3},
      // An error within a pipeline: what follows up to the Sync is skipped.
      {parse("x", "SELECT 1/$1::int") + bind("", "x", {"0"}) + execute() + bind("", "x", {"1"}) +
           execute() + sync() + bind("", "x", {"1"}) + execute() + sync(),
       2},
      {parse("x", "SELECT 2") + sync(), 1},  // the name is taken
      {close_of('S', "x") + parse("x", "SELECT 3") + bind("", "x") + execute() + sync(), 1},
      {bind("", "no such statement") + execute() + sync() + execute("no such portal") + sync(), 2},
      {parse("", "INSERT INTO t VALUES ($1, $2) RETURNING *") + describe('S', "") +
           bind("", "", {"11", "1"}, 1) + describe('P', "") + execute() + sync(),
       1},
      {query("INSERT INTO t VALUES ('12', NULL); INSERT INTO t VALUES (13, DEFAULT)"), 1},
      {query("INSERT INTO t VALUES (generate_series(14, 16), 1)"), 1},
      {query("INSERT INTO t VALUES (17, count(*))"), 1},
      {query("INSERT INTO t VALUES (18, 'nonsense')"), 1},
      {query("COPY t TO STDOUT"), 1},
      {query("COPY t FROM STDIN") + message_of('d', "8\t8\n") + message_of('d', "9\t9\n") +
           message_of('c', ""),
       1},
      {query("COPY t FROM STDIN") + message_of('f', zero("no more")), 1},
      {parse("", "COPY t FROM STDIN") + bind("", "") + execute() + message_of('d', "10\t1\n") +
           message_of('c', "") + sync(),
       1},
      {query("DELETE FROM t WHERE id >= 7"), 1},
      {query("DECLARE c CURSOR WITH HOLD FOR SELECT * FROM t ORDER BY id; FETCH 2 FROM c"), 1},
      {query("FETCH ALL FROM c; CLOSE c"), 1},
      {query("PREPARE q AS SELECT $1::int + 1; EXECUTE q(4); DEALLOCATE q"), 1},
      {query("DO $$ BEGIN RAISE NOTICE 'seen'; END $$"), 1},
      {query("LISTEN ch; NOTIFY ch, 'hello'"), 1},
      {query("SET application_name TO 'script'; SET client_encoding TO 'LATIN1'; RESET ALL"), 1},
      {query("SELECT repeat('x', 300000)"), 1},
      {query("SELECT g, repeat('y', 100) FROM generate_series(1, 3000) g"), 1},
      {query("UPDATE t SET v = id"), 1},
  };
}

// Statements that are asked for a column more, and others that must not be, beside the tables of
// kTellingTables.
constexpr const char* kTellingTables =
    "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1,1),(2,2),(3,3);"
    "CREATE TABLE word (id int PRIMARY KEY, word text, n int); INSERT INTO word VALUES (1, '€', 0);"
    "CREATE VIEW few AS SELECT * FROM t WHERE id < 3;"
    "CREATE TABLE ruled (id int PRIMARY KEY, v int);"
    "CREATE RULE r AS ON INSERT TO ruled DO INSTEAD NOTHING;"
    "CREATE TABLE secured (id int PRIMARY KEY, v int); ALTER TABLE secured ENABLE ROW LEVEL "
    "SECURITY;"
    "CREATE TABLE parts (id int PRIMARY KEY, v int) PARTITION BY RANGE (id);"
    "CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (10);"
    "CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (10) TO (20);"
    "CREATE ROLE writer; GRANT INSERT, UPDATE (v) ON t TO writer; GRANT INSERT ON word TO writer;"
    "GRANT SELECT (id) ON t TO writer";

std::vector<Step> telling_script() {
  std::vector<Step> steps;
  for (const char* sql :
       {"SELECT DISTINCT v FROM t ORDER BY v",
        "SELECT v, count(*) FROM t GROUP BY v ORDER BY 1",
        "SELECT DISTINCT ON (v) id, v FROM t ORDER BY v",
        "SELECT id FROM t UNION SELECT 9 ORDER BY 1",
        "SELECT count(*), max(v) FROM t",
        "SELECT count(*) FROM t HAVING count(*) > 100",
        "SELECT id, row_number() OVER (ORDER BY id) FROM t",
        "SELECT FROM t",
        "SELECT t FROM t",
        "SELECT x.* FROM t AS x JOIN t y USING (id) ORDER BY 1",
        "SELECT * FROM t WHERE id = 99",
        "SELECT v IS DISTINCT FROM 1 FROM t ORDER BY id",
        "SELECT id FROM t ORDER BY id LIMIT 1",
        "WITH c AS (SELECT id FROM t) SELECT id FROM c ORDER BY 1",
        "TABLE t",
        "VALUES (1)",
        "SELECT (SELECT max(v) FROM t), id FROM t ORDER BY id -- the end",
        "SELECT id FROM t WHERE id = 1 FOR UPDATE",
        "SELECT * FROM few ORDER BY id",
        "UPDATE t AS x SET v = x.v + 1 WHERE x.id = 1",
        "UPDATE t SET v = v WHERE id = 99",
        "UPDATE t SET v = v + 1 WHERE id = 2 RETURNING id, v",
        "UPDATE few SET v = 5 WHERE id = 1",
        "UPDATE t SET v = y.v FROM t y WHERE y.id = t.id AND t.id = 1 -- joined",
        "INSERT INTO t VALUES (20, 1), (21, 2)",
        "INSERT INTO t SELECT 22, 3",
        "INSERT INTO t VALUES (20, 5) ON CONFLICT (id) DO UPDATE SET v = excluded.v",
        "INSERT INTO t VALUES (20, 5) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (20, 5)",
        "INSERT INTO t (id) VALUES (24) RETURNING *",
        "INSERT INTO ruled VALUES (1, 1)",
        "INSERT INTO secured VALUES (1, 1)",
        "INSERT INTO parts VALUES (1, 1), (11, 1)",
        "UPDATE parts SET id = 12 WHERE id = 1",
        "DELETE FROM parts",
        "DELETE FROM t USING word WHERE t.id = 24",
        "DELETE FROM t WHERE id >= 20 RETURNING *",
        "DELETE FROM t WHERE id > 100",
        "WITH w AS (UPDATE t SET v = v + 1 WHERE id = 1 RETURNING *) SELECT * FROM w",
        "WITH w AS (SELECT 1 AS id) DELETE FROM word WHERE id = 99 AND id IN (SELECT id FROM w)",
        "UPDATE t SET v = v + 1; SELECT v FROM t ORDER BY id; UPDATE t SET v = v - 1",
        "BEGIN READ ONLY; SELECT v FROM t WHERE id = 1; UPDATE t SET v = 1; ROLLBACK",
        "UPDATE t SET v = 'x' WHERE id = 1",
        "UPDATE t SET nothing = 1",
        "UPDATE t SET v = 1 / (v - v)",
        "SELECT v FROM t WHERE v = 1 ORDER BY nothing",
        "SELECT repeat('x', 17000000) FROM t WHERE id = 1",
        "SET client_encoding = 'LATIN1'",
        "UPDATE word SET n = n + 1",
        "SELECT word FROM word",
        "SELECT n FROM word",
        "RESET client_encoding",
        "SET ROLE writer",
        "INSERT INTO t VALUES (30, 1)",
        "INSERT INTO word VALUES (30, '', 1)",
        "UPDATE t SET v = 7 WHERE id = 30",
        "SELECT v FROM t",
        "SELECT id FROM t WHERE id = 30",
        "RESET ROLE",
        "DELETE FROM t WHERE id = 30",
        "BEGIN; DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id; FETCH 2 FROM c; COMMIT",
        "PREPARE u AS UPDATE t SET v = v + 1 WHERE id = $1; EXECUTE u (1); DEALLOCATE u",
        "COPY (SELECT id FROM t ORDER BY id) TO STDOUT"})
    steps.push_back({query(sql), 1});
  const std::string update = "UPDATE t SET v = v + 1 WHERE id = $1";
  // Drivers name a row limit for statements without rows, and formats for columns that they have.
  steps.push_back({parse("u", update) + describe('S', "u") + bind("", "u", {"1"}) +
                       describe('P', "") + execute("", 1) + sync(),
                   1});
  steps.push_back({parse("", "UPDATE t SET v = v + 1") + bind_columns("", "", {1, 1, 1}) +
                       execute("", 1) + sync(),
                   1});
  steps.push_back({parse("two", "SELECT id, v FROM t ORDER BY id") + describe('S', "two") + sync() +
                       bind_columns("p", "two", {1, 0}) + describe('P', "p") + execute("p", 2) +
                       execute("p", 2) + sync(),
                   2});
  steps.push_back({parse("", "INSERT INTO t VALUES (40, 0), (41, 0) RETURNING id, v") +
                       bind_columns("", "", {0, 1}) + execute("", 1) + execute("", 1) +
                       execute("", 1) + sync(),
                   1});
  steps.push_back(
      {parse("", "DELETE FROM t WHERE id >= 40") + bind("", "", {}, 1) + execute() + sync(), 1});
  // The name is taken: what is sent ahead means the first statement, not the one that failed.
  steps.push_back({parse("two", "UPDATE t SET v = 1") + sync() + bind_columns("", "two", {1, 0}) +
                       execute("", 1) + sync() + parse("bad", "selec") + sync() + bind("", "bad") +
                       execute() + sync(),
                   4});
  // A portal that is gone, and a cursor of its name.
  steps.push_back({query("BEGIN") + bind("c", "two", {}, 0) + execute("c", 1) + sync() +
                       query("COMMIT") +
                       query("BEGIN; DECLARE c CURSOR FOR SELECT v FROM t ORDER BY id") +
                       execute("c", 2) + sync() + query("COMMIT"),
                   6});
  steps.push_back({close_of('S', "two") + close_of('S', "u") + sync(), 1});
  return steps;
}

std::vector<std::string> transcript(int port, const std::vector<Step>& steps = script()) {
  RawClient client(port);
  client.start();
  std::vector<std::string> all = client.read_until('Z', 1);
  for (const Step& step : steps) {
    client.send(step.bytes);
    for (std::string& message : client.read_until('Z', step.readies))
      all.push_back(std::move(message));
  }
  client.send(message_of('X', ""));
  return all;
}

void run_sql(const std::string& dsn, const char* sql) {
  PGconn* connection = PQconnectdb(dsn.c_str());
  ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  PGresult* result = PQexec(connection, sql);
  EXPECT_TRUE(PQresultStatus(result) == PGRES_COMMAND_OK ||
              PQresultStatus(result) == PGRES_TUPLES_OK)
      << PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
}

// A notification bears the process id of its sender.
void forget_process(std::vector<std::string>& messages) {
  for (std::string& message : messages) {
    if (message[0] == 'A') message.replace(2, 4, "pid ");
  }
}

TEST(Proxy, ShowsClientsTheSameBytes) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  if (!server) GTEST_SKIP() << why_not;
  run_sql(server->dsn(),
          "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1,1),(2,2),(3,3)");
  RunningProxy proxy(server->port());
  Gatekeeper gates;
  RunningProxy gating(server->port(), &gates);
  std::vector<std::string> direct = transcript(server->port());
  forget_process(direct);
  ASSERT_GT(direct.size(), 3100U);
  for (const int port : {proxy.port(), gating.port()}) {
    std::vector<std::string> through = transcript(port);
    forget_process(through);
    ASSERT_EQ(direct.size(), through.size());
    for (std::size_t i = 0; i < direct.size(); ++i) EXPECT_EQ(direct[i], through[i]) << i;
  }
  gating.stop();
  std::size_t gated = 0;
  for (const auto& [client, txn] : gating.txns()) {
    for (const RecordedStatement& statement : txn.statements) gated += statement.gate != 0 ? 1 : 0;
  }
  EXPECT_EQ(gated, 19U);
  proxy.stop();
  // What was seen of it: every request of the script that ran something.
  std::size_t statements = 0;
  for (const auto& [client, txn] : proxy.txns()) {
    statements += txn.statements.size();
    for (const Gap& gap : txn.gaps) EXPECT_THAT(gap.why, HasSubstr("a procedure may")) << gap.why;
  }
  EXPECT_EQ(statements, 54U);
}

// The server writes no log that could be read, and statements are asked for a column more.
TEST(Proxy, ShowsClientsTheSameBytesWhenItAppends) {
  std::string why_not;
  auto server = PostgresServer::start(why_not, {.settings = {"wal_level=replica"}});
  if (!server) GTEST_SKIP() << why_not;
  run_sql(server->dsn(), kTellingTables);
  auto sql = SqlConnection::open(server->dsn());
  ASSERT_TRUE(sql) << sql.error().what;
  auto appender = Appender::open(*sql);
  ASSERT_TRUE(appender) << appender.error().what;
  Gatekeeper gates(&*appender);
  RunningProxy appending(server->port(), &gates);
  for (const auto& steps : {script(), telling_script()}) {
    run_sql(server->dsn(), "TRUNCATE t; INSERT INTO t VALUES (1,1),(2,2),(3,3)");
    std::vector<std::string> direct = transcript(server->port(), steps);
    run_sql(server->dsn(),
            "TRUNCATE t; INSERT INTO t VALUES (1,1),(2,2),(3,3);"
            "TRUNCATE word, secured; INSERT INTO word VALUES (1, '€', 0)");
    std::vector<std::string> through = transcript(appending.port(), steps);
    forget_process(direct);
    forget_process(through);
    EXPECT_EQ(direct.size(), through.size());
    for (std::size_t i = 0; i < std::min(direct.size(), through.size()); ++i)
      ASSERT_EQ(direct[i].substr(0, 2000), through[i].substr(0, 2000)) << i;
  }
  appending.stop();
  std::size_t told = 0;
  std::size_t rows = 0;
  for (const auto& [client, txn] : appending.txns()) {
    for (const RecordedStatement& statement : txn.statements) {
      told += statement.is_told ? 1 : 0;
      rows += statement.told.size();
    }
  }
  EXPECT_GT(told, 40U);
  EXPECT_GT(rows, 40U);
}

TEST(Proxy, PassesLoginsAndCancelsOfLibpq) {
  std::string why_not;
  PostgresOptions options;
  options.hba =
      "host all scram 127.0.0.1/32 scram-sha-256\n"
      "host all md5 127.0.0.1/32 md5\n"
      "host all clear 127.0.0.1/32 password\n";
  auto server = PostgresServer::start(why_not, options);
  if (!server) GTEST_SKIP() << why_not;
  run_sql(server->dsn(),
          "CREATE ROLE scram LOGIN PASSWORD 'one'; SET password_encryption = 'md5';"
          "CREATE ROLE md5 LOGIN PASSWORD 'two'; CREATE ROLE clear LOGIN PASSWORD 'three'");
  RunningProxy proxy(server->port());
  const std::string base = "host=127.0.0.1 dbname=postgres port=" + std::to_string(proxy.port());
  for (const char* login : {" user=scram password=one", " user=md5 password=two sslmode=prefer",
                            " user=clear password=three gssencmode=prefer"}) {
    PGconn* connection = PQconnectdb((base + login).c_str());
    EXPECT_EQ(PQstatus(connection), CONNECTION_OK) << login << PQerrorMessage(connection);
    PQfinish(connection);
  }
  for (const char* login : {" user=scram password=wrong", " user=nobody_here",
                            " user=md5 password=two sslmode=require"}) {
    PGconn* connection = PQconnectdb((base + login).c_str());
    EXPECT_EQ(PQstatus(connection), CONNECTION_BAD) << login;
    PQfinish(connection);
  }
  PGconn* connection = PQconnectdb((base + " user=postgres").c_str());
  ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  ASSERT_EQ(PQsendQuery(connection, "SELECT pg_sleep(60)"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  PGcancel* cancel = PQgetCancel(connection);
  char error[256] = {};
  EXPECT_EQ(PQcancel(cancel, error, sizeof error), 1) << error;
  PQfreeCancel(cancel);
  PGresult* result = PQgetResult(connection);
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_SQLSTATE), "57014");
  PQclear(result);
  PQfinish(connection);
  proxy.stop();
  EXPECT_EQ(proxy.numbers().cancels, 1U);
  ASSERT_EQ(proxy.txns().size(), 1U);
  EXPECT_EQ(proxy.txns()[0].second.error, "57014");
}

TEST(Proxy, TellsClientsThatTheServerIsGone) {
  RunningProxy proxy(free_port());
  PGconn* connection = PQconnectdb(PostgresServer::dsn(proxy.port()).c_str());
  EXPECT_EQ(PQstatus(connection), CONNECTION_BAD);
  EXPECT_THAT(PQerrorMessage(connection), HasSubstr("isoscope record"));
  PQfinish(connection);
}

TEST(Proxy, OutlivesGarbage) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  if (!server) GTEST_SKIP() << why_not;
  RunningProxy proxy(server->port());
  Rng rng(5);
  for (int round = 0; round < 150; ++round) {
    RawClient client(proxy.port());
    if (rng.below(2) == 0) {
      client.start();
      client.read_until('Z', 1);
    }
    std::string garbage;
    for (std::uint64_t n = rng.below(60); n > 0; --n)
      garbage.push_back(rng.below(3) == 0 ? '\0' : static_cast<char>(rng.below(256)));
    if (rng.below(2) == 0) garbage = "QPBEDC"[rng.below(6)] + std::string("\0\0\0", 3) + garbage;
    client.send(garbage);
  }
  EXPECT_GT(transcript(proxy.port()).size(), 30U);
}

}  // namespace
}  // namespace isoscope::record
