#include "audit/server_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sql/run/changes.h"
#include "sql/server/level.h"
#include "verdict/logic.h"

namespace isoscope::audit {

namespace {

using sql::server::PgLevel;
using sql::server::ServerKind;

// The snapshot levels of PostgreSQL are snapshot isolation by another name. Their axioms are those
// of si, so that mixtures share them. What calls at READ COMMITTED see is no matter of a text over
// vis, ar: world.h has it. On MariaDB small runs alone are tried, by the server's semantics: a text
// would not be asked.
Level made_level(ServerKind server, PgLevel which) {
  Level level = *reference_level(Logic::Si, Framework::VisAr);
  level.name = name_of(server, which);
  level.summary = fmt::format("{} of {}", sql_words_of(which),
                              server == ServerKind::Postgres ? "PostgreSQL" : "InnoDB");
  if (server == ServerKind::MariaDb || which == PgLevel::ReadCommitted) level.axioms.clear();
  return level;
}

bool uses_changed_column(const sql::Query& query, const sql::Expr& expr,
                         const sql::Changes& changes) {
  if (expr.op == sql::ExprOp::Column &&
      (!query.sources.contains(expr.source) ||
       changes.is_updated(query.sources[expr.source], expr.column)))
    return true;
  return std::ranges::any_of(
      expr.args, [&](const sql::Expr& arg) { return uses_changed_column(query, arg, changes); });
}

// What READ COMMITTED does to a query with locks and the model does not; empty if nothing.
std::string unmodelled_lock(const sql::Statement& statement, const sql::Changes& changes) {
  if (statement.lock() == sql::Lock::None) return "";
  const sql::Query& query = *statement.query();
  if (query.lock == sql::Lock::KeyShare)
    return "FOR KEY SHARE at READ COMMITTED may read the snapshot or what is there";
  // Rows are sorted and counted as the snapshot has them, and then read again.
  const bool takes_some =
      query.limit || query.offset ||
      (statement.is<sql::Select>() && !statement.targets().empty() && !query.order_by.empty());
  const bool is_sorted_by_change = std::ranges::any_of(
      query.order_by,
      [&](const sql::OrderBy& order) { return uses_changed_column(query, order.expr, changes); });
  if (takes_some || is_sorted_by_change)
    return "a query that locks at READ COMMITTED sorts and counts its rows before it reads them "
           "again";
  return "";
}

// Of the first statement in which there is such a thing, with its line; empty if there is none.
std::string first_unmodelled_lock(std::span<const sql::Statement> body,
                                  const sql::Changes& changes) {
  for (const sql::Statement& statement : body) {
    if (const std::string why = unmodelled_lock(statement, changes); !why.empty())
      return "line " + std::to_string(statement.place.line) + ": " + why;
    for (const auto inner : {statement.body(), statement.otherwise(), statement.handler()}) {
      if (std::string found = first_unmodelled_lock(inner, changes); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

const Level& pg_read_committed() {
  static const Level level = made_level(ServerKind::Postgres, PgLevel::ReadCommitted);
  return level;
}

const Level& pg_repeatable_read() {
  static const Level level = made_level(ServerKind::Postgres, PgLevel::RepeatableRead);
  return level;
}

const Level& pg_serializable() {
  static const Level level = made_level(ServerKind::Postgres, PgLevel::Serializable);
  return level;
}

const Level& mysql_read_committed() {
  static const Level level = made_level(ServerKind::MariaDb, PgLevel::ReadCommitted);
  return level;
}

const Level& mysql_repeatable_read() {
  static const Level level = made_level(ServerKind::MariaDb, PgLevel::RepeatableRead);
  return level;
}

const Level* find_mysql_level(std::string_view name) {
  const auto level = sql::server::find_mysql_level(name);
  if (!level) return nullptr;
  return level == PgLevel::ReadCommitted ? &mysql_read_committed() : &mysql_repeatable_read();
}

bool is_on_mariadb(const Levels& levels) {
  return levels.base == &mysql_read_committed() || levels.base == &mysql_repeatable_read();
}

const Level* find_server_level(std::string_view name) {
  const auto level = sql::server::find_level(ServerKind::Postgres, name);
  if (!level) return nullptr;
  switch (*level) {
    case PgLevel::ReadCommitted: return &pg_read_committed();
    case PgLevel::RepeatableRead: return &pg_repeatable_read();
    case PgLevel::Serializable: return &pg_serializable();
  }
  return nullptr;
}

bool is_server_level(const Level& level) {
  return &level == &pg_read_committed() || &level == &pg_repeatable_read() ||
         &level == &pg_serializable();
}

CurrentChecks current_checks(const sql::Application& app) {
  const sql::Changes changes(app);
  CurrentChecks checks;
  const auto is_changed = [&](sql::TableId table, const std::vector<sql::ColumnId>& columns) {
    return std::ranges::any_of(columns,
                               [&](sql::ColumnId c) { return changes.is_updated(table, c); });
  };
  for (std::uint32_t t = 0; t < app.tables.size(); ++t) {
    const sql::TableId table{t};
    const sql::Table& declared = app.tables[t];
    if (changes.has_inserts(table) && changes.frees_keys(table) &&
        changes.retakes_entries(table, declared.primary_key))
      checks.freed_key = "keys of " + declared.name + " are freed and taken again";
    for (const auto& unique : declared.unique) {
      if (changes.frees_entries(table, unique) && changes.retakes_entries(table, unique) &&
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

std::string unnoticed(const sql::Application& app) {
  const CurrentChecks checks = current_checks(app);
  const std::string& what = checks.freed_key.empty() ? checks.freed_reference : checks.freed_key;
  return what.empty() ? "" : "SERIALIZABLE may or may not notice some cycles: " + what;
}

bool is_on_server(const Levels& levels) { return is_server_level(*levels.base); }

std::string unmodelled(const sql::Application& app, const Levels& levels) {
  if (!is_on_server(levels)) return "";
  const CurrentChecks checks = current_checks(app);
  if (!checks.freed_reference.empty())
    return "a foreign key looks at what is there at that moment, which is not modelled: " +
           checks.freed_reference;
  const sql::Changes changes(app);
  for (const sql::FunctionId f : app.function_ids()) {
    if (&levels.of(f) != &pg_read_committed()) continue;
    if (const std::string why = first_unmodelled_lock(app.function(f).body, changes); !why.empty())
      return why + ", which is not modelled";
  }
  return "";
}

bool has_read_committed(const Levels& levels, const sql::Application& app) {
  for (const sql::FunctionId f : app.function_ids()) {
    if (&levels.of(f) == &pg_read_committed()) return true;
  }
  return false;
}

}  // namespace isoscope::audit
