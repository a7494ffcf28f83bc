#include "sql/server/level.h"

#include <algorithm>
#include <cctype>

namespace isoscope::sql::server {

std::optional<PgLevel> find_pg_level(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (plain == "pg-rc" || plain == "read-committed" || plain == "read-uncommitted")
    return PgLevel::ReadCommitted;
  if (plain == "pg-rr" || plain == "repeatable-read") return PgLevel::RepeatableRead;
  if (plain == "pg-ser" || plain == "serializable") return PgLevel::Serializable;
  return std::nullopt;
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
