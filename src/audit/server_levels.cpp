#include "audit/server_levels.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "spec/levels.h"
#include "sql/changes.h"

namespace isoscope::audit {

namespace {

// Snapshot isolation by another name. Its axioms are those of si, so that mixtures share them.
Level named(std::string name, std::string summary) {
  Level level = *LevelSet::built_in().lookup("si", Framework::VisAr);
  level.name = std::move(name);
  level.summary = std::move(summary);
  return level;
}

// In small letters, blanks and underscores as dashes.
std::string normalized(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return result;
}

// The first SELECT … FOR KEY SHARE, or null.
const sql::Statement* key_share(std::span<const sql::Statement> body) {
  for (const sql::Statement& statement : body) {
    if (statement.lock() == sql::Lock::KeyShare) return &statement;
    for (const auto inner : {statement.body(), statement.otherwise()}) {
      if (const sql::Statement* found = key_share(inner)) return found;
    }
  }
  return nullptr;
}

}  // namespace

// What its calls see is no matter of a text over vis, ar: world.h has it.
const Level& pg_read_committed() {
  static const Level level = [] {
    Level none = named("pg-rc", "READ COMMITTED of PostgreSQL");
    none.axioms.clear();
    return none;
  }();
  return level;
}

const Level& pg_repeatable_read() {
  static const Level level = named("pg-rr", "REPEATABLE READ of PostgreSQL");
  return level;
}

const Level& pg_serializable() {
  static const Level level = named("pg-ser", "SERIALIZABLE of PostgreSQL");
  return level;
}

// Small runs alone are tried there, by the server's semantics: a text would not be asked.
const Level& mysql_read_committed() {
  static const Level level = [] {
    Level none = named("mysql-rc", "READ COMMITTED of InnoDB");
    none.axioms.clear();
    return none;
  }();
  return level;
}

const Level& mysql_repeatable_read() {
  static const Level level = [] {
    Level none = named("mysql-rr", "REPEATABLE READ of InnoDB");
    none.axioms.clear();
    return none;
  }();
  return level;
}

const Level* find_mysql_level(std::string_view name) {
  const std::string word = normalized(name);
  if (word == "mysql-rc" || word == "read-committed") return &mysql_read_committed();
  if (word == "mysql-rr" || word == "repeatable-read") return &mysql_repeatable_read();
  return nullptr;
}

bool is_on_mariadb(const Levels& levels) {
  return levels.base == &mysql_read_committed() || levels.base == &mysql_repeatable_read();
}

const Level* find_server_level(std::string_view name) {
  const std::string word = normalized(name);
  if (word == "pg-rc" || word == "read-committed") return &pg_read_committed();
  if (word == "pg-rr" || word == "repeatable-read") return &pg_repeatable_read();
  if (word == "pg-ser" || word == "serializable") return &pg_serializable();
  return nullptr;
}

bool is_server_level(const Level& level) {
  return &level == &pg_read_committed() || &level == &pg_repeatable_read() ||
         &level == &pg_serializable();
}

CurrentChecks current_checks(const sql::Application& app) {
  const sql::Changes changes(app);
  CurrentChecks checks;
  const auto is_changed = [&](sql::TableId table, const std::vector<std::uint32_t>& columns) {
    return std::ranges::any_of(columns,
                               [&](std::uint32_t c) { return changes.is_updated(table, c); });
  };
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    const sql::TableId table{t};
    const sql::Table& declared = app.tables[t];
    if (changes.has_inserts(table) && changes.frees_keys(table))
      checks.freed_key = "keys of " + declared.name + " are freed and taken again";
    for (const auto& unique : declared.unique) {
      if (changes.frees_entries(table, unique) &&
          (changes.has_inserts(table) || is_changed(table, unique)))
        checks.freed_key = "unique values of " + declared.name + " are freed and taken again";
    }
    for (const sql::ForeignKey& key : declared.foreign_keys) {
      const bool loses_children = changes.has_deletes(table) || is_changed(table, key.columns);
      const bool loses_parents =
          changes.has_deletes(key.target) || is_changed(key.target, key.target_columns);
      if (loses_children && loses_parents)
        checks.freed_reference = "rows of " + app.table(key.target).name +
                                 " go away, and rows of " + declared.name + " that refer to them";
    }
  }
  return checks;
}

bool is_on_server(const Levels& levels) { return is_server_level(*levels.base); }

std::string unmodelled(const sql::Application& app, const Levels& levels) {
  if (!is_on_server(levels)) return "";
  const CurrentChecks checks = current_checks(app);
  if (!checks.freed_reference.empty())
    return "a foreign key looks at what is there at that moment, which is not modelled: " +
           checks.freed_reference;
  for (std::uint32_t f = 0; f < app.functions.size(); ++f) {
    if (&levels.of(f) != &pg_read_committed()) continue;
    if (const sql::Statement* statement = key_share(app.functions[f].body))
      return "line " + std::to_string(statement->place.line) +
             ": FOR KEY SHARE at READ COMMITTED may read the snapshot or what is there, which is "
             "not modelled";
  }
  return "";
}

bool has_read_committed(const Levels& levels, const sql::Application& app) {
  for (std::uint32_t f = 0; f < app.functions.size(); ++f) {
    if (&levels.of(f) == &pg_read_committed()) return true;
  }
  return false;
}

}  // namespace isoscope::audit
