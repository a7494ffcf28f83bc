#include "sql/server/level.h"

#include <gtest/gtest.h>

namespace isoscope::sql::server {
namespace {

TEST(ServerLevels, HaveTheNamesThatFindThem) {
  for (const ServerLevel& level : levels_of(ServerKind::Postgres)) {
    EXPECT_EQ(find_pg_level(level.name), level.level);
    EXPECT_EQ(find_pg_level(level.words), level.level);
    EXPECT_EQ(name_of(level.level), level.name);
    EXPECT_EQ(sql_words_of(level.level), level.words);
  }
  for (const ServerLevel& level : levels_of(ServerKind::MariaDb)) {
    EXPECT_EQ(find_mysql_level(level.name), level.level);
    EXPECT_EQ(find_mysql_level(level.words), level.level);
    EXPECT_EQ(name_of(ServerKind::MariaDb, level.level), level.name);
  }
}

TEST(ServerLevels, AreFoundInEverySpelling) {
  for (const char* words : {"repeatable read", "Repeatable Read", "repeatable-read", "PG_RR"})
    EXPECT_EQ(find_pg_level(words), PgLevel::RepeatableRead) << words;
  EXPECT_EQ(find_pg_level("mysql-rr"), std::nullopt);
  EXPECT_EQ(find_mysql_level("serializable"), std::nullopt);
}

TEST(ServerLevels, HaveWordsOfSqlThatNoOtherNameStandsFor) {
  EXPECT_EQ(find_sql_words("Repeatable read"), "REPEATABLE READ");
  EXPECT_EQ(find_sql_words("read uncommitted"), kReadUncommitted);
  for (const char* name : {"pg-rr", "repeatable-read", "snapshot", ""})
    EXPECT_EQ(find_sql_words(name), std::nullopt) << name;
}

TEST(ServerLevels, RunReadUncommittedAsReadCommittedOnPostgresqlOnly) {
  EXPECT_EQ(find_pg_level("READ UNCOMMITTED"), PgLevel::ReadCommitted);
  EXPECT_EQ(find_mysql_level("READ UNCOMMITTED"), std::nullopt);
}

}  // namespace
}  // namespace isoscope::sql::server
