#include "sql/server/level.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "support/spelling.h"

namespace isoscope::sql::server {

namespace {

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

constexpr ServerLevel kPostgres[] = {
    {PgLevel::ReadCommitted, "pg-rc", "READ COMMITTED"},
    {PgLevel::RepeatableRead, "pg-rr", "REPEATABLE READ"},
    {PgLevel::Serializable, "pg-ser", "SERIALIZABLE"},
};
constexpr ServerLevel kMariaDb[] = {
    {PgLevel::ReadCommitted, "mysql-rc", "READ COMMITTED"},
    {PgLevel::RepeatableRead, "mysql-rr", "REPEATABLE READ"},
};

}  // namespace

std::span<const ServerLevel> levels_of(ServerKind server) {
  switch (server) {
    case ServerKind::Postgres: return kPostgres;
    case ServerKind::MariaDb: return kMariaDb;
  }
  return {};
}

std::string level_names(ServerKind server, std::string_view conjunction) {
  const auto levels = levels_of(server);
  std::string names;
  for (const ServerLevel& level : levels) {
    if (&level == &levels.back()) {
      names += fmt::format(" {} ", conjunction);
    } else if (&level != &levels.front()) {
      names += ", ";
    }
    names += level.name;
  }
  return names;
}

std::string pg_level_names(std::string_view conjunction) {
  return level_names(ServerKind::Postgres, conjunction);
}

std::string_view name_of(ServerKind server) {
  switch (server) {
    case ServerKind::Postgres: return "postgres";
    case ServerKind::MariaDb: return "mariadb";
  }
  return "";
}

std::optional<PgLevel> find_level(ServerKind server, std::string_view name) {
  const std::string plain = plain_name(name);
  for (const ServerLevel& known : levels_of(server))
    if (plain == known.name || plain == plain_name(known.words)) return known.level;
  return std::nullopt;
}

std::optional<PgLevel> find_pg_level(std::string_view name) {
  if (plain_name(name) == plain_name(kReadUncommitted)) return PgLevel::ReadCommitted;
  return find_level(ServerKind::Postgres, name);
}

std::optional<PgLevel> find_mysql_level(std::string_view name) {
  return find_level(ServerKind::MariaDb, name);
}

std::string_view name_of(ServerKind server, PgLevel level) {
  const auto levels = levels_of(server);
  // Above the levels that a server has, its strongest one.
  return levels[std::min(static_cast<std::size_t>(level), levels.size() - 1)].name;
}

std::string_view name_of(PgLevel level) { return name_of(ServerKind::Postgres, level); }

std::string_view sql_words_of(PgLevel level) {
  return kPostgres[static_cast<std::size_t>(level)].words;
}

std::optional<std::string_view> find_sql_words(std::string_view words) {
  const std::string lower = lower_case(words);
  if (lower == lower_case(kReadUncommitted)) return kReadUncommitted;
  for (const ServerLevel& known : kPostgres)
    if (lower == lower_case(known.words)) return known.words;
  return std::nullopt;
}

}  // namespace isoscope::sql::server
