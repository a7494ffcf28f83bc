#include "sql/server/level.h"

#include <algorithm>
#include <cctype>

namespace isoscope::sql::server {

namespace {

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

}  // namespace

std::string_view name_of(ServerKind server) {
  switch (server) {
    case ServerKind::Postgres:
      return "postgres";
    case ServerKind::MariaDb:
      return "mariadb";
  }
  return "";
}

std::optional<PgLevel> find_pg_level(std::string_view name) {
  const std::string plain = plain_name(name);
  if (plain == "pg-rc" || plain == "read-committed" || plain == "read-uncommitted")
    return PgLevel::ReadCommitted;
  if (plain == "pg-rr" || plain == "repeatable-read") return PgLevel::RepeatableRead;
  if (plain == "pg-ser" || plain == "serializable") return PgLevel::Serializable;
  return std::nullopt;
}

std::optional<PgLevel> find_mysql_level(std::string_view name) {
  const std::string plain = plain_name(name);
  if (plain == "mysql-rc" || plain == "read-committed") return PgLevel::ReadCommitted;
  if (plain == "mysql-rr" || plain == "repeatable-read") return PgLevel::RepeatableRead;
  return std::nullopt;
}

std::string_view name_of(ServerKind server, PgLevel level) {
  switch (server) {
    case ServerKind::Postgres:
      return name_of(level);
    case ServerKind::MariaDb:
      return level == PgLevel::ReadCommitted ? "mysql-rc" : "mysql-rr";
  }
  return "";
}

std::string_view name_of(PgLevel level) {
  switch (level) {
    case PgLevel::ReadCommitted:
      return "pg-rc";
    case PgLevel::RepeatableRead:
      return "pg-rr";
    case PgLevel::Serializable:
      return "pg-ser";
  }
  return "";
}

}  // namespace isoscope::sql::server
