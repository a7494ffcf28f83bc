#pragma once
// The level of a transaction, read once from the words that the client or the server has for it.
#include <optional>
#include <string>
#include <string_view>

#include "sql/server/level.h"
#include "support/spelling.h"

namespace isoscope::record {

struct Isolation {
  std::string text = {};  // for people: "read uncommitted", as declared, in lower case
  std::optional<sql::server::PgLevel> level = {};  // that PostgreSQL runs; nothing if not known

  static Isolation declared(std::string_view words) {
    return {lower_case(words), sql::server::find_pg_level(words)};
  }
  static Isolation of(sql::server::PgLevel level) {
    return declared(sql::server::sql_words_of(level));
  }
  bool is_told() const { return !text.empty(); }
  // Each statement has a snapshot of its own, and takes the current version of a row that it waited
  // for. READ UNCOMMITTED is that level too.
  bool is_read_committed() const { return level == sql::server::PgLevel::ReadCommitted; }
  friend bool operator==(const Isolation&, const Isolation&) = default;
};

}  // namespace isoscope::record
