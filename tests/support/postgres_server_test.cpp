#include "support/postgres_server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <csignal>
#include <filesystem>

namespace isoscope {
namespace {

TEST(PostgresServer, AnswersAndLeavesNothingBehind) {
  std::string why_not;
  auto server = PostgresServer::start(why_not);
  if (!server) GTEST_SKIP() << why_not;
  PGconn* connection = PQconnectdb(server->dsn().c_str());
  ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  PGresult* result =
      PQexec(connection, "SELECT current_setting('wal_level'), current_setting('data_directory')");
  ASSERT_EQ(PQresultStatus(result), PGRES_TUPLES_OK) << PQerrorMessage(connection);
  EXPECT_STREQ(PQgetvalue(result, 0, 0), "logical");
  const std::string data = PQgetvalue(result, 0, 1);
  PQclear(result);
  PQfinish(connection);
  EXPECT_TRUE(std::filesystem::exists(data));
  const pid_t pid = server->pid();
  const std::string dsn = server->dsn();
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(data).parent_path()));
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_EQ(PQping(dsn.c_str()), PQPING_NO_RESPONSE);
}

}  // namespace
}  // namespace isoscope
