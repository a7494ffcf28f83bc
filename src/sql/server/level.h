#pragma once
// The levels of PostgreSQL by their names.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isoscope::sql::server {

enum class PgLevel : std::uint8_t { ReadCommitted, RepeatableRead, Serializable };

// "pg-rc", "READ COMMITTED", "read-committed", …; nothing for other names. PostgreSQL runs READ
// UNCOMMITTED as READ COMMITTED.
std::optional<PgLevel> find_pg_level(std::string_view name);
std::string_view name_of(PgLevel level);  // "pg-rc"

}  // namespace isoscope::sql::server
