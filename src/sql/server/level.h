#pragma once
// The servers whose semantics programs can have, and their levels by their names.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace isoscope::sql::server {

enum class PgLevel : std::uint8_t { ReadCommitted, RepeatableRead, Serializable };

// MariaDb: InnoDB without innodb_snapshot_isolation. It has the first two levels.
enum class ServerKind : std::uint8_t { Postgres, MariaDb };
std::string_view name_of(ServerKind server);  // "postgres", "mariadb"

// The levels of that server, the weakest first. All that is known of their names is here.
struct ServerLevel {
  PgLevel level = PgLevel::ReadCommitted;
  std::string_view name = {};   // ours: "pg-rc"
  std::string_view words = {};  // of SQL: "READ COMMITTED"
};
std::span<const ServerLevel> levels_of(ServerKind server);

// "pg-rc, pg-rr or pg-ser": all names of that server's levels, for hints.
std::string level_names(ServerKind server, std::string_view conjunction);
std::string pg_level_names(std::string_view conjunction = "or");

// By one of these names: "pg-rc", "READ COMMITTED", "read-committed", …; nothing for other names.
std::optional<PgLevel> find_level(ServerKind server, std::string_view name);

// The same of PostgreSQL, which runs READ UNCOMMITTED as READ COMMITTED.
std::optional<PgLevel> find_pg_level(std::string_view name);
std::string_view name_of(PgLevel level);       // "pg-rc"
std::string_view sql_words_of(PgLevel level);  // "READ COMMITTED"

// SQL has this level, too; no server's semantics of it is modelled.
inline constexpr std::string_view kReadUncommitted = "READ UNCOMMITTED";
// The words of SQL that these are, in letters of any size; nothing if they name no level of SQL.
std::optional<std::string_view> find_sql_words(std::string_view words);

// The same for MariaDB: "mysql-rc", "READ COMMITTED", …. The others of its levels are not modelled.
std::optional<PgLevel> find_mysql_level(std::string_view name);
std::string_view name_of(ServerKind server, PgLevel level);  // "mysql-rc"

}  // namespace isoscope::sql::server
