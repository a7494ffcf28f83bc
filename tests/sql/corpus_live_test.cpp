// The corpus of the front end is SQL that PostgreSQL takes.
#include <gtest/gtest.h>

#include <filesystem>

#include "force/sessions.h"
#include "sql/read/psql_lines.h"
#include "support/input.h"
#include "support/paths.h"
#include "support/postgres_server.h"

namespace isoscope::sql::server {
namespace {

namespace fs = std::filesystem;

TEST(FrontEndCorpusLive, LoadsIntoAServer) {
  std::string why_not;
  const auto server = PostgresServer::start(why_not, {});
  if (server == nullptr) GTEST_SKIP() << why_not;
  auto monitor = force::PgMonitor::open(server->dsn());
  ASSERT_TRUE(monitor.ok()) << monitor.error().what;
  std::size_t files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(source_dir()) / "tests/corpus/sql-frontend")) {
    if (entry.path().extension() != ".sql") continue;
    SCOPED_TRACE(entry.path().string());
    auto text = read_whole(entry.path().string());
    ASSERT_TRUE(text.ok());
    std::string sql = without_psql_lines(*text);
    // Transactions with parameters are no script for a server.
    if (const std::size_t script = sql.find("-- transaction"); script != std::string::npos)
      sql.resize(script);
    // The rows of COPY come on a line of their own, which a query has none of.
    for (std::size_t copy = sql.find("\nCOPY "); copy != std::string::npos;
         copy = sql.find("\nCOPY "))
      sql.erase(copy, sql.find(';', copy) + 1 - copy);
    const auto made = (*monitor)->query(
        "DROP SCHEMA IF EXISTS store CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public; "
        "SET search_path = public; " +
        sql);
    EXPECT_TRUE(made.ok()) << made.error().what;
    ++files;
  }
  EXPECT_GE(files, 8U);
}

}  // namespace
}  // namespace isoscope::sql::server
