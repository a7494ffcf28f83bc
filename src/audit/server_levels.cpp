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

}  // namespace

const Level& pg_repeatable_read() {
  static const Level level = named("pg-rr", "REPEATABLE READ of PostgreSQL");
  return level;
}

const Level& pg_serializable() {
  static const Level level = named("pg-ser", "SERIALIZABLE of PostgreSQL");
  return level;
}

Result<std::optional<const Level*>> find_server_level(std::string_view name) {
  const std::string word = normalized(name);
  if (word == "pg-rr" || word == "repeatable-read") return std::optional(&pg_repeatable_read());
  if (word == "pg-ser" || word == "serializable") return std::optional(&pg_serializable());
  if (word == "pg-rc" || word == "read-committed") {
    return Error{.what =
                     "audit cannot use pg-rc: READ COMMITTED takes a snapshot for each "
                     "statement, which it does not model",
                 .hint = "pg-rr is REPEATABLE READ, pg-ser SERIALIZABLE"};
  }
  return std::optional<const Level*>();
}

bool is_server_level(const Level& level) {
  return &level == &pg_repeatable_read() || &level == &pg_serializable();
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

}  // namespace isoscope::audit
